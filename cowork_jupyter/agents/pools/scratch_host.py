"""Scratch kernels in a worker's process.

They keep their variables between the calls of a step, so they need an event loop that outlives a
call: Dask gives each call a thread, and that thread a loop for as long as it runs.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ...domain.settings import Settings
from ...tools.kernel.scratch_kernel import ScratchKernels
from ...tools.kernel.state import ConfinedKernel
from ...workspace.sandbox.sandbox import Sandbox

T = TypeVar("T")


class ScratchHost:
    """The kernels of this process, each for one step of a plan."""

    def __init__(self, settings: Settings) -> None:
        self._kernels = ScratchKernels(Sandbox(settings))
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="cowork-scratch", daemon=True).start()

    async def use(self, name: str, work: Callable[[ConfinedKernel], Awaitable[T]]) -> T:
        """Use a kernel, in its loop; being cancelled here cancels it there."""

        async def there() -> T:
            return await work(self._kernels.of(name))

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(there(), self._loop))

    async def end(self, name: str) -> None:
        ending = asyncio.run_coroutine_threadsafe(self._kernels.end(name), self._loop)
        await asyncio.wrap_future(ending)


_hosts: dict[str, ScratchHost] = {}
_hosts_lock = threading.Lock()


def scratch_host(settings: Settings) -> ScratchHost:
    """The host for a coordinator's settings, which say how code is confined."""
    key = repr(settings)
    with _hosts_lock:
        if key not in _hosts:
            _hosts[key] = ScratchHost(settings)
        return _hosts[key]


async def end_scratch(settings: Settings, name: str) -> None:
    """Run in a worker's process by its coordinator."""
    await scratch_host(settings).end(name)
