"""The process of an external agent: confined like a command, spoken to in lines of JSON."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ...domain.errors import Unavailable
from ...tools.shell import scrub_environment
from ...workspace import Workspace
from ...workspace.sandbox import supervised
from ...workspace.sandbox.clean_up import Aftermath
from ...workspace.sandbox.sandbox import Launch, Sandbox
from ...workspace.sandbox.supervised import LAST_WORDS, MAX_LINE_LENGTH
from ..mcp.secrets import Resolved

T = TypeVar("T")

MAX_GARBAGE = 20
"""Lines that are no frames: some programs greet, none goes on like that."""
_MAX_TAIL = 2_000


class StderrTail:
    text = ""

    async def read(self, errors: asyncio.StreamReader) -> None:
        while piece := await errors.read(65_536):
            self.text = (self.text + piece.decode(errors="replace"))[-_MAX_TAIL:]


@dataclass(frozen=True)
class AgentProcess:
    agent: Resolved
    workspace: Workspace
    sandbox: Sandbox | None
    """Without one it has all rights of the user."""
    may_write: bool = False
    state: frozenset[str] = frozenset()
    """Files and folders elsewhere that it may change."""
    cleaned_up: Callable[[Aftermath], None] = lambda _aftermath: None
    """Called with what it left that would run later, and was set aside."""


@dataclass(frozen=True)
class _Streams:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    errors: asyncio.StreamReader


class JsonLines:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._garbage = 0
        self._writing = asyncio.Lock()
        self._ended = asyncio.Event()

    async def receive(self) -> dict[str, Any] | None:
        """The next frame; None at the end, or when it makes no sense to go on."""
        frame = await self._next()
        if frame is None:
            self._ended.set()
        return frame

    async def unless_ended(self, work: Coroutine[Any, Any, T]) -> T:
        """Raise ConnectionResetError if the agent ends first: the SDK would wait for ever."""
        working, ending = asyncio.create_task(work), asyncio.create_task(self._ended.wait())
        try:
            await asyncio.wait([working, ending], return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise ConnectionResetError
            return working.result()
        finally:
            working.cancel()
            ending.cancel()

    async def _next(self) -> dict[str, Any] | None:
        while self._garbage < MAX_GARBAGE:
            try:
                line = await self._reader.readline()
            except (ValueError, ConnectionError):  # too long, or gone
                return None
            if not line:
                return None
            with suppress(ValueError, RecursionError):
                frame = json.loads(line)
                if isinstance(frame, dict):
                    return frame
            self._garbage += bool(line.strip())
        return None

    async def send(self, message: dict[str, Any]) -> None:
        async with self._writing:
            self._writer.write(json.dumps(message, default=str).encode() + b"\n")
            await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def start_agent(process: AgentProcess, stderr: StderrTail) -> AsyncIterator[JsonLines]:
    """The running agent; its standard error goes to `stderr`. At the end nothing of it is left
    running.
    """
    variables = scrub_environment(os.environ) | process.agent.env
    program = shutil.which(process.agent.command, path=variables.get("PATH"))
    if program is None:
        missing = f"The program '{process.agent.command}' is not installed."
        raise Unavailable(missing, code="no_agent")
    running = (
        _start_unconfined(process, program, variables)
        if process.sandbox is None
        else _start_confined(process, process.sandbox, program, variables)
    )
    async with running as streams:
        reading = asyncio.create_task(stderr.read(streams.errors))
        try:
            yield JsonLines(streams.reader, streams.writer)
        finally:
            streams.writer.close()
            await asyncio.wait([reading], timeout=LAST_WORDS)  # it ends when the agent does
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


@asynccontextmanager
async def _start_unconfined(
    process: AgentProcess, program: str, variables: Mapping[str, str]
) -> AsyncIterator[_Streams]:
    folder = str(process.workspace.root)
    made = await supervised.start(program, process.agent.args, variables, folder)
    try:
        yield _Streams(made.stdout, made.stdin, made.stderr)
    finally:
        await asyncio.shield(made.end())


@asynccontextmanager
async def _start_confined(
    process: AgentProcess, sandbox: Sandbox, program: str, variables: Mapping[str, str]
) -> AsyncIterator[_Streams]:
    """In the sandbox, with its own state writable and with the network, which its model needs."""
    ours, its = zip(*(socket.socketpair() for _ in range(3)), strict=True)
    with ExitStack() as stack:
        for end in (*ours, *its):
            stack.enter_context(end)
        await asyncio.to_thread(_make_state, process.state)
        with process.workspace.locate(".") as place, place.open_folder() as folder:
            launch = Launch(
                arguments=[program, *process.agent.args],
                workspace=process.workspace,
                folder=folder,
                path=place.path,
                input=its[0].fileno(),
                output=its[1].fileno(),
                errors=its[2].fileno(),
                environment=variables,
                may_write=process.may_write,
                state=process.state,
                is_online=True,
                cleaned_up=process.cleaned_up,
            )
            async with sandbox.running(launch):
                for end in its:
                    end.close()  # now only the agent holds them: its end is our end of file
                ends = [
                    await asyncio.open_unix_connection(sock=end, limit=MAX_LINE_LENGTH)
                    for end in ours
                ]
                (_, writer), (reader, _), (errors, _) = ends
                try:
                    yield _Streams(reader, writer, errors)
                finally:
                    for _, end in ends:
                        end.close()


def _make_state(state: frozenset[str]) -> None:
    """Only what exists can be opened to a program. What has a suffix is a file."""
    for path in map(Path, state):
        with suppress(OSError):
            if not path.suffix:
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
            elif path.suffix == ".json" and not path.exists():
                path.write_text("{}")
