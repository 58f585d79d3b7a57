"""How much one run may use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...domain.replies import Option, Question
from ...domain.settings import Settings

GO_ON, STOP = "go_on", "stop"

MAX_REPLY_TOKENS = 100_000
"""Of one reply that are progress; beyond them its time counts, because it may never end."""

_PAUSE = 5.0
"""Seconds between two pieces of a reply that still are writing; longer ones are waiting."""


class LimitReached(Exception):
    """A limit was hit; its words name it."""


def about_going_on(why: str) -> Question:
    """Something is used up; the user decides whether there is more of it."""
    return Question(
        question=f"{why} Continue?",
        severity="major",
        options=[Option(label="Continue", value=GO_ON), Option(label="Stop", value=STOP)],
        default=STOP,
    )


def about_reset(why: str) -> Question:
    """Something is used up, and only time brings more of it."""
    return Question(
        question=f"{why} The job goes on by itself then. Stop it?",
        severity="major",
        options=[Option(label="Try again now", value=GO_ON), Option(label="Stop", value=STOP)],
        default=STOP,
    )


class RunLimits:
    """Counts model turns, seconds and tokens of one message or task.

    Time that the run spends waiting for the user, or for work that is counted elsewhere,
    does not count; nor does time in which the model writes, however slowly.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._began = clock()
        self._waits = 0
        self._wait_began = 0.0
        self._reported_seconds = 0.0
        self._last_piece: float | None = None
        self.extend()

    def extend(self) -> None:
        """Start to count anew: at first, and when the user said to go on."""
        self.turns = 0
        self.tokens = 0
        self._counted_from = self._worked

    @property
    def _worked(self) -> float:
        """Seconds from the beginning of the run to now, waits left out."""
        return (self._wait_began if self._waits else self._clock()) - self._began

    @property
    def seconds(self) -> float:
        return self._worked - self._counted_from

    @property
    def turns_left(self) -> int:
        return max(0, self._settings.max_iterations - self.turns)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._settings.max_seconds - self.seconds)

    def lap(self) -> float:
        """Seconds of work since this was asked last, for the job's account."""
        news = round(self._worked - self._reported_seconds, 3)
        self._reported_seconds += news
        return news

    def check(self) -> None:
        """Raise `LimitReached` if another turn would be too much."""
        settings = self._settings
        if self.turns >= settings.max_iterations:
            raise LimitReached(f"{settings.max_iterations} model turns (max_iterations)")
        self._check_amounts(self.tokens)

    def begin_reply(self) -> None:
        """A reply is asked for: until its first piece comes, that is waiting."""
        self._last_piece = None

    def progressed(self, written: int, most: int | None = None) -> float:
        """A piece of a reply came, which makes so many tokens by now; when that was.

        Raises `LimitReached` in the middle of the turn: a model can write for ever.
        """
        now, before = self._clock(), self._last_piece
        if before is not None and now - before <= _PAUSE and written < MAX_REPLY_TOKENS:
            self._counted_from += now - before
        self._last_piece = now
        if most is not None and written >= most:
            raise LimitReached(f"{most} tokens in one reply")
        self._check_amounts(self.tokens + written)
        return now

    def check_seconds(self) -> None:
        """Raise `LimitReached` if it takes too long already."""
        limit = self._settings.max_seconds
        if self.seconds >= limit:
            raise LimitReached(f"{limit:g} seconds (max_seconds)")

    def _check_amounts(self, tokens: int) -> None:
        settings = self._settings
        self.check_seconds()
        if 0 < settings.max_tokens <= tokens:
            raise LimitReached(f"{settings.max_tokens} tokens (max_tokens)")

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Leave the time spent inside out of the account. Waits may overlap."""
        if not self._waits:
            self._wait_began = self._clock()
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits:
                self._began += self._clock() - self._wait_began
