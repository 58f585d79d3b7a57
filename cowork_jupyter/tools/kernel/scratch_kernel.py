"""Scratch kernels: for each conversation a confined Python that keeps its variables.

It starts lazily, and ends with its conversation, with the service, or after being idle. The loss of
its variables is reported once, when code runs next.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from ...domain.errors import Unavailable
from ...workspace import Workspace
from ...workspace.sandbox.launcher import ConfinedCommand
from ...workspace.sandbox.sandbox import Launch, Sandbox
from ..base import SCRATCH
from ..shell import scrub_environment
from . import inside
from .outputs import LiveText, Outputs
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
MAX_LINE = 16 * 1024 * 1024
"""Bytes of one message; more cannot be from our worker."""
START_SECONDS = 60.0
"""For Python to start, on a machine that may be very busy."""
LAST_WORDS = 2.0
"""Seconds for its guard to report how it ended, once it has hung up."""
MAX_START_UP = 2_000
_PIECE = 65536
# Without the workspace on its path: a file there could shadow a stdlib module.
_START = (
    "import sys\n"
    "sys.path[:] = [one for one in sys.path if one]\n"
    "exec(compile(sys.argv.pop(), '<scratch kernel>', 'exec'), {'__name__': '__main__'})"
)


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
        request = {"queries": inside.queries_text(queries, after=True), "seconds": seconds}
        return KernelTables.of(await self._asked(request))

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
            text for sign, text in self.setup.advice.items() if sign in failure.message
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
    message = f"it was stopped after {MAX_SECONDS:.0f} seconds, the limit in scratch. {became}"
    return CellFailure("TimeLimit", message, line=line)


class MessageContent(BaseModel):
    """Untrusted: code could have forged it."""

    name: Literal["stdout", "stderr"] = "stdout"
    text: str = ""
    data: dict[str, str] = {}
    metadata: dict[str, str] = {}
    ename: str = ""
    evalue: str = ""
    traceback: list[str] = []
    execution_count: int | None = None
    execution_state: str = ""


class WorkerMessage(BaseModel):
    id: int
    msg_type: Literal[
        "ready",
        "execute_input",
        "stream",
        "display_data",
        "execute_result",
        "error",
        "status",
        "reply",
    ]
    content: MessageContent


@dataclass
class ScratchProcess:
    command: ConfinedCommand
    hidden: Mapping[str, int]
    _connection: socket.socket
    _closing: AsyncExitStack
    _buffer: bytearray
    _requests: int = 0
    _is_gone: bool = False
    usable: bool = True
    _watching: asyncio.Task[None] = field(init=False)

    @classmethod
    async def start(
        cls, sandbox: Sandbox, workspace: Workspace, setup: ScratchSetup
    ) -> ScratchProcess:
        ours, its = socket.socketpair()
        ours.setblocking(False)
        async with AsyncExitStack() as stack:
            stack.enter_context(ours)
            with its, workspace.locate(setup.folder) as place, place.open_folder() as folder:
                launch = Launch(
                    arguments=[setup.python, "-c", _START, _worker()],
                    workspace=workspace,
                    folder=folder,
                    path=place.path,
                    output=its.fileno(),
                    environment={**scrub_environment(os.environ), "MPLBACKEND": "Agg"},
                    may_write=False,
                    network=False,
                    input=its.fileno(),
                    hidden=frozenset(setup.hidden),
                )
                command = await stack.enter_async_context(sandbox.running(launch))
            process = cls(command, setup.hidden, ours, stack, bytearray())
            await process._until_ready()
            process._watching = asyncio.create_task(process._hang_up_at_its_end())
            process._closing = stack.pop_all()
            return process

    async def send(self, request: dict[str, Any], descriptors: Sequence[int] = ()) -> int:
        """Returns the request id."""
        self._requests += 1
        line = json.dumps({**request, "id": self._requests}) + "\n"
        await self._write(line, descriptors)
        return self._requests

    async def interrupt(self, request: int) -> None:
        await self._write(json.dumps({"interrupt": request}) + "\n")

    async def receive(self) -> WorkerMessage | None:
        """The next message; None if there will be no more."""
        try:
            line = await self._line()
            if line is not None:
                return WorkerMessage.model_validate_json(line)
        except (OSError, ValidationError):  # gone, or the code has forged a line
            pass
        self.usable = False
        return None

    async def end(self) -> str:
        """Kill it and all it started; returns how it had ended by itself, if it had."""
        self.usable = False
        if self._is_gone:
            await asyncio.wait({self._watching}, timeout=LAST_WORDS)
        self._watching.cancel()  # only one can wait for its guard
        await asyncio.gather(self._watching, return_exceptions=True)
        await self._closing.aclose()
        code = self.command.returncode or 0
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    async def _hang_up_at_its_end(self) -> None:
        """What it has forked may outlive it, holding its end of the line; nobody waits for that."""
        await self.command.wait()
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RD)  # what has arrived can still be read

    async def _write(self, text: str, descriptors: Sequence[int] = ()) -> None:
        """A partial line would leave a process that understands nothing any more."""
        usable, self.usable = self.usable, False
        if descriptors:
            socket.send_fds(self._connection, [b" "], list(descriptors))
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._connection, text.encode())
        self.usable = usable

    async def _line(self) -> bytes | None:
        loop, looked = asyncio.get_running_loop(), 0
        while (end := self._buffer.find(b"\n", looked)) < 0:
            looked = len(self._buffer)
            data = await loop.sock_recv(self._connection, _PIECE)
            if not data or looked > MAX_LINE:
                self._is_gone = not data
                return None
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    async def _until_ready(self) -> None:
        output = ""
        try:
            async with asyncio.timeout(START_SECONDS):
                while (line := await self._line()) is not None:
                    if line.startswith(b'{"id": 0, "msg_type": "ready"'):
                        return
                    output = f"{output}{line.decode('utf-8', 'replace')}\n"[-MAX_START_UP:]
        except (TimeoutError, OSError):
            pass
        raise Unavailable(
            f"Python could not be started in the sandbox. {output}".rstrip(),
            code="scratch_failed",
            retryable=False,
        )


@cache
def _worker() -> str:
    return files(__package__).joinpath("worker.py").read_text("utf-8")
