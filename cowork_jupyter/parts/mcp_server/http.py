"""Serves tool hosts over streamable HTTP, inside an existing web server.

The web server passes authenticated requests as ASGI; each user has an endpoint of their own, so
that nobody gets into a session of somebody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from ...service.service import CoworkService
from .protocol import server_for
from .tool_host import ToolHost

MAX_SESSIONS = 100


class McpEndpoint:
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
        """End all sessions, and the streams that clients still read."""
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
    def __init__(self, service: CoworkService) -> None:
        service.closing.push_async_callback(self.close)
        self._endpoints: dict[Hashable, McpEndpoint] = {}

    def endpoint(self, whose: Hashable, host: Callable[[], ToolHost]) -> McpEndpoint:
        if whose not in self._endpoints:
            self._endpoints[whose] = McpEndpoint(host())
        return self._endpoints[whose]

    async def close(self) -> None:
        """Also closes an endpoint that opens meanwhile."""
        while self._endpoints:
            await self._endpoints.popitem()[1].close()
