"""Stored messages as the model's API wants them.

Plain text in every protocol: calls as the JSON the model wrote, results as user messages.
Neighbours with the same role become one message, because many chat templates insist on
turns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from ..domain.messages import ImagePart, Message, MessageType


def to_api_messages(system: str, history: Iterable[Message]) -> list[dict[str, Any]]:
    """The request's messages: the system prompt, then the turns."""
    turns: list[dict[str, Any]] = [{"role": "system", "content": system}]
    for speaker, group in groupby(history, key=_speaker):
        parts = [part for message in _joined_calls(group) for part in _parts(message)]
        turns.append({"role": speaker, "content": _joined(parts)})
    return turns


def _speaker(message: Message) -> str:
    return "assistant" if message.role == "assistant" else "user"


def _joined_calls(messages: Iterable[Message]) -> Iterable[Message | list[Message]]:
    """Calls that were made at once, as one."""
    for is_call, group in groupby(messages, key=_is_call):
        if is_call:
            yield list(group)
        else:
            yield from group


def _is_call(message: Message) -> bool:
    return message.message_type is MessageType.TOOL_CALL


def _parts(message: Message | list[Message]) -> list[dict[str, Any]]:
    if isinstance(message, list):
        return [{"type": "text", "text": _calls_as_json(message)}]
    parts = [_image(part) for part in message.content if isinstance(part, ImagePart)]
    text = _text(message)
    return [*([{"type": "text", "text": text}] if text else []), *parts]


def _calls_as_json(calls: list[Message]) -> str:
    written = [
        {"tool": call.data.get("tool"), "parameters": call.data.get("parameters", {})}
        for call in calls
    ]
    value: Any = written[0] if len(written) == 1 else {"tools": written}
    return json.dumps({**value, "terminate": False}, ensure_ascii=False)


def _text(message: Message) -> str:
    text = message.text
    if not text and message.data:
        text = json.dumps(message.data, ensure_ascii=False, default=str)
    if message.message_type is MessageType.TOOL_RESULT:
        outcome = "" if message.data.get("ok", True) else " (failed)"
        return f"Result of {message.data.get('tool', 'the tool')}{outcome}:\n{text}"
    if message.role == "system":
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
