"""Scratch kernels in a worker's process.

They keep their variables between the calls of a step, so they need an event loop that outlives a
call: Dask gives each call a thread, and that thread a loop for as long as it runs.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ...domain.settings import Settings
from ...tools.base import ToolContext, ToolParameters
from ...tools.kernel.scratch import ScratchCodeWithTables, kernel_python, table_copies
from ...tools.kernel.scratch_kernel import ScratchKernels
from ...tools.kernel.state import ConfinedKernel, NoKernels, TableCopy
from ...workspace import Workspace
from ...workspace.sandbox.sandbox import Sandbox

T = TypeVar("T")


class ScratchHost:
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


@dataclass(frozen=True)
class KernelSnapshot(NoKernels):
    """Stands for the notebook's kernel at a worker."""

    program: str | None
    """Its Python, which the worker uses if it has it, too."""
    copies: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    async def python(self, workspace: Workspace, path: str) -> str | None:  # noqa: ARG002
        return self.program

    async def copy_table(
        self,
        workspace: Workspace,  # noqa: ARG002
        path: str,  # noqa: ARG002
        name: str,
        file: str,
        room: int,  # noqa: ARG002
    ) -> TableCopy:
        """What was too large, or no table, was refused before it was sent."""
        await asyncio.to_thread(Path(file).write_bytes, self.copies[name])
        return TableCopy(name, "DataFrame", "")


async def snapshot_kernel(parameters: ToolParameters, context: ToolContext) -> KernelSnapshot:
    tables = parameters.tables if isinstance(parameters, ScratchCodeWithTables) else []
    async with table_copies(tables, context) as copies:
        contents = {name: await asyncio.to_thread(_read, file) for name, file in copies.items()}
    return KernelSnapshot(await kernel_python(context), contents)


def _read(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()
