"""The thread that runs the user's cells, and work that others have for it."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_LOOK_SECONDS = 0.2
"""Short enough for an interrupt to come in, also where signals wake nobody."""


class MainThread:
    """Takes work from other threads: while a cell of ours waits, and between cells.

    To be made on the main thread, where the user's cells run.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._loop = _running_loop()

    def hand_over(self, work: Callable[[], None]) -> None:
        """Have it done there, behind what runs there now."""
        self._work.put(work)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._do_next)  # if no cell waits, between two cells

    def wait_for(self, future: Future[T]) -> T:
        """The result of what happens elsewhere; meanwhile, the work of others is done here."""
        future.add_done_callback(lambda _: self._work.put(None))
        while not future.done():
            try:
                work = self._work.get(timeout=_LOOK_SECONDS)
            except Empty:
                continue
            if work is not None:
                work()
        return future.result()

    def interrupt(self) -> None:
        """Stop what runs there, as the user's interrupt would."""
        main = threading.main_thread().ident
        if sys.platform != "win32" and main is not None:
            signal.pthread_kill(main, signal.SIGINT)  # also wakes what sleeps
        else:
            signal.raise_signal(signal.SIGINT)

    def _do_next(self) -> None:
        """What a cell that waits has not done already. There is no cell to interrupt then."""
        with suppress(Empty, KeyboardInterrupt):
            while (work := self._work.get_nowait()) is None:
                pass  # it was there to wake somebody who had other reasons to wake up
            work()


def _running_loop() -> asyncio.AbstractEventLoop | Any:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
