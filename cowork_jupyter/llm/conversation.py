"""Stored messages as the model's API wants them.

Plain text in every protocol: calls as the JSON the model wrote, results as user messages.
Neighbours with the same role become one message, because many chat templates insist on
turns. A message that says nothing is left out: what is noted beside a text, such as the
model's reasoning, is not sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

from ..domain.message_data import TextData, ToolCallData, ToolResultData
from ..domain.messages import ImagePart, Message


def to_api_messages(system: str, history: Iterable[Message]) -> list[dict[str, Any]]:
    """The request's messages: the system prompt, then the turns."""
    turns: list[dict[str, Any]] = [{"role": "system", "content": system}]
    spoken = ((_speaker(one), part) for one in _joined_calls(history) for part in _parts(one))
    for speaker, group in groupby(spoken, key=itemgetter(0)):
        turns.append({"role": speaker, "content": _joined([part for _, part in group])})
    return turns


def _speaker(message: Message | list[Message]) -> str:
    if isinstance(message, list) or message.role == "assistant":
        return "assistant"
    return "user"


def _joined_calls(messages: Iterable[Message]) -> Iterable[Message | list[Message]]:
    """Calls that were made at once, as one."""
    for is_call, group in groupby(messages, key=_is_call):
        if is_call:
            yield list(group)
        else:
            yield from group


def _is_call(message: Message) -> bool:
    return isinstance(message.data, ToolCallData)


def _parts(message: Message | list[Message]) -> list[dict[str, Any]]:
    if isinstance(message, list):
        return [{"type": "text", "text": _calls_as_json(message)}]
    parts = [_image(part) for part in message.content if isinstance(part, ImagePart) and part.data]
    text = _text(message)
    return [*([{"type": "text", "text": text}] if text else []), *parts]


def _calls_as_json(calls: list[Message]) -> str:
    known = (call.data for call in calls)
    written = [
        {"tool": call.tool, "parameters": call.parameters}
        for call in known
        if isinstance(call, ToolCallData)
    ]
    value: Any = written[0] if len(written) == 1 else {"tools": written}
    return json.dumps({**value, "terminate": False}, ensure_ascii=False)


def _text(message: Message) -> str:
    if isinstance(message.data, ToolResultData):
        outcome = "" if message.data.ok else " (failed)"
        tool = message.data.tool or "the tool"
        return f"Result of {tool}{outcome}:\n{message.text or '(nothing)'}"
    if isinstance(message.data, TextData) and (answer := message.data.answer):
        return f"Answer to “{answer.question}”: {message.text}"
    text = message.text or message.data_as_text
    if text and message.role == "system":
        return f"[Note from Cowork, not from the user] {text}"
    return text


def _image(part: ImagePart) -> dict[str, Any]:
    url = f"data:{part.media_type};base64,{part.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _joined(parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Plain text where there is nothing but text: not every server takes a list."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts
