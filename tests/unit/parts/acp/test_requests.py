from __future__ import annotations

import pytest

from cowork_jupyter.domain.replies import Option, Question
from cowork_jupyter.parts.acp.requests import (
    parse_answer,
    parse_form,
    permission_options,
    question_form,
)

COLOURS = [Option(label="Deep red", value="red"), Option(label="Blue", value="blue")]


def test_a_call_that_can_only_be_decided_once_offers_nothing_that_lasts() -> None:
    assert [one.kind for one in permission_options(["once"], [])] == ["allow_once", "reject_once"]


def test_what_lasts_says_what_it_would_write_and_what_lasts_less_comes_first() -> None:
    options = permission_options(["once", "session", "workspace", "global"], ["update_file(=a.py)"])
    lasting = [one for one in options if one.kind == "allow_always"]
    assert [one.option_id for one in lasting] == ["allow:session", "allow:workspace"]
    assert all("update_file(=a.py)" in one.name for one in lasting)


@pytest.mark.parametrize(
    ("said", "custom", "answer"),
    [
        (" 2 ", False, "blue"),
        ("BLUE", False, "blue"),
        ("deep red", False, "red"),
        ("green", False, None),
        ("green", True, "green"),
        ("", True, None),
        ("3", False, None),
    ],
)
def test_answers_are_found_in_words(said: str, custom: bool, answer: str | None) -> None:
    question = Question(question="Which?", options=COLOURS, allow_custom=custom)
    assert parse_answer(said, question) == answer


def test_a_form_takes_own_words_only_where_they_count() -> None:
    strict = Question(question="Which?", options=COLOURS)
    free = Question(question="Which?", options=COLOURS, allow_custom=True)
    assert set(question_form(strict).properties or {}) == {"answer"}
    assert parse_form({"answer": "green"}, strict) is None
    assert parse_form({"answer": "red", "other": "green"}, free) == "green"
    assert parse_form({"answer": "red"}, free) == "red"
    assert parse_form({}, free) is None
