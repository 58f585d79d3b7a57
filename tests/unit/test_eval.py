"""The questions of `make eval`: enough of them, and each knows its own answer."""

from __future__ import annotations

import pytest

from tests.eval.asking import code_in
from tests.eval.questions import QUESTIONS, UNKNOWN, Question
from tests.eval.tables import make_tables

TABLES = make_tables()


def test_there_are_enough_of_them_in_both_halves() -> None:
    assert len({one.id for one in QUESTIONS}) == len(QUESTIONS) >= 60
    assert len([one for one in QUESTIONS if one.half == "tune"]) == pytest.approx(30, abs=3)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.id)
def test_the_right_answer_counts_in_its_form_only(question: Question) -> None:
    truth = question.truth(TABLES)
    value = truth if isinstance(truth, str) else f"{truth:.{question.decimals or 0}f}"
    assert question.is_right(f"So it is @{question.name}[{value}].", TABLES)
    assert question.is_right(f"@{question.name}[0] no: @{question.name}[ {value} ]", TABLES)
    assert not question.is_right(f"It is {value}.", TABLES)
    other = "another" if isinstance(truth, str) else f"{truth + 5:.2f}"
    assert not question.is_right(f"@{question.name}[{other}]", TABLES)
    assert (value == UNKNOWN) == question.id.startswith("no-")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("Let me see:\n```python\nprint(1)\n```\nThat is it.", "print(1)\n"),
        ("```\nprint(2)", "print(2)"),
        ("It is 3.", None),
    ],
)
def test_code_is_the_first_fenced_block(reply: str, code: str | None) -> None:
    assert code_in(reply) == code
