"""How long to ride out a server's trouble, and how long to wait between two attempts."""

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

    patience: float = 120.0
    """For one request whose attempts fail, waits and stalls together."""
    first_contact: float = 4.0
    """The same where nobody has ever answered: the address may be wrong."""
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
        """Seconds to wait after this attempt failed: what the server says, else our own guess.

        A server that fails again sooner than it said is not believed to the letter.
        """
        # Jitter keeps parallel tasks from coming back all at once.
        grown = min(self.backoff * 2.0 ** (attempt - 1), self.longest) * (0.5 + self.random() / 2)
        if retry_after is None:
            return grown
        return min(max(retry_after, 0.0 if attempt == 1 else grown), self.longest)

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
