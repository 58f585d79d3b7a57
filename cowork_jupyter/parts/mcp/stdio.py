"""Servers that we start, over JSON lines.

Not the SDK's own transport: that one reads lines of any length, writes a traceback into the log
for every invalid line, and can leave a server behind when we are ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from ...domain.errors import Unavailable
from ...workspace.sandbox import supervised
from ...workspace.sandbox.supervised import MAX_LINE_LENGTH, SupervisedProcess
from .environment import OutputTail
from .secrets import Resolved

MAX_GARBAGE = 20
"""Lines that are not messages: some servers greet, none goes on like that."""
FLOOD_SECONDS, FLOOD_MESSAGES = 5.0, 5_000
"""More messages in this time are a flood."""
MAX_HEARD = 100
"""Progress and log messages beyond this in that time are dropped."""
_NOTIFICATIONS = frozenset({"notifications/progress", "notifications/message"})
_PIECE, _STDERR_PAUSE = 65_536, 0.05
LAST_LINES = 1.0
"""Seconds to read what a server wrote before it ended, unless others hold its pipe."""

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]


class ProtocolViolation(Exception):
    """A violation of the protocol; the message says which."""


@dataclass
class _Flood:
    began: float = field(default_factory=time.monotonic)
    count: int = 0

    def message(self) -> None:
        self.count += 1
        now = time.monotonic()
        if now - self.began > FLOOD_SECONDS:
            self.began, self.count = now, 0
        elif self.count > FLOOD_MESSAGES:
            raise ProtocolViolation(
                f"it sent more than {FLOOD_MESSAGES:,} messages in a few seconds"
            )


@asynccontextmanager
async def start_server(
    server: Resolved, tail: OutputTail, on_end: Callable[[str], None]
) -> AsyncIterator[Streams]:
    """A running server; `on_end` gets the reason of its end. Leaves no process behind."""
    process = await _start(server)
    send, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, receive = anyio.create_memory_object_stream[SessionMessage](0)
    stderr_task = asyncio.create_task(_read_stderr(process, tail))
    stdout_task = asyncio.create_task(_read_stdout(process, send, tail, stderr_task, on_end))
    tasks = [stderr_task, stdout_task, asyncio.create_task(_write_stdin(process, receive))]
    try:
        yield read_stream, write_stream
    finally:
        for stream in (read_stream, write_stream):
            stream.close()
        try:
            await process.end()
            await asyncio.wait([stderr_task, stdout_task], timeout=LAST_LINES)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            send.close()
            receive.close()


async def _start(server: Resolved) -> SupervisedProcess:
    program = server.program()
    if program is None:
        raise ProtocolViolation(f"the program '{server.command}' is not installed")
    environment = get_default_environment() | server.env
    try:
        return await supervised.start(program, server.args, environment, server.cwd)
    except (FileNotFoundError, NotADirectoryError):
        raise ProtocolViolation(f"its folder {server.cwd} does not exist") from None
    except Unavailable as error:
        raise ProtocolViolation(error.message) from None


async def _read_stdout(
    process: SupervisedProcess,
    send: MemoryObjectSendStream[SessionMessage | Exception],
    tail: OutputTail,
    stderr_task: asyncio.Task[None],
    on_end: Callable[[str], None],
) -> None:
    why = "it ended"
    try:
        async with send:
            await _messages(process, send, tail)
        code = await process.wait()
        why = f"it ended with exit code {code}" if code >= 0 else f"it was killed by signal {-code}"
        # The end of stderr says more than that, and may still be in the pipe.
        await asyncio.wait([stderr_task], timeout=LAST_LINES)
    except ProtocolViolation as error:
        why = str(error)
        process.cut()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        why = ""  # the client has closed the stream
    finally:
        on_end(why)
    while await process.stdout.read(_PIECE):
        pass  # or its end would never be seen behind all that it has written


async def _messages(
    process: SupervisedProcess,
    send: MemoryObjectSendStream[SessionMessage | Exception],
    tail: OutputTail,
) -> None:
    flood, garbage = _Flood(), 0
    while True:
        try:
            line = await process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return
        except asyncio.LimitOverrunError:
            size = MAX_LINE_LENGTH // 2**20
            raise ProtocolViolation(f"it sent a message of more than {size} MiB") from None
        flood.message()
        if not line.strip():
            continue
        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            garbage += 1
            tail.add_line(f"no message: {line[:500].decode(errors='replace').rstrip()}")
            if garbage > MAX_GARBAGE:
                raise ProtocolViolation("its output is not valid MCP") from None
            continue
        is_notification = getattr(message, "method", "") in _NOTIFICATIONS
        if not is_notification or flood.count <= MAX_HEARD:
            await send.send(SessionMessage(message))


async def _write_stdin(
    process: SupervisedProcess, receive: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    with contextlib.suppress(OSError, anyio.ClosedResourceError):
        async with receive:
            async for message in receive:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()


async def _read_stderr(process: SupervisedProcess, tail: OutputTail) -> None:
    """Keep what it writes to stderr. One that writes without end is throttled."""
    while piece := await process.stderr.read(_PIECE):
        tail.add(piece.decode(errors="replace"))
        if len(piece) == _PIECE:
            await asyncio.sleep(_STDERR_PAUSE)
