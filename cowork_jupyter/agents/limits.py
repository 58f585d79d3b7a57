"""How much one run may use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..domain.settings import Settings


class LimitReached(Exception):
    """A limit was hit; its words name it."""


class Limits:
    """Counts model turns, seconds and tokens of one message or task.

    Time that the run spends waiting for the user does not count.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self.extend()

    def extend(self) -> None:
        """Start to count anew: at first, and when the user said to go on."""
        self.turns = 0
        self.tokens = 0
        self._began = self._clock()

    @property
    def seconds(self) -> float:
        """Seconds spent, waits for the user left out."""
        return self._clock() - self._began

    @property
    def counts_tokens(self) -> bool:
        """Whether tokens are limited at all."""
        return self._settings.max_tokens > 0

    def check(self) -> None:
        """Raise `LimitReached` if another turn would be too much."""
        settings = self._settings
        if self.turns >= settings.max_iterations:
            raise LimitReached(f"{settings.max_iterations} model turns (max_iterations)")
        self.check_seconds()
        if self.counts_tokens and self.tokens >= settings.max_tokens:
            raise LimitReached(f"{settings.max_tokens} tokens (max_tokens)")

    def check_seconds(self) -> None:
        """The same in the middle of a turn: a model can write for ever."""
        limit = self._settings.max_seconds
        if self.seconds >= limit:
            raise LimitReached(f"{limit:g} seconds (max_seconds)")

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Leave the time spent inside out of the account."""
        began = self._clock()
        try:
            yield
        finally:
            self._began += self._clock() - began
