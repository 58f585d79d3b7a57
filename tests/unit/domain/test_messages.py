"""Messages, also those from before types and roles existed."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.messages import Message, MessageType


@pytest.mark.parametrize("stored", [{}, {"message_type": None}, {"message_type": "normal"}])
def test_a_message_without_a_type_is_text(stored: dict[str, Any]) -> None:
    message = Message.model_validate({"context_id": "c", "role": "user", **stored})
    assert message.message_type is MessageType.TEXT


def test_plain_text_becomes_one_part() -> None:
    message = Message(context_id="c", role="user", content="hello")  # type: ignore[arg-type]
    assert message.model_dump(mode="json")["content"] == [{"type": "text", "text": "hello"}]
    assert message.text == "hello"


def test_a_picture_keeps_what_it_came_with() -> None:
    picture = {"type": "image", "media_type": "image/jpeg", "data": "aGk=", "detail": "low"}
    message = Message.model_validate({"context_id": "c", "role": "user", "content": [picture]})
    assert message.model_dump(mode="json")["content"] == [picture]
    assert message.text == ""


def test_every_type_of_the_contract_exists() -> None:
    assert {str(one) for one in MessageType} == {
        *("text", "plan", "question", "review", "tool_call", "tool_result"),
        *("task_assignment", "task_result", "role_change", "error"),
    }
