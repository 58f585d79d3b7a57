"""Our tools for external agents: MCP's streamable HTTP, as a route of this server.

The protocol is the SDK's, which speaks ASGI: requests are translated to it, and answers go out as
they come. Authorization is decided here, as for every other route.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import allow_unauthenticated
from tornado import web
from tornado.iostream import StreamClosedError

from ...hosts.server.handler import ApiHandler

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from ...api.calls import Caller
    from ...domain.roles import AgentRole

    Event = MutableMapping[str, Any]

_METHODS = {"GET", "POST", "DELETE"}


class McpHandler(ApiHandler):
    """`cowork/mcp?role=…`, for users of the server, not for kernels."""

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        super().initialize(*args, **kwargs)
        self._unread = True
        self._gone = asyncio.Event()

    def skip_check_origin(self) -> bool:
        """Never: the protocol wants foreign pages refused, whatever token they bring."""
        return False

    @allow_unauthenticated  # authorizes by itself, as all our routes do
    async def dispatch(self, *_: str) -> None:
        if self.kernel:
            raise web.HTTPError(403, "A kernel may not do this.")
        caller = await self.authorize("execute")
        if self.request.method not in _METHODS:
            raise web.HTTPError(405, "This address supports only GET, POST and DELETE.")
        from .tool_host import check_installed

        check_installed()
        await self.extension.load()
        await self.extension.thread.run(self._handle(caller))
        if not self._headers_written and not self._gone.is_set():
            raise web.HTTPError(503, "This server is shutting down.")

    get = post = put = delete = patch = head = dispatch

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._gone.set()

    async def _handle(self, caller: Caller) -> None:
        """Runs in the service's thread; I/O is passed on to Jupyter's loop."""
        from .guests import guests_of
        from .http import HttpSessions

        service, role = self.extension.service, self._role()
        # A caller with only the server's token gets another name each time.
        whose = "" if self.token_authenticated else caller.name
        endpoint = service.of(HttpSessions).endpoint(
            (whose, role), lambda: guests_of(service, role, caller.name)
        )
        in_jupyter = self.extension.in_jupyter
        await endpoint.handle(
            self._scope(),
            lambda: in_jupyter(self._receive()),
            lambda event: in_jupyter(self._send(event)),
        )

    def _role(self) -> AgentRole:
        name = self.get_query_argument("role", "planner")
        return self.extension.service.role_catalog.chosen(name)

    def _scope(self) -> dict[str, Any]:
        request = self.request
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in request.headers.get_all()
        ]
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.protocol,
            "path": request.path,
            "raw_path": request.path.encode(),
            "root_path": "",
            "query_string": b"",  # already parsed, and may hold the user's token
            "headers": headers,
            "client": None,
            "server": None,
        }

    async def _receive(self) -> Event:
        """The body first, then a disconnect once the client has gone."""
        if self._unread:
            self._unread = False
            return {"type": "http.request", "body": self.request.body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, event: Event) -> None:
        try:
            if event["type"] == "http.response.start":
                await self._begin(event["status"], event["headers"])
                return
            if body := event.get("body"):
                self.write(body)
                await self.flush()
            if not event.get("more_body"):
                self.finish()
        except StreamClosedError:
            self._gone.set()

    async def _begin(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.set_status(status)
        self.clear_header("Content-Type")
        for name, value in headers:
            self.set_header(name.decode("latin-1"), value.decode("latin-1"))
        await self.flush()  # before finish, which would set Jupyter's JSON content type
