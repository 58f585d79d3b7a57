"""Limits of one run, and the detection of loops."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...domain.replies import Option, Question, ToolCall
from ...domain.settings import Settings

GO_ON, STOP = "go_on", "stop"

MAX_REPLY_TOKENS = 100_000
"""Beyond so many tokens in one reply, its time counts too, because it may never end."""

_MAX_WRITING_PAUSE = 5.0
"""Seconds between two pieces of a reply that still count as writing; longer pauses are waiting."""

_REMEMBERED_TURNS = 4
_SAME_ERRORS = 3
_NO_CALL = ""


class LimitReached(Exception):
    stopped = False
    """Whether the user was asked, and ended the run there."""


def go_on_question(why: str) -> Question:
    return Question(
        question=f"{why} Continue?",
        severity="major",
        options=[Option(label="Continue", value=GO_ON), Option(label="Stop", value=STOP)],
        default=STOP,
    )


def reset_question(why: str) -> Question:
    """Like `go_on_question`, for limits that only time resets."""
    return Question(
        question=f"{why} The job then continues by itself. Stop it?",
        severity="major",
        options=[Option(label="Try again now", value=GO_ON), Option(label="Stop", value=STOP)],
        default=STOP,
    )


class RunLimits:
    """Counts model turns, seconds and tokens of one message or task.

    Not counted is time spent waiting for the user or for work counted elsewhere, nor time in which
    the model writes, however slowly.
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
        """Start counting anew: at first, and when the user said to go on."""
        self.turns = 0
        self.tokens = 0
        self._counted_from = self._worked

    @property
    def _worked(self) -> float:
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
        """Seconds of work since the last call, for the job's account."""
        news = round(self._worked - self._reported_seconds, 3)
        self._reported_seconds += news
        return news

    def check(self) -> None:
        """Raise LimitReached if another turn would be too much."""
        settings = self._settings
        if self.turns >= settings.max_iterations:
            raise LimitReached(f"{settings.max_iterations} model turns (max_iterations)")
        self._check_amounts(self.tokens)

    def begin_reply(self) -> None:
        """Until the first piece comes, a reply counts as waiting."""
        self._last_piece = None

    def add_progress(self, written: int, most: int | None = None) -> float:
        """Account for a piece of a reply, which has `written` tokens by now; returns its time.

        Raises LimitReached in the middle of a turn: a model can write for ever.
        """
        now, before = self._clock(), self._last_piece
        if before is not None and now - before <= _MAX_WRITING_PAUSE and written < MAX_REPLY_TOKENS:
            self._counted_from += now - before
        self._last_piece = now
        if most is not None and written >= most:
            raise LimitReached(f"{most} tokens in one reply")
        self._check_amounts(self.tokens + written)
        return now

    def check_seconds(self) -> None:
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


class LoopDetector:
    def __init__(self) -> None:
        self._turns: list[str] = []
        self._errors: list[str] = []

    def observe(self, calls: Sequence[ToolCall], error: str = "") -> str | None:
        self._turns = [*self._turns, _signature(calls)][-_REMEMBERED_TURNS:]
        self._errors = [*self._errors, error][-_SAME_ERRORS:]
        loop = find_loop(self._turns) or _same_error(self._errors)
        if loop:
            self._turns.clear()
            self._errors.clear()
        return loop


def _same_error(errors: Sequence[str]) -> str | None:
    """A model that writes different code each time, all failing alike, is stuck as well."""
    if len(errors) == _SAME_ERRORS and errors[0] and len(set(errors)) == 1:
        return f"the same error three times, {errors[0].rstrip('.')}"
    return None


def find_loop(turns: Sequence[str]) -> str | None:
    """Detect AAA, ABAB, or three turns without any call."""
    if len(turns) >= 3 and len(set(turns[-3:])) == 1:
        monologue = turns[-1] == _NO_CALL
        return "three replies without a call" if monologue else "the same call three times"
    if len(turns) >= 4 and tuple(turns[-4:-2]) == tuple(turns[-2:]) and _NO_CALL not in turns[-2:]:
        return "the same two calls in turn"
    return None


def _signature(calls: Sequence[ToolCall]) -> str:
    if not calls:
        return _NO_CALL
    return json.dumps([(call.tool, call.parameters) for call in calls], sort_keys=True, default=str)
