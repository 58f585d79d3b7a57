"""How often to try, and how long to wait in between."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime


@dataclass(frozen=True)
class RetryPolicy:
    """The patience of one model: limits in seconds, and the clock they run by."""

    attempts: int = 4
    connect: float = 10.0
    """For reaching the server."""
    first: float = 180.0
    """For the first piece of an answer; a small machine reads a long prompt slowly."""
    idle: float = 60.0
    """Between two pieces."""
    backoff: float = 0.5
    """Before the second try; doubles with each one, up to `longest`."""
    longest: float = 60.0
    """The longest wait, whatever the server asks for."""
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    clock: Callable[[], float] = time.time
    random: Callable[[], float] = random.random

    def delay(self, attempt: int, retry_after: float | None) -> float:
        """Seconds to wait after this attempt failed: what the server says, else our own guess."""
        if retry_after is not None:
            return min(max(retry_after, 0.0), self.longest)
        # Jitter keeps parallel tasks from coming back all at once.
        return min(self.backoff * 2.0 ** (attempt - 1), self.longest) * (0.5 + self.random() / 2)

    def retry_after(self, headers: Mapping[str, str]) -> float | None:
        """What the server's headers ask for, in seconds or as a date."""
        milliseconds = _number(headers.get("retry-after-ms", ""))
        if milliseconds is not None:
            return milliseconds / 1000
        value = headers.get("retry-after", "")
        seconds = _number(value)
        return seconds if seconds is not None else self._until(value)

    def _until(self, date: str) -> float | None:
        try:
            return parsedate_to_datetime(date).timestamp() - self.clock()
        except (ValueError, OverflowError):
            return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
