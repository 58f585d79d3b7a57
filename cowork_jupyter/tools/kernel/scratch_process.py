"""One confined Python process that runs code."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from ...domain.errors import Unavailable
from ...workspace import Workspace
from ...workspace.sandbox.launcher import ConfinedCommand
from ...workspace.sandbox.sandbox import Launch, Sandbox
from ..shell import scrub_environment
from .state import ScratchSetup

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
        said = ""
        try:
            async with asyncio.timeout(START_SECONDS):
                while (line := await self._line()) is not None:
                    if line.startswith(b'{"id": 0, "msg_type": "ready"'):
                        return
                    said = f"{said}{line.decode('utf-8', 'replace')}\n"[-MAX_START_UP:]
        except (TimeoutError, OSError):
            pass
        raise Unavailable(
            f"Python could not be started in the sandbox. {said}".rstrip(),
            code="scratch_failed",
            retryable=False,
        )


@cache
def _worker() -> str:
    return files(__package__).joinpath("worker.py").read_text("utf-8")
