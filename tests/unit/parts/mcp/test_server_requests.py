"""What a server asks, as question cards."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import ElicitRequestFormParams, ElicitRequestURLParams

from cowork_jupyter.domain.replies import Question
from cowork_jupyter.parts.mcp.server_requests import elicit

pytestmark = pytest.mark.asyncio


class User:
    """Answers in turn, and remembers what was asked."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> str | None:
        self.asked.append(question)
        answer = self.answers.pop(0)
        assert answer is None or question.accepts(answer)
        return answer


def form(properties: dict[str, Any], *required: str) -> ElicitRequestFormParams:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ElicitRequestFormParams(message="Please\u202e say", requested_schema=schema)


async def test_each_field_is_a_card_that_says_who_asks() -> None:
    fields = {
        "name": {"type": "string", "title": "Your name", "description": "As others call you"},
        "age": {"type": "integer", "minimum": 0},
        "sure": {"type": "boolean"},
        "pet": {"type": "string", "enum": ["cat", "dog"], "enumNames": ["A cat", "A dog"]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
    }
    user = User("Ada", "36", "true", "dog", "x, y")
    answer = await elicit("odd", form(fields, *fields), user.ask)
    assert answer.action == "accept"
    assert answer.content == {
        "name": "Ada",
        "age": 36,
        "sure": True,
        "pet": "dog",
        "tags": ["x", "y"],
    }
    assert user.asked[0].question == "The MCP server 'odd' asks: Please⟨U+202E⟩ say\nYour name"
    assert user.asked[0].context == "As others call you"
    assert [one.label for one in user.asked[3].options] == ["A cat", "A dog", "Decline"]


async def test_what_does_not_fit_is_asked_again() -> None:
    user = User("many", "-1", "2.5", "3")
    fields = {"n": {"type": "integer", "minimum": 0}}
    answer = await elicit("odd", form(fields, "n"), user.ask)
    assert answer.content == {"n": 3}
    assert "it should be at least 0" in user.asked[2].context


async def test_what_need_not_be_said_can_be_left_out() -> None:
    user = User("skip", "Ada")
    fields = {"title": {"type": "string"}, "name": {"type": "string"}}
    answer = await elicit("odd", form(fields, "name"), user.ask)
    assert answer.content == {"name": "Ada"}


@pytest.mark.parametrize("said", ["decline", None])
async def test_who_does_not_answer_declines(said: str | None) -> None:
    user = User(said)
    answer = await elicit("odd", form({"a": {}, "b": {}}, "a", "b"), user.ask)
    assert (answer.action, answer.content) == ("decline", None)
    assert len(user.asked) == 1


async def test_a_form_without_end_is_declined_unasked() -> None:
    answer = await elicit("odd", form({f"f{n}": {} for n in range(100)}), User().ask)
    assert answer.action == "decline"


async def test_an_address_is_shown_and_never_opened() -> None:
    params = ElicitRequestURLParams(message="Log in", url="https://x/login", elicitation_id="1")
    user = User("done")
    assert (await elicit("odd", params, user.ask)).action == "accept"
    assert "https://x/login" in user.asked[0].context
    assert (await elicit("odd", params, User("decline").ask)).action == "decline"
