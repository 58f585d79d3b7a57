"""The arguments of a server's prompt, as people write them."""

from __future__ import annotations

import pytest

from cowork_jupyter.agents.mentions.commands import (
    SendPrompt,
    is_callable,
    parse_prompt_call,
    prompt_arguments,
)
from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.mcp.client.offers import Prompt, PromptArgument

REVIEW = Prompt(
    name="review",
    arguments=[
        PromptArgument(name="title", required=True),
        PromptArgument(name="kind"),
        PromptArgument(name="words"),
    ],
)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["title=Emma"], {"title": "Emma"}),
        (["Emma", "short"], {"title": "Emma", "kind": "short"}),
        (["kind=short", "Emma", "100"], {"kind": "short", "title": "Emma", "words": "100"}),
        (["https://x.org/?a=1"], {"title": "https://x.org/?a=1"}),
        (["title=a=b"], {"title": "a=b"}),
    ],
)
def test_by_name_or_in_their_order(words: list[str], values: dict[str, str]) -> None:
    assert prompt_arguments(REVIEW, words, "lib:review") == values


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "/lib:review needs title."),
        (["kind=short"], "/lib:review needs title."),
        (["name=Emma"], "/lib:review has no argument 'name'."),
        (["a", "b", "c", "d"], "/lib:review does not take 'd'."),
    ],
)
def test_what_is_wrong_is_said_with_how_to_write_it(words: list[str], why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        prompt_arguments(REVIEW, words, "lib:review")
    how = 'Write it as: /lib:review title="…" [kind="…"] [words="…"]'
    assert caught.value.message == f"{why} {how}"
    assert caught.value.code == "bad_parameters"


def test_where_there_is_no_other_command() -> None:
    called = SendPrompt("lib", "review", ("a b", "kind=short"))
    assert parse_prompt_call("/lib:review 'a b' kind=short", ["lib"]) == called
    assert parse_prompt_call("/lib:review a", ["other"]) is None
    assert parse_prompt_call("see /lib:review", ["lib"]) is None
    assert parse_prompt_call("/lib review", ["lib"]) is None


def test_only_names_that_can_be_typed_are_offered() -> None:
    assert is_callable("lib:review")
    assert not is_callable("lib:re view")
    assert not is_callable("my lib:review")
