"""Scratch kernels: for each conversation a confined Python that keeps its variables.

It starts lazily, and ends with its conversation, with the service, or after being idle. The loss of
its variables is reported once, when code runs next.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ...domain.errors import Unavailable
from ...workspace import Workspace
from ...workspace.sandbox.sandbox import Sandbox
from ..base import SCRATCH
from . import inside
from .outputs import LiveText, Outputs
from .scratch_process import ScratchProcess
from .state import (
    CellFailure,
    CodeResult,
    CodeRun,
    KernelQuery,
    KernelTables,
    NoKernels,
    ScratchSetup,
    Variable,
    Variables,
    no_sandbox,
)

MAX_SECONDS = 300.0
GRACE = 2.0
"""Seconds that interrupted code has to end before its process is killed."""
IDLE_SECONDS = 30 * 60.0
MAX_KERNELS = 8
"""Conversations that have one at the same time; the least recently used is retired."""
_GONE = "Its variables are gone: import and read again what you need."
_ANEW = "[Scratch was started anew: variables and imports of earlier code are gone.]\n"


class ScratchKernel:
    """One run at a time."""

    def __init__(self, sandbox: Sandbox, make_room: Callable[[], Awaitable[None]]) -> None:
        """`make_room` retires another one, if there are too many."""
        self._sandbox = sandbox
        self._make_room = make_room
        self._turn = asyncio.Lock()
        self._process: ScratchProcess | None = None
        self._has_lost = False
        """Whether variables were lost, and nobody was told yet."""
        self._stopping: asyncio.Task[bool] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._retiring: asyncio.Task[None] | None = None
        self.used_at = 0.0

    @property
    def is_idle(self) -> bool:
        return self._process is not None and not self._turn.locked()

    def with_setup(self, setup: ScratchSetup) -> PreparedScratch:
        return PreparedScratch(self, setup)

    async def run(self, workspace: Workspace, run: CodeRun, setup: ScratchSetup) -> CodeResult:
        """Cancelling, or the time limit, interrupts the code."""
        async with self._turn:
            process = await self._ready(workspace, setup)
            outputs = Outputs(LiveText(run.show))
            if self._has_lost:
                outputs.take({"msg_type": "stream", "content": {"name": "stderr", "text": _ANEW}})
            self._has_lost = False
            began, request = time.monotonic(), 0
            failure: CellFailure | None = None
            try:
                async with asyncio.timeout(MAX_SECONDS):
                    request = await self._send(process, run, setup)
                    ended = await _follow(process, request, outputs)
            except TimeoutError:
                ended = await self._stop(process, request, outputs)
                failure = _too_long(outputs, kept=ended)
            except asyncio.CancelledError:
                unheard = Outputs(LiveText(lambda _text: None))
                self._stopping = asyncio.create_task(self._stop(process, request, unheard))
                raise
            if not ended:
                if failure is None:
                    how = await process.end()
                    failure = CellFailure("ScratchEnded", f"its process ended with {how}. {_GONE}")
                await self._end_process()
                self._has_lost = False  # the failure says so
            outputs.finish()
            self._note_use()
        return CodeResult(
            path=SCRATCH,
            outputs=tuple(map(run.mask.everywhere, outputs.as_notebook())),
            failure=failure or outputs.failure,
            seconds=time.monotonic() - began,
            omitted=outputs.omitted,
        )

    async def look(self, name: str | None) -> dict[str, Any]:
        """What our own code reports about one variable here, or about all."""
        return await self._asked({"name": name})

    async def tables(self, queries: Sequence[KernelQuery], seconds: float) -> KernelTables:
        """Empty before anything ran."""
        if self._process is None:
            return KernelTables({})
        asked = {"queries": inside.queries_text(queries, after=True), "seconds": seconds}
        return KernelTables.of(await self._asked(asked))

    async def _asked(self, question: dict[str, Any]) -> dict[str, Any]:
        async with self._turn:
            process = self._process
            if process and process.usable:
                request = await process.send({"source": inside.source(), **question})
                while message := await process.receive():
                    if message.id == request and message.msg_type == "reply":
                        facts: dict[str, Any] = json.loads(message.content.text)
                        return facts
        raise Unavailable("Scratch does not answer.", code="no_kernel")

    async def close(self) -> None:
        if self._idle:
            self._idle.cancel()
        if self._stopping:
            self._stopping.cancel()
            await asyncio.gather(self._stopping, return_exceptions=True)
        await self._end_process()

    async def retire(self) -> None:
        async with self._turn:
            await self._end_process()

    async def _end_process(self) -> None:
        process, self._process = self._process, None
        if process:
            self._has_lost = True
            await process.end()

    async def _ready(self, workspace: Workspace, setup: ScratchSetup) -> ScratchProcess:
        """A process that can take code, and sees nothing that it must not."""
        if self._stopping:
            await asyncio.gather(self._stopping, return_exceptions=True)
            self._stopping = None
        process = self._process
        if process and process.usable and setup.hidden.items() <= process.hidden.items():
            return process
        await self._end_process()
        if self._sandbox.kind == "none":
            raise no_sandbox()
        await self._make_room()
        self._process = await ScratchProcess.start(self._sandbox, workspace, setup)
        return self._process

    async def _send(self, process: ScratchProcess, run: CodeRun, setup: ScratchSetup) -> int:
        request = {"code": run.code.source, "tables": list(setup.tables)}
        with suppress(OSError):  # it is gone, as the reader will find out
            return await process.send(request, list(setup.tables.values()))
        return 0

    async def _stop(self, process: ScratchProcess, request: int, outputs: Outputs) -> bool:
        """Interrupt code and return whether that ended it. If not, its process is killed."""
        process.usable = False  # also if nobody waits for this any more
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(GRACE):
                await process.interrupt(request)
                if await _follow(process, request, outputs):
                    process.usable = True
                    return True
        await self._end_process()
        return False

    def _note_use(self) -> None:
        self.used_at = time.monotonic()
        if self._idle:
            self._idle.cancel()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(IDLE_SECONDS, self._retire_later)

    def _retire_later(self) -> None:
        self._retiring = asyncio.create_task(self.retire())


@dataclass(frozen=True)
class PreparedScratch(NoKernels):
    """A scratch kernel for one call, in the place of a notebook's."""

    kernel: ScratchKernel
    setup: ScratchSetup
    home = SCRATCH

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        """Adds advice to failures that the sandbox causes."""
        ran = await self.kernel.run(workspace, run, self.setup)
        failure = ran.failure
        advice = failure and [
            said for sign, said in self.setup.advice.items() if sign in failure.message
        ]
        if not failure or not advice:
            return ran
        return replace(ran, failure=replace(failure, message=f"{failure.message}\n{advice[0]}"))

    async def variables(self, workspace: Workspace, path: str) -> Variables:  # noqa: ARG002
        return Variables.of(path, await self.kernel.look(None))

    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable:  # noqa: ARG002
        return Variable.of(name, await self.kernel.look(name))

    async def tables(
        self,
        workspace: Workspace,  # noqa: ARG002
        path: str,  # noqa: ARG002
        queries: Sequence[KernelQuery],
        seconds: float,
    ) -> KernelTables:
        return await self.kernel.tables(queries, seconds)


class ScratchKernels:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._kernels: dict[str, ScratchKernel] = {}

    def of(self, context_id: str) -> ScratchKernel:
        """Starts nothing before code runs."""
        return self._kernels.setdefault(context_id, ScratchKernel(self._sandbox, self._make_room))

    async def end(self, context_id: str) -> None:
        if kernel := self._kernels.pop(context_id, None):
            await kernel.close()

    async def close(self) -> None:
        await asyncio.gather(*map(self.end, list(self._kernels)))

    async def _make_room(self) -> None:
        idle = sorted(
            (kernel for kernel in self._kernels.values() if kernel.is_idle),
            key=lambda kernel: kernel.used_at,
        )
        for kernel in idle[: max(len(idle) - MAX_KERNELS + 1, 0)]:
            await kernel.retire()


async def _follow(process: ScratchProcess, request: int, outputs: Outputs) -> bool:
    """Collect the outputs of a request until it has ended; False if its process has."""
    while not outputs.ended:
        message = await process.receive()
        if message is None:
            return False
        if message.id == request:
            outputs.take({"msg_type": message.msg_type, "content": message.content.model_dump()})
    return True


def _too_long(outputs: Outputs, *, kept: bool) -> CellFailure:
    line = outputs.failure.line if outputs.failure else None
    became = "Variables are still there." if kept else _GONE
    said = f"it was stopped after {MAX_SECONDS:.0f} seconds, the limit in scratch. {became}"
    return CellFailure("TimeLimit", said, line=line)
