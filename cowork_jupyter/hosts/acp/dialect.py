"""What the protocol has and the SDK does not know yet, put in words that it does know.

`$/cancel_request` for a prompt is a `session/cancel`; our own requests are withdrawn by it when
nobody waits for their answer any more. `session/delete` goes to the agent as an extension.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from .wire import Frame, Wire

CANCEL_REQUEST, DELETE = "$/cancel_request", "session/delete"
_PROMPT, _CANCEL = "session/prompt", "session/cancel"

RequestId = str | int | None


class Dialect:
    """A transport between the wire and the SDK."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._prompts: dict[RequestId, str] = {}
        """The sessions of prompts that are not answered yet."""
        self._asked: set[RequestId] = set()
        """Requests of ours that are not answered yet."""
        self._sending: set[asyncio.Task[None]] = set()

    async def receive(self) -> Frame | None:
        """The next frame as the SDK takes it; None at the end."""
        while (frame := await self._wire.receive()) is not None:
            if (understood := self._understood(frame)) is not None:
                return understood
        return None

    async def send(self, message: Frame) -> None:
        """Write one frame, after those before it."""
        match message:
            case {"method": _, "id": request_id}:
                self._withdraw_with_its_task(request_id)
            case {"id": request_id}:
                self._prompts.pop(request_id, None)
        await self._wire.send(message)

    async def close(self) -> None:
        """No more is written."""
        await self._wire.close()

    def _understood(self, frame: Frame) -> Frame | None:
        match frame:
            case {"method": method, "params": {"requestId": str() | int() as request_id}} if (
                method == CANCEL_REQUEST and "id" not in frame
            ):
                return self._cancelled(request_id)
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

    def _cancelled(self, request_id: RequestId) -> Frame | None:
        """All other requests are answered at once, so there is nothing to cancel."""
        session = self._prompts.get(request_id)
        if session is None:
            return None
        return {"jsonrpc": "2.0", "method": _CANCEL, "params": {"sessionId": session}}

    def _withdraw_with_its_task(self, request_id: RequestId) -> None:
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
