"""Servers that we start, spoken to by lines of JSON. The SDK is here already.

Not the SDK's own transport: that one reads lines of any length, writes a traceback into the log
for every line that is no message, and can leave a server behind when we are ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from .secrets import Resolved
from .tail import Tail

LONGEST_LINE = 16 * 2**20
MOST_GARBAGE = 20
"""Lines that are no messages: some servers greet, none goes on like that."""
FLOOD_SECONDS, FLOOD_MESSAGES = 5.0, 5_000
"""More messages in less time than this is not talk any more."""
MOST_HEARD = 100
"""Of what a server tells along the way, no more is listened to in that time."""
_ALONG_THE_WAY = frozenset({"notifications/progress", "notifications/message"})
LAST_WORDS = 2.0
"""Seconds that a server has to end by itself once its input is closed."""
_PIECE, _STDERR_PAUSE = 65_536, 0.05
_LEASH = str(Path(__file__).parent / "leash.py")

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]


class _Lifeline:
    """As long as it is held, the leash lets the server live."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def cut(self) -> None:
        """End the server and all that it has started."""
        held, self._descriptor = self._descriptor, None
        if held is not None:
            os.close(held)


class Misbehaved(Exception):
    """The server does what no server may; the words say what."""


@dataclass
class _Flood:
    """Notices when messages come faster than anybody could mean them."""

    began: float = field(default_factory=time.monotonic)
    count: int = 0

    def message(self) -> None:
        """One more."""
        self.count += 1
        now = time.monotonic()
        if now - self.began > FLOOD_SECONDS:
            self.began, self.count = now, 0
        elif self.count > FLOOD_MESSAGES:
            raise Misbehaved(f"it sent more than {FLOOD_MESSAGES:,} messages in a few seconds")


@asynccontextmanager
async def started(
    server: Resolved, tail: Tail, on_end: Callable[[str], None]
) -> AsyncIterator[Streams]:
    """A running server; `on_end` is told why it is none any more. At the end nothing is left."""
    process, lifeline = await _start(server)
    send, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, receive = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_listen(process, lifeline, send, tail, on_end)),
        asyncio.create_task(_speak(process, receive)),
        asyncio.create_task(_overhear(process, tail)),
    ]
    try:
        yield read_stream, write_stream
    finally:
        for stream in (read_stream, write_stream):
            stream.close()
        try:
            await _end(process, lifeline)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            send.close()
            receive.close()


async def _start(server: Resolved) -> tuple[asyncio.subprocess.Process, _Lifeline]:
    environment = get_default_environment() | server.env
    program = server.program()
    if program is None:
        raise Misbehaved(f"there is no program '{server.command}' here")
    end, held = os.pipe()
    lifeline = _Lifeline(held)
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-X", "utf8", _LEASH, str(end), program, *server.args),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            pass_fds=[end],
            env=environment,
            cwd=server.cwd,
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError):
        lifeline.cut()
        raise Misbehaved(f"its folder {server.cwd} is not there") from None
    except BaseException:
        lifeline.cut()
        raise
    finally:
        os.close(end)
    return process, lifeline


async def _end(process: asyncio.subprocess.Process, lifeline: _Lifeline) -> None:
    """As the protocol wants it: close the input, wait a moment, then end it and all below it."""
    assert process.stdin
    try:
        process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                await process.wait()
    finally:
        lifeline.cut()  # also if we are stopped while we wait
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LAST_WORDS):
            await process.wait()


async def _listen(
    process: asyncio.subprocess.Process,
    lifeline: _Lifeline,
    send: MemoryObjectSendStream[SessionMessage | Exception],
    tail: Tail,
    on_end: Callable[[str], None],
) -> None:
    why = "it ended"
    try:
        async with send:
            await _messages(process, send, tail)
        code = await process.wait()
        why = f"it ended with exit code {code}" if code >= 0 else f"it was ended by signal {-code}"
    except Misbehaved as error:
        why = str(error)
        lifeline.cut()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        why = ""  # nobody listens any more
    finally:
        on_end(why)
    assert process.stdout
    while await process.stdout.read(_PIECE):
        pass  # or its end would never be seen behind all that it has written


async def _messages(
    process: asyncio.subprocess.Process,
    send: MemoryObjectSendStream[SessionMessage | Exception],
    tail: Tail,
) -> None:
    assert process.stdout
    flood, garbage = _Flood(), 0
    while True:
        try:
            line = await process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return
        except asyncio.LimitOverrunError:
            size = LONGEST_LINE // 2**20
            raise Misbehaved(f"it sent a message of more than {size} MiB") from None
        flood.message()
        if not line.strip():
            continue
        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            garbage += 1
            tail.add_line(f"no message: {line[:500].decode(errors='replace').rstrip()}")
            if garbage > MOST_GARBAGE:
                raise Misbehaved("what it writes is not MCP") from None
            continue
        along = getattr(message, "method", "") in _ALONG_THE_WAY
        if not along or flood.count <= MOST_HEARD:
            await send.send(SessionMessage(message))


async def _speak(
    process: asyncio.subprocess.Process, receive: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    assert process.stdin
    with contextlib.suppress(OSError, anyio.ClosedResourceError):
        async with receive:
            async for message in receive:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()


async def _overhear(process: asyncio.subprocess.Process, tail: Tail) -> None:
    """Keep what it writes about itself. One that writes without end is made to wait."""
    assert process.stderr
    while piece := await process.stderr.read(_PIECE):
        tail.add(piece.decode(errors="replace"))
        if len(piece) == _PIECE:
            await asyncio.sleep(_STDERR_PAUSE)
