"""Detects that running code makes no progress: no output, and no CPU time.

There is no time limit for code that makes progress. When it stalls, somebody is asked whether to
keep waiting; until they answer, it may well move again by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ...domain.errors import Unavailable

Ask = Callable[[float], Awaitable[bool]]
"""Gets the seconds without progress; returns whether to keep waiting."""

PATIENCE = 120.0
_LOOKS = 10
"""CPU samples per patience."""
IDLE = 0.02
"""CPU share of an idle kernel."""


class StallDetector:
    """Watches one run. `look` is called often, and says when to interrupt it."""

    def __init__(
        self,
        pid: int | None,
        ask: Ask,
        patience: float = PATIENCE,
        *,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[int], float | None] | None = None,
    ) -> None:
        """Without a local process there is no way to know, and nobody is asked."""
        self._pid = pid
        self._ask = ask
        self._patience = patience
        self._clock = clock
        self._used = used or processor_seconds
        self._moved_at = self._looked_at = clock()
        self._worked: float | None = None
        self._asking: asyncio.Task[bool] | None = None
        self.interrupted_after: float | None = None
        """Seconds of silence after which it was interrupted."""

    def note_progress(self) -> None:
        """Output came: withdraws an open question."""
        self._moved_at = self._clock()
        self.close()

    async def look(self) -> bool:
        """Whether to interrupt the code now."""
        if self._asking is not None and self._asking.done():
            return self._take_answer(self._asking)
        if self._pid is None or self._patience <= 0:
            return False
        now = self._clock()
        if now - self._looked_at >= self._patience / _LOOKS:
            await self._look_at_processor(self._pid, now)
        quiet = now - self._moved_at
        if quiet >= self._patience and self._asking is None and self._worked is not None:
            if self.interrupted_after is not None:
                raise Unavailable(
                    "The code does not respond to an interrupt, produces no output and uses no "
                    "CPU. Only the user can restart its kernel.",
                    code="kernel_stuck",
                    retryable=False,
                )
            self._asking = asyncio.ensure_future(self._ask(quiet))
        return False

    def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _take_answer(self, answer: asyncio.Task[bool]) -> bool:
        quiet = self._clock() - self._moved_at
        self._asking, self._moved_at = None, self._clock()
        if answer.result():
            self._patience *= 2  # do not ask again so soon
            return False
        self.interrupted_after = quiet
        return True

    async def _look_at_processor(self, pid: int, now: float) -> None:
        before, since = self._worked, now - self._looked_at
        self._looked_at = now
        self._worked = await asyncio.to_thread(self._used, pid)
        if before is None or self._worked is None:
            return
        # The total drops when processes end, which is progress too.
        if abs(self._worked - before) > IDLE * since:
            self.note_progress()


def processor_seconds(pid: int) -> float | None:
    """CPU seconds of a process and its descendants; None if unknown."""
    try:
        import psutil
    except ImportError:
        return None
    total = 0.0
    with suppress(psutil.Error):
        main = psutil.Process(pid)
        for process in (main, *main.children(recursive=True)):
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
        return total
    return None
