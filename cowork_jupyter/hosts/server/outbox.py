"""Sends texts from the service's thread to a client in Jupyter's loop.

Many texts wake that loop once. While the client is slow, the producer waits (backpressure).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

MAX_WAITING = 64
"""Texts in the queue before producers wait."""


class Outbox:
    """Sends texts in order. Created in Jupyter's loop, filled in the service's."""

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._home = asyncio.get_running_loop()
        self._texts: deque[str] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._gone = False
        self._makers: list[asyncio.Future[None]] = []

    async def put(self, text: str) -> None:
        """Queue a text; wait if the queue is full. Raises WebSocketClosedError if the client is
        gone.
        """
        while len(self._texts) >= MAX_WAITING and not self._gone:
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._makers.append(room)
            self._home.call_soon_threadsafe(self._start)
            await room
        if self._gone:
            raise WebSocketClosedError
        self._texts.append(text)
        if len(self._texts) == 1:  # else a start is already scheduled
            self._home.call_soon_threadsafe(self._start)

    async def drain(self) -> None:
        """Wait, in Jupyter's loop, until the queue is empty."""
        while self._texts or self._sending:
            self._start()
            if self._sending:
                await asyncio.wait({self._sending})

    def close(self) -> None:
        """Drop the rest and release producers. Only in Jupyter's loop, as everything below."""
        self._gone = True
        self._texts.clear()
        self._make_room()

    def _start(self) -> None:
        if self._sending is None:
            self._sending = asyncio.ensure_future(self._send_all())

    async def _send_all(self) -> None:
        try:
            while self._texts:
                await self._send(self._texts[0])
                if self._texts:
                    self._texts.popleft()
                self._make_room()
        except (WebSocketClosedError, StreamClosedError):
            self.close()  # the client asks for the rest when it is back
        finally:
            self._sending = None
            self._make_room()

    def _make_room(self) -> None:
        makers, self._makers = self._makers, []
        for room in makers:
            with suppress(RuntimeError):  # the producer's loop is closed
                room.get_loop().call_soon_threadsafe(_resolve, room)


def _resolve(room: asyncio.Future[None]) -> None:
    if not room.done():
        room.set_result(None)
