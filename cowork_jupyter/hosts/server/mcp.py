"""Our tools for agents of others: MCP's streamable HTTP at this server's own address.

The protocol is the SDK's, which speaks ASGI; a request is brought to it in that form, and what
it answers goes out as it comes. Who may call is decided here, as for every other route.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import allow_unauthenticated
from tornado import web
from tornado.iostream import StreamClosedError

from .handler import ApiHandler

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from ...api.calls import Caller
    from ...domain.roles import AgentRole

    Event = MutableMapping[str, Any]

_METHODS = {"GET", "POST", "DELETE"}


class McpHandler(ApiHandler):
    """`cowork/mcp?role=…`, for users of the server, not for kernels."""

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """Nobody has gone yet."""
        super().initialize(*args, **kwargs)
        self._unread = True
        self._gone = asyncio.Event()

    def skip_check_origin(self) -> bool:
        """Never: the protocol wants foreign pages refused, whatever token they bring along."""
        return False

    @allow_unauthenticated  # asks for itself, as all our routes do
    async def dispatch(self, *_: str) -> None:
        """Answer one request, for as long as that takes."""
        if self.kernel:
            raise web.HTTPError(403, "A kernel may not do this.")
        caller = await self.authorize("execute")
        if self.request.method not in _METHODS:
            raise web.HTTPError(405, "This address supports only GET, POST and DELETE.")
        from ...mcp.server.tool_host import check_installed

        check_installed()
        await self.extension.load()
        await self.extension.thread.run(self._handle(caller))
        if not self._headers_written and not self._gone.is_set():
            raise web.HTTPError(503, "This server is shutting down.")

    get = post = put = delete = patch = head = dispatch

    def on_connection_close(self) -> None:
        """The client has gone."""
        super().on_connection_close()
        self._gone.set()

    async def _handle(self, caller: Caller) -> None:
        """In the service's thread; what goes in and out is passed on to Jupyter's loop."""
        service, role = self.extension.service, self._role()
        # Who comes with nothing but the server's token has another name each time.
        whose = "" if self.token_authenticated else caller.name
        endpoint = self.extension.http_sessions.endpoint(
            (whose, role), lambda: service.guest_desk(role, caller.name)
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
            "query_string": b"",  # it has been read, and may hold the user's token
            "headers": headers,
            "client": None,
            "server": None,
        }

    async def _receive(self) -> Event:
        """The body, and then only that the client has gone."""
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
        await self.flush()  # now, because Jupyter would call whatever is finished JSON
