"""Text and pictures of a message in the form of the model's API."""

from __future__ import annotations

from typing import Any


def words_of(message: dict[str, Any]) -> str:
    content = message["content"] or ""
    if isinstance(content, str):
        calls = [call["function"]["arguments"] for call in message.get("tool_calls", [])]
        return "\n".join([content, *calls])
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")


def pictures_in(message: dict[str, Any]) -> int:
    content = message["content"] or ""
    return 0 if isinstance(content, str) else sum(part["type"] != "text" for part in content)
