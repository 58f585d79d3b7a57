"""Serving desks over streamable HTTP, inside a web server that is there already.

A host brings each request in the form of ASGI. Who is calling it has found out by then; each
user has doors of their own, so that nobody gets into a session of somebody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from .protocol import server_for
from .tool_host import ToolHost

MAX_SESSIONS = 100
"""Open at the same time, at one door."""


class Door:
    """The way to one desk."""

    def __init__(self, host: ToolHost) -> None:
        # Hosts and origins are checked by the host, which knows its own names.
        self._manager = StreamableHTTPSessionManager(server_for(host), max_sessions=MAX_SESSIONS)
        self._open = asyncio.Event()
        self._closing = asyncio.Event()
        self._answering: set[asyncio.Future[None]] = set()
        self._life = asyncio.create_task(self._live())

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._open.wait()
        answering = asyncio.ensure_future(self._manager.handle_request(scope, receive, send))
        self._answering.add(answering)
        answering.add_done_callback(self._answering.discard)
        try:
            await asyncio.wait([answering])
        finally:
            answering.cancel()
        if not answering.cancelled():
            answering.result()

    async def close(self) -> None:
        """End all sessions, and the streams that clients still listen to."""
        self._closing.set()
        await asyncio.wait([self._life])
        for stream in self._answering:
            stream.cancel()
        if self._answering:
            await asyncio.wait(self._answering)

    async def _live(self) -> None:
        async with self._manager.run():
            self._open.set()
            await self._closing.wait()


class HttpSessions:
    """All doors of a host, each made when somebody first comes to it."""

    def __init__(self) -> None:
        self._doors: dict[Hashable, Door] = {}

    def door(self, whose: Hashable, host: Callable[[], ToolHost]) -> Door:
        """The way in for these; the desk is made with it."""
        if whose not in self._doors:
            self._doors[whose] = Door(host())
        return self._doors[whose]

    async def close(self) -> None:
        """End all sessions at all of them, also at one that opens meanwhile."""
        while self._doors:
            await self._doors.popitem()[1].close()
