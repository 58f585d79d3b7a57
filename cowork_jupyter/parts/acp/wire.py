"""The transport: JSON objects, one per line, on the standard streams, adapted to the SDK.

The SDK's own reader drops what it cannot parse and ends at anything that is not an object. Here the
client is told what was wrong, and everything else goes on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, BinaryIO

logger = logging.getLogger(__name__)

MAX_FRAME_SIZE = 50 * 1024 * 1024
"""Bytes of one line. A longer one is skipped and refused."""
_AHEAD = 64
"""Lines that are read ahead."""

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_TOO_LONG = b"\0"
"""Stands for a skipped line; no JSON begins like that."""

Frame = dict[str, Any]


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve the standard streams for the protocol: from now on prints go to stderr, and nobody
    else reads stdin.
    """
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return incoming, outgoing


class Wire:
    """Reads and writes in threads, because these streams can be files or terminals too, which no
    event loop can wait for.
    """

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue(_AHEAD)
        self._writer = ThreadPoolExecutor(1, "acp-writer")  # a single thread keeps frames in order
        threading.Thread(target=self._read_all, name="acp-reader", daemon=True).start()

    async def receive(self) -> Frame | None:
        """The next valid frame; None at the end."""
        while line := await self._lines.get():
            if line.strip():
                frame = await self._parse(line)
                if frame is not None:
                    return frame
        return None

    async def send(self, message: Frame) -> None:
        data = json.dumps(message, separators=(",", ":"), default=str).encode() + b"\n"
        await self._loop.run_in_executor(self._writer, self._write, data)

    async def close(self) -> None:
        self._writer.shutdown(wait=False)

    async def _parse(self, line: bytes) -> Frame | None:
        try:
            frame = json.loads(line)
        except (ValueError, RecursionError):
            why = "a frame is too long" if line == _TOO_LONG else "it is not JSON"
            await self._refuse(None, _PARSE_ERROR, f"Parse error: {why}")
            return None
        problem = _problem(frame)
        if problem is None:
            return frame  # type: ignore[no-any-return]
        if isinstance(frame, dict) and "method" not in frame and "id" in frame:
            logger.warning("An answer of the client makes no sense: %s", problem)
            return None  # never respond to a response
        request_id = frame.get("id") if isinstance(frame, dict) else None
        known = request_id if _is_id(request_id) else None
        await self._refuse(known, _INVALID_REQUEST, f"Invalid request: {problem}")
        return None

    async def _refuse(self, request_id: str | int | None, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        await self.send({"jsonrpc": "2.0", "id": request_id, "error": error})

    def _write(self, data: bytes) -> None:
        self._outgoing.write(data)
        self._outgoing.flush()

    def _read_all(self) -> None:
        line = b"begin"
        with suppress(RuntimeError):  # the loop is closed
            while line:
                line = self._read_line()
                asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()

    def _read_line(self) -> bytes:
        try:
            line = self._incoming.readline(MAX_FRAME_SIZE)
            if len(line) < MAX_FRAME_SIZE or line.endswith(b"\n"):
                return line
            while line and not line.endswith(b"\n"):
                line = self._incoming.readline(MAX_FRAME_SIZE)
            return _TOO_LONG
        except OSError:
            return b""


def _problem(frame: object) -> str | None:
    """Why this is neither a request, nor a notification, nor a response; None if it is one."""
    if not isinstance(frame, dict):
        return "a frame is one JSON object"
    if frame.get("jsonrpc") != "2.0":
        return "jsonrpc is not '2.0'"
    if "id" in frame and not _is_id(frame["id"]):
        return "the id is neither a string nor an integer"
    if "method" in frame:
        return None if isinstance(frame["method"], str) else "the method is not a string"
    if "id" not in frame:
        return "there is no method"
    if "result" not in frame and not isinstance(frame.get("error"), dict):
        return "there is neither a result nor an error"
    return None


def _is_id(value: object) -> bool:
    return value is None or (isinstance(value, (str, int)) and not isinstance(value, bool))


CANCEL_REQUEST, DELETE = "$/cancel_request", "session/delete"
_PROMPT, _CANCEL = "session/prompt", "session/cancel"

RequestId = str | int | None


class SdkAdapter:
    """Translates what the protocol has and the SDK does not know yet.

    `$/cancel_request` for a prompt becomes `session/cancel`; our own requests are withdrawn with it
    once nobody waits for their answer. `session/delete` goes to the agent as an extension method.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._prompts: dict[RequestId, str] = {}
        """Sessions of unanswered prompts."""
        self._asked: set[RequestId] = set()
        """Our own unanswered requests."""
        self._sending: set[asyncio.Task[None]] = set()

    async def receive(self) -> Frame | None:
        while (frame := await self._wire.receive()) is not None:
            if (known := self._translate(frame)) is not None:
                return known
        return None

    async def send(self, message: Frame) -> None:
        match message:
            case {"method": _, "id": request_id}:
                self._withdraw_when_cancelled(request_id)
            case {"id": request_id}:
                self._prompts.pop(request_id, None)
        await self._wire.send(message)

    async def close(self) -> None:
        await self._wire.close()

    def _translate(self, frame: Frame) -> Frame | None:
        match frame:
            case {"method": method, "params": {"requestId": str() | int() as request_id}} if (
                method == CANCEL_REQUEST and "id" not in frame
            ):
                return self._cancel_frame(request_id)
            case {"method": method} if method == CANCEL_REQUEST and "id" not in frame:
                return None
            case {"method": method, "id": _} if method == DELETE:
                return {**frame, "method": f"_{DELETE}"}
            case {"method": method, "id": request_id, "params": {"sessionId": str() as session}}:
                if method == _PROMPT:
                    self._prompts[request_id] = session
            case {"id": request_id}:
                self._asked.discard(request_id)
        return frame

    def _cancel_frame(self, request_id: RequestId) -> Frame | None:
        """All requests other than prompts are answered at once, so there is nothing to cancel."""
        session = self._prompts.get(request_id)
        if session is None:
            return None
        return {"jsonrpc": "2.0", "method": _CANCEL, "params": {"sessionId": session}}

    def _withdraw_when_cancelled(self, request_id: RequestId) -> None:
        """The SDK sends a request in the task that waits for the answer."""
        task = asyncio.current_task()
        assert task is not None
        self._asked.add(request_id)
        task.add_done_callback(lambda ended: self._withdraw(request_id, ended))

    def _withdraw(self, request_id: RequestId, ended: asyncio.Task[Any]) -> None:
        if ended.cancelled() and request_id in self._asked:
            self._asked.discard(request_id)
            sending = asyncio.create_task(self._send_cancel(request_id))
            self._sending.add(sending)
            sending.add_done_callback(self._sending.discard)

    async def _send_cancel(self, request_id: RequestId) -> None:
        params = {"requestId": request_id}
        with suppress(OSError, RuntimeError):  # the client is gone
            await self._wire.send({"jsonrpc": "2.0", "method": CANCEL_REQUEST, "params": params})
