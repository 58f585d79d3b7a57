"""Events over a WebSocket: everything after a place, once, in order, then live."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .handler import CallerMixin

GOING_AWAY, NO_SUCH_CONTEXT = 1001, 4404
SHUTTING_DOWN = "The server is shutting down."


class Socket(CallerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """A WebSocket for callers that `prepare` has let in; plain requests get an error."""

    @allow_unauthenticated  # `prepare` has asked
    async def get(self, *args: Any, **kwargs: Any) -> None:
        if self.request.headers.get("Upgrade", "").lower() != "websocket":
            raise web.HTTPError(400, "This address is for WebSockets only.")
        await super().get(*args, **kwargs)

    def on_message(self, message: str | bytes) -> None:
        """Nothing that comes in means anything here."""


class EventsSocket(Socket):
    """`WS context/{id}/events/ws?after=SEQ`."""

    _sending: asyncio.Task[None] | None = None

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
        self._sending = asyncio.ensure_future(self._send(context_id, max(after, 0)))

    def on_close(self) -> None:
        super().on_close()
        if self._sending:
            self._sending.cancel()

    async def _send(self, context_id: str, after: int) -> None:
        """Each event waits until the one before is on its way, so a slow client holds up only
        itself: what it misses meanwhile stays in the store.
        """
        from ..api.calls import check_owner
        from ..domain.errors import NotFound

        service = self.extension.service
        try:
            service.conversations.get(context_id)
            check_owner(service, self._caller, context_id)
            async with aclosing(service.journal.bus.subscribe(context_id, after)) as events:
                async for event in events:
                    await self.write_message(json.dumps(event.model_dump(mode="python")))
            self.close(GOING_AWAY, SHUTTING_DOWN)
        except NotFound as error:
            self.close(NO_SUCH_CONTEXT, error.message)
        except WebSocketClosedError:
            pass  # the client has gone; it will ask for the rest when it is back
