"""The scripted model server: a real HTTP server in a thread, with many connections.

    with ScriptedServer([call("read_file", path="a.py"), text("Done.")]) as server:
        model = Model(base_url=server.base_url, model="scripted")

A script is a list of replies used up in order, a list of `Rule`s of which the first match
answers, or a function from the request's body to a reply.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from . import wire
from .replies import Scripted

REJECTIONS = {
    "stream_options": "Unknown parameter: 'stream_options'.",
    "response_format": "This model does not support response_format of type json_schema.",
    "tools": "scripted does not support tools",
}


@dataclass
class Rule:
    """Answers requests whose last user message and system prompt contain these words."""

    reply: Scripted
    user: str = ""
    system: str = ""

    def matches(self, body: dict[str, Any]) -> bool:
        """Whether this request is meant."""
        return self.user in last_words(body, "user") and self.system in last_words(body, "system")


Script = Iterable[Scripted | Rule] | Callable[[dict[str, Any]], Scripted]


@dataclass
class Exchange:
    """One request, and what became of it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    first_byte: float | None = None
    """When the first byte of the stream went out, by `time.perf_counter`."""
    disconnected: threading.Event = field(default_factory=threading.Event)
    """Set when the client went away before the end."""
    disconnected_at: float | None = None


def last_words(body: dict[str, Any], role: str) -> str:
    """The last message of that role, as text."""
    for message in reversed(body.get("messages", [])):
        if message.get("role") == role:
            content = message.get("content")
            if isinstance(content, str):
                return content
            return "".join(part.get("text", "") for part in content or [])
    return ""


class ScriptedServer:
    """A context manager: runs while it is open, on a free port unless told."""

    def __init__(
        self, script: Script = (), *, port: int = 0, rejects: Iterable[str] = (), models: str = ""
    ) -> None:
        self.requests: list[Exchange] = []
        """All but those for the list of models, which are asked for at any time."""
        self.rejects = set(rejects)
        """Options that are answered with 400: any of `REJECTIONS`."""
        self.models = models.split() or ["scripted"]
        self.listed: dict[str, Any] = {}
        """What the list says of each model beside its name."""
        self.key = ""
        """The key that chats must bring; the models are listed to anybody, as on many servers."""
        self.port = port
        self._function = script if callable(script) else None
        self._script = [] if callable(script) else list(script)
        self._thread = threading.Thread(target=self._run, name="scripted-model", daemon=True)
        self._ready = threading.Event()

    @property
    def base_url(self) -> str:
        """What to configure as base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def add(self, *replies: Scripted | Rule) -> None:
        """Append to the script."""
        self._script.extend(replies)

    def forget(self) -> None:
        """The script, and what was asked so far: for who shares a server."""
        self._script.clear()
        self.requests.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(60):
            raise RuntimeError(f"the scripted model could not listen on port {self.port}")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connect, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        for listening in server.sockets:  # a server that is closed forgets whom it just let in
            self._loop.remove_reader(listening)
        for _ in range(10):  # and those are known by then
            await asyncio.sleep(0)
        server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await asyncio.sleep(0)  # and what was aborted is closed

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while exchange := await _read_request(reader):
                if not exchange.path.endswith("/models"):
                    self.requests.append(exchange)
                await self._answer(exchange, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _answer(
        self, exchange: Exchange, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if exchange.path.endswith("/models"):
            listed = [{"id": name, "object": "model", **self.listed} for name in self.models]
            return _send(writer, 200, {"object": "list", "data": listed})
        if not exchange.path.endswith("/chat/completions"):
            return _send(writer, 404, {"detail": "Not Found"})
        if self.key and exchange.headers.get("authorization") != f"Bearer {self.key}":
            return _send(writer, 401, {"error": {"message": "Incorrect API key provided."}})
        if not exchange.body.get("messages"):
            return _send(writer, 400, {"error": {"message": "[] is too short - 'messages'"}})
        reply = self._choose(exchange.body)
        await asyncio.sleep(reply.first_delay)
        if reply.status != 200:
            return _send(writer, reply.status, reply.error, reply.headers)
        if reply.body is not None:
            return _send(writer, 200, reply.body, reply.headers)
        if not exchange.body.get("stream"):
            return _send(writer, 200, wire.completion(reply), reply.headers)
        return await _unless_gone(_stream(reply, exchange, writer), exchange, reader)

    def _choose(self, body: dict[str, Any]) -> Scripted:
        for option in self.rejects & body.keys():
            return Scripted(status=400, error={"error": {"message": REJECTIONS[option]}})
        if self._function:
            return self._function(body)
        for place, entry in enumerate(self._script):
            if isinstance(entry, Scripted):
                del self._script[place]
                return entry
            if entry.matches(body):
                return entry.reply
        message = f"The script has no reply to: {last_words(body, 'user')[:200]}"
        return Scripted(status=400, error={"error": {"message": message}})


async def _read_request(reader: asyncio.StreamReader) -> Exchange | None:
    line = await reader.readline()
    if not line:
        return None
    headers: dict[str, str] = {}
    while (header := (await reader.readline()).decode("latin-1").strip()) != "":
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    data = await reader.readexactly(int(headers.get("content-length", 0)))
    return Exchange(line.decode().split()[1], headers, json.loads(data) if data else {})


def _send(
    writer: asyncio.StreamWriter, status: int, body: Any, headers: dict[str, str] | None = None
) -> None:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    fields = {"content-type": "application/json", **(headers or {}), "content-length": len(data)}
    writer.write(_head(status, fields) + data)


def _head(status: int, fields: dict[str, Any]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class _Cut(ConnectionResetError):
    """The script wants the connection reset here."""


async def _unless_gone(sending: Any, exchange: Exchange, reader: asyncio.StreamReader) -> None:
    """Send, and notice at once when the client closes the connection meanwhile.

    Whichever learns of it first: who reads, or, where the client left something unread and so
    reset the connection, who writes.
    """
    send, gone = asyncio.ensure_future(sending), asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait({send, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not send.done():
            raise ConnectionResetError
        await send
    except _Cut:
        raise
    except ConnectionError:
        exchange.disconnected_at = time.perf_counter()
        exchange.disconnected.set()
        raise
    finally:
        send.cancel()
        gone.cancel()
        await asyncio.gather(send, gone, return_exceptions=True)


async def _stream(reply: Scripted, exchange: Exchange, writer: asyncio.StreamWriter) -> None:
    with_usage = bool(exchange.body.get("stream_options", {}).get("include_usage"))
    fields = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **reply.headers}
    writer.write(_head(200, fields))
    left = reply.cut_after
    for number, data in enumerate(wire.events(reply, with_usage=with_usage)):
        if number == reply.stall_after:
            await asyncio.Event().wait()
        if number and reply.delay:
            await asyncio.sleep(reply.delay)
        exchange.first_byte = exchange.first_byte or time.perf_counter()
        await _write(writer, data[:left], reply.write_size)
        if left is not None:
            left -= len(data)
            if left <= 0:
                raise _Cut
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _write(writer: asyncio.StreamWriter, data: bytes, size: int | None) -> None:
    """One HTTP chunk a write, so that the reader gets exactly these pieces."""
    size = size or len(data) or 1
    for start in range(0, len(data), size):
        piece = data[start : start + size]
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
