"""Usage of models: estimated, priced, and counted per day against an administrator's limits.

The account of a day is a small file of its own: usage stored with conversations is deleted with
them, and nobody should gain budget that way. Days are UTC. It is kept only where a limit is set.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ...domain.contexts import Usage
from ...domain.errors import Forbidden, Unavailable
from ...domain.settings import Settings
from ...llm.chunks import Chunk, ModelRequest, ReasoningChunk, TextChunk, ToolCallChunk, UsageChunk
from ...llm.history import IMAGE_TOKENS
from ...llm.tokens import TokenCounter
from ...policy.settings_file import WHO, Administrator

_MILLION = 1_000_000
_TABLE = "CREATE TABLE IF NOT EXISTS days (day TEXT PRIMARY KEY, tokens INTEGER, money REAL)"
_ADD = (
    "INSERT INTO days VALUES (?, ?, ?) ON CONFLICT (day) DO UPDATE "
    "SET tokens = tokens + excluded.tokens, money = money + excluded.money"
)
_LOCK_SECONDS = 5.0


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


def with_cost(spent: Usage, model: str, settings: Settings) -> Usage:
    price = settings.prices.get(model)
    if price is None:
        return spent
    cost = spent.prompt_tokens * price.input + spent.completion_tokens * price.output
    price_fields = {"cost": round(cost / _MILLION, 9), "currency": settings.currency}
    return spent.model_copy(update=price_fields)


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class DayLimitReached:
    size: float
    unit: str
    resets_at: datetime

    def __str__(self) -> str:
        return (
            f"{WHO}'s limit of {self.size:,.10g} {self.unit} per day is reached. "
            f"It resets on {self.resets_at:%Y-%m-%d at %H:%M} UTC."
        )

    def refusal(self) -> Forbidden:
        details = {"resets_at": self.resets_at.isoformat()}
        return Forbidden(str(self), code="day_limit", details=details)


class DayAccount:
    """The account of the user whose process this is; several processes may share the file."""

    def __init__(
        self,
        path: Path,
        administrator: Administrator,
        settings: Settings,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._path = path
        self._administrator = administrator
        self._settings = settings
        self.clock = clock
        self._unstored: list[tuple[str, int, float]] = []

    @property
    def is_limited(self) -> bool:
        return bool(self._administrator.limits)

    def add(self, spent: Usage, model: str) -> None:
        """Charge usage. What cannot be stored now is stored with the next charge."""
        cost = with_cost(spent, model, self._settings).cost or 0.0
        self._unstored.append((self._today, spent.total_tokens, cost))
        try:
            self._store()
        except (OSError, sqlite3.Error) as error:
            logger.warning("What was used today cannot be stored in %s: %s", self._path, error)

    def check(self) -> None:
        if limit := self.reached():
            raise limit.refusal()

    def reached(self) -> DayLimitReached | None:
        limits = self._administrator.limits
        if not limits:
            return None
        tokens, money = self._spent_today()
        resets_at = self.clock().replace(hour=0, minute=0, second=0, microsecond=0)
        resets_at += timedelta(days=1)
        if 0 < limits.tokens_per_day <= tokens:
            return DayLimitReached(limits.tokens_per_day, "tokens", resets_at)
        if 0 < limits.money_per_day <= money:
            return DayLimitReached(limits.money_per_day, self._settings.currency, resets_at)
        return None

    def seconds_until(self, reset: datetime) -> float:
        return max(0.0, (reset - self.clock()).total_seconds())

    @property
    def _today(self) -> str:
        return f"{self.clock():%Y-%m-%d}"

    def _store(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._path, timeout=_LOCK_SECONDS)) as file:
            with file:
                file.execute(_TABLE)
                file.executemany(_ADD, self._unstored)
            self._unstored.clear()

    def _spent_today(self) -> tuple[int, float]:
        """Raises Unavailable if it cannot be read: a limit that cannot be checked must hold."""
        waiting = [charge for charge in self._unstored if charge[0] == self._today]
        tokens, money = sum(charge[1] for charge in waiting), sum(charge[2] for charge in waiting)
        if not self._path.exists():
            return tokens, money
        try:
            with closing(sqlite3.connect(self._path, timeout=_LOCK_SECONDS)) as file:
                file.execute(_TABLE)
                wanted = "SELECT tokens, money FROM days WHERE day = ?"
                stored = file.execute(wanted, (self._today,)).fetchone()
        except sqlite3.Error as error:
            why = f"What you have used today cannot be read from {self._path}: {error}."
            raise Unavailable(why, code="day_account_broken") from None
        return (tokens + stored[0], money + stored[1]) if stored else (tokens, money)


async def meter(
    chunks: AsyncGenerator[Chunk, None],
    request: ModelRequest,
    count: TokenCounter,
    charge: Callable[[Usage], None],
) -> AsyncGenerator[Chunk, None]:
    """Pass a reply through and charge its usage, however it ends.

    A reply that is cut short, as most are, lacks the server's count, so it is estimated.
    """
    reported_usage, written = Usage(), 0
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                match chunk:
                    case UsageChunk(usage):
                        reported_usage = usage
                    case TextChunk(text) | ReasoningChunk(text):
                        written += count(text)
                    case ToolCallChunk(arguments=arguments):
                        written += count(arguments)
                yield chunk
    finally:
        spent = reported_usage
        if written and not spent.total_tokens:  # a server that is not there charges nothing
            spent = estimate_usage(request.messages, written, count)
        await asyncio.to_thread(charge, spent)
