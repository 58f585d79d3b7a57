"""The thread that runs the service, with an event loop of its own.

The service may wait for a disk; the host's loop (Jupyter's, a kernel's) must not.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

T = TypeVar("T")
_CLOSING_SECONDS = 5.0


class ServiceThread:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="cowork-service", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Cancelling the future cancels the work."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        return await run_in(self.loop, work)

    def close(self) -> None:
        """Cancel what is left and end the thread. Must not be called from that thread."""
        if self.is_alive:
            self.submit(_cancel_others()).result(_CLOSING_SECONDS)
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(_CLOSING_SECONDS)


async def run_in(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the loop it belongs to, whichever thread that is, and wait for it.

    As with a plain `await`, a caller that is cancelled still waits until the work has ended.
    """
    if asyncio.get_running_loop() is loop:
        return await work
    ended: Future[T] = Future()
    tasks: list[asyncio.Task[T]] = []

    def begin() -> None:
        tasks.append(loop.create_task(work))
        tasks[0].add_done_callback(settle)

    # A callback, because a task cancelled before its first step runs none of its code.
    def settle(task: asyncio.Task[T]) -> None:
        if task.cancelled():
            ended.cancel()
        elif error := task.exception():
            ended.set_exception(error)
        else:
            ended.set_result(task.result())

    try:
        loop.call_soon_threadsafe(begin)
    except RuntimeError:
        work.close()
        raise
    waiting = asyncio.wrap_future(ended)
    while True:
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            if waiting.done():
                raise
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class HasLoop(Protocol):
    loop: asyncio.AbstractEventLoop


S = TypeVar("S", bound=HasLoop)
P = ParamSpec("P")
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def in_own_loop(method: Method[S, P, T]) -> Method[S, P, T]:
    """Run a method in its object's loop, whichever loop or thread it is called from."""

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await run_in(self.loop, method(self, *args, **kwargs))

    return run
