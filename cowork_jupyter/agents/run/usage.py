"""Usage of a model, estimated and priced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...domain.contexts import Usage
from ...domain.settings import Settings
from ...llm.history import IMAGE_TOKENS
from ...llm.tokens import TokenCounter


def message_text(message: dict[str, Any]) -> str:
    content = message["content"] or ""
    if isinstance(content, str):
        calls = [call["function"]["arguments"] for call in message.get("tool_calls", [])]
        return "\n".join([content, *calls])
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")


def count_pictures(message: dict[str, Any]) -> int:
    content = message["content"] or ""
    return 0 if isinstance(content, str) else sum(part["type"] != "text" for part in content)


def estimate_usage(messages: Sequence[dict[str, Any]], written: int, count: TokenCounter) -> Usage:
    """For servers that do not report usage, and replies that were cut short."""
    sent = sum(
        count(message_text(message)) + count_pictures(message) * IMAGE_TOKENS
        for message in messages
    )
    return Usage(
        prompt_tokens=sent, completion_tokens=written, total_tokens=sent + written, estimated=True
    )


_MILLION = 1_000_000


def with_cost(spent: Usage, model: str, settings: Settings) -> Usage:
    price = settings.prices.get(model)
    if price is None:
        return spent
    cost = spent.prompt_tokens * price.input + spent.completion_tokens * price.output
    known = {"cost": round(cost / _MILLION, 9), "currency": settings.currency}
    return spent.model_copy(update=known)
