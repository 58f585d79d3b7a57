"""Events over a WebSocket: everything after a place, once, in order, then live."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import aclosing
from typing import Any

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .handler import CallerMixin
from .outbox import Outbox

GOING_AWAY, NO_SUCH_CONTEXT = 1001, 4404
SHUTTING_DOWN = "The server is shutting down."


class Socket(CallerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """A WebSocket for callers that `prepare` has let in; plain requests get an error."""

    _outbox: Outbox | None = None

    @allow_unauthenticated  # `prepare` has asked
    async def get(self, *args: Any, **kwargs: Any) -> None:
        if self.request.headers.get("Upgrade", "").lower() != "websocket":
            raise web.HTTPError(400, "This address is for WebSockets only.")
        await super().get(*args, **kwargs)

    @property
    def outbox(self) -> Outbox:
        """Takes what the service's thread has for this client."""
        if self._outbox is None:
            self._outbox = Outbox(self._write)
        return self._outbox

    async def _write(self, text: str) -> None:
        await self.write_message(text)

    async def hang_up(self, code: int, reason: str) -> None:
        """Close the connection after what is still to be sent."""
        await self.outbox.sent()
        self.close(code, reason)

    def on_message(self, message: str | bytes) -> None:
        """Nothing that comes in means anything here."""

    def on_close(self) -> None:
        super().on_close()
        if self._outbox:
            self._outbox.close()


class EventsSocket(Socket):
    """`WS context/{id}/events/ws?after=SEQ`."""

    _sending: Future[None] | None = None

    async def prepare(self) -> None:  # type: ignore[override]
        """Recognise kernels before Jupyter asks for a user, and refuse everybody else."""
        self.recognise_kernel()
        await super().prepare()
        self._caller = await self.authorize("read")

    async def open(self, context_id: str) -> None:
        super().open(context_id)
        try:
            after = int(self.get_query_argument("after", "0"))
        except ValueError:
            raise web.HTTPError(400, "'after' must be a number.") from None
        await self.extension.load()
        self._sending = self.extension.thread.submit(
            self._follow(self.outbox, context_id, max(after, 0))
        )

    def on_close(self) -> None:
        super().on_close()
        if self._sending:
            self._sending.cancel()

    async def _follow(self, outbox: Outbox, context_id: str, after: int) -> None:
        """In the service's thread. A slow client holds up only itself: what it misses meanwhile
        stays in the store.
        """
        from ...api.calls import check_owner
        from ...domain.errors import NotFound

        service = self.extension.service
        end = (GOING_AWAY, SHUTTING_DOWN)
        try:
            service.conversations.get(context_id)
            check_owner(service, self._caller, context_id)
            async with aclosing(service.journal.bus.subscribe(context_id, after)) as events:
                async for event in events:
                    await outbox.put(event.as_json)
        except NotFound as error:
            end = (NO_SUCH_CONTEXT, error.message)
        except WebSocketClosedError:
            return  # the client has gone; it will ask for the rest when it is back
        await self.extension.in_jupyter(self.hang_up(*end))
