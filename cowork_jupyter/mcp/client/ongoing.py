"""A call in progress: its time limit, its progress, and its questions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar

from ...domain.redaction import Mask
from ...domain.replies import Question
from ...policy.visible import visible
from ...tools.base import ToolContext

MAX_SECONDS = 3_600.0
"""However often a server reports progress."""
PROGRESS_PAUSE = 0.25
MAX_QUESTIONS = 40
"""Per call."""

current: ContextVar[Ongoing | None] = ContextVar("current", default=None)
"""The call that the current task serves, where known."""


class Ongoing:
    def __init__(self, context: ToolContext, seconds: float, mask: Mask) -> None:
        self._context = context
        self._seconds = seconds
        self._mask = mask
        self._asking: set[asyncio.Future[str | None]] = set()
        self._asked = 0
        self._clock: Callable[[], float] = asyncio.get_running_loop().time
        self._last = self._clock() + MAX_SECONDS
        self._reported_at = float("-inf")
        self._deadline: asyncio.Timeout | None = None

    @asynccontextmanager
    async def bounded(self) -> AsyncIterator[None]:
        """Raises TimeoutError if there was no sign of life for too long. Cancels the call's open
        questions at the end.
        """
        token = current.set(self)
        try:
            async with asyncio.timeout(self._seconds) as self._deadline:
                yield
        finally:
            self._deadline = None
            current.reset(token)
            for question in self._asking:
                question.cancel()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """A sign of life; displayed unless the last one was just now."""
        self._extend()
        done = total is not None and progress >= total
        if done or self._clock() - self._reported_at >= PROGRESS_PAUSE:
            self._reported_at = self._clock()
            share = f"{progress:g}/{total:g}" if total else f"{progress:g}"
            said = visible(self._mask(" ".join((message or "").split())))[:300]
            self._context.output(f"{share} {said}".rstrip() + "\n")

    async def ask(self, question: Question) -> str | None:
        """Let the user answer, with the clock stopped. None if nobody does."""
        self._asked += 1
        if self._asked > MAX_QUESTIONS:
            return None
        masked = Question.model_validate(self._mask.everywhere(question.model_dump()))
        asking = asyncio.ensure_future(self._context.ask(masked))
        self._asking.add(asking)
        self._pause()
        try:
            return await asking
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if asking.cancelled() and task and not task.cancelling():
                return None  # the call has ended, so nobody wants to know any more
            asking.cancel()
            raise
        finally:
            self._asking.discard(asking)
            if not self._asking:
                self._extend()

    def _pause(self) -> None:
        if self._deadline:
            self._deadline.reschedule(None)

    def _extend(self) -> None:
        if self._deadline and not self._asking:
            self._deadline.reschedule(min(self._clock() + self._seconds, self._last))
