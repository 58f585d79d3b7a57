"""Noticing that code which runs does nothing any more: no output comes, and no processor works.

There is no time limit for code that moves. When it does not, somebody is asked whether to go
on waiting; until they answer, it may well move again by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ...domain.errors import Unavailable

Ask = Callable[[float], Awaitable[bool]]
"""Gets the seconds in which nothing moved; says whether to go on waiting."""

PATIENCE = 120.0
_LOOKS = 10
"""How often one looks at the processor before patience is over."""
IDLE = 0.02
"""Of a processor: what a kernel uses that does nothing."""


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
        """Without a process of this machine there is no way to know, and nobody is asked."""
        self._pid = pid
        self._ask = ask
        self._patience = patience
        self._clock = clock
        self._used = used or processor_seconds
        self._moved_at = self._looked_at = clock()
        self._worked: float | None = None
        self._asking: asyncio.Task[bool] | None = None
        self.interrupted_after: float | None = None
        """The seconds of silence after which it was interrupted."""

    def moved(self) -> None:
        """Something came. A question that is open answers itself."""
        self._moved_at = self._clock()
        self.close()

    async def look(self) -> bool:
        """Whether the code is to be interrupted now."""
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
                raise _stuck()
            self._asking = asyncio.ensure_future(self._ask(quiet))
        return False

    def close(self) -> None:
        """Nobody needs to answer any more."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _take_answer(self, answer: asyncio.Task[bool]) -> bool:
        quiet = self._clock() - self._moved_at
        self._asking, self._moved_at = None, self._clock()
        if answer.result():
            self._patience *= 2  # who said to wait is not asked again so soon
            return False
        self.interrupted_after = quiet
        return True

    async def _look_at_processor(self, pid: int, now: float) -> None:
        before, since = self._worked, now - self._looked_at
        self._looked_at = now
        self._worked = await asyncio.to_thread(self._used, pid)
        if before is None or self._worked is None:
            return
        # Processes that have ended take their seconds with them, which is a movement too.
        if abs(self._worked - before) > IDLE * since:
            self.moved()


def processor_seconds(pid: int) -> float | None:
    """What a process and all that it has started have worked so far; None if nobody can tell."""
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


def _stuck() -> Unavailable:
    return Unavailable(
        "The code does not respond to an interrupt, produces no output and uses no CPU. Only the "
        "user can restart its kernel.",
        code="kernel_stuck",
        retryable=False,
    )
