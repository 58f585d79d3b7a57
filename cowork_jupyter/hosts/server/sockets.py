"""WebSockets: the events of one conversation, and the one socket that each page keeps open."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import Future
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .handler import CallerMixin
from .outbox import Outbox
from .tabs import Tab

if TYPE_CHECKING:
    from .page_frames import Frame, Subscribe


GOING_AWAY, NO_SUCH_CONTEXT = 1001, 4404
SHUTTING_DOWN = "The server is shutting down."


class Socket(CallerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """A WebSocket for callers that `prepare` has let in; plain requests get an error."""

    _outbox: Outbox | None = None

    @allow_unauthenticated  # `prepare` has authorized
    async def get(self, *args: Any, **kwargs: Any) -> None:
        if self.request.headers.get("Upgrade", "").lower() != "websocket":
            raise web.HTTPError(400, "This address is for WebSockets only.")
        await super().get(*args, **kwargs)

    @property
    def outbox(self) -> Outbox:
        if self._outbox is None:
            self._outbox = Outbox(self._write)
        return self._outbox

    async def _write(self, text: str) -> None:
        await self.write_message(text)

    async def hang_up(self, code: int, reason: str) -> None:
        """Close the connection once the outbox is empty."""
        await self.outbox.drain()
        self.close(code, reason)

    def on_message(self, message: str | bytes) -> None:
        """Ignore what comes in."""

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
        await self.extension.load()
        self._after = self._read_after()

    def _read_after(self) -> int:
        from ...api.calls import parse_query
        from ...api.models import SocketQuery

        roles = self.extension.service.role_catalog
        query = parse_query(self.request.query_arguments, SocketQuery, roles)
        return query.after if query else 0

    async def open(self, context_id: str) -> None:
        super().open(context_id)
        following = self._follow(self.outbox, context_id, self._after)
        self._sending = self.extension.thread.submit(following)

    def on_close(self) -> None:
        super().on_close()
        if self._sending:
            self._sending.cancel()

    async def _follow(self, outbox: Outbox, context_id: str, after: int) -> None:
        """Runs in the service's thread. A slow client delays only itself: what it misses
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
            return  # the client will ask for the rest when it is back
        await self.extension.in_jupyter(self.hang_up(*end))


MAX_SUBSCRIPTIONS = 500
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""A page sends long answers in parts of half a million characters."""
NOT_UNDERSTOOD = 1003


class PageSocket(Socket):
    """`WS ws`: for pages of users, not for kernels.

    In: the messages in `page_frames`. Out, by `type`: `hello` once the page is let in; for one
    subscription `subscribed`, then each `event`, or `refused`; `activity`, what `happened` by
    conversation; `question` about a notebook.
    """

    _tab: Tab | None = None
    _may_write = False

    async def prepare(self) -> None:  # type: ignore[override]
        """Refuse kernels, and all who may not read."""
        if self.recognise_kernel():
            raise web.HTTPError(403, "A kernel may not do this. Do it in the browser.")
        await super().prepare()
        self._caller = await self.authorize("read")
        try:
            await self.authorize("write")
            self._may_write = True
        except web.HTTPError:
            self._may_write = False

    @property
    def max_message_size(self) -> int:
        return MAX_MESSAGE_BYTES

    async def open(self, *args: Any) -> None:
        super().open(*args)
        self._tab = Tab(self.write_message)
        self._subscriptions: dict[int, Future[None]] = {}
        # Pages are trusted about their notebooks, so only those of users who may write.
        if self._may_write:
            self.extension.tabs.join(self._tab)
        self._telling = asyncio.ensure_future(self._tell_activity())

    def on_message(self, message: str | bytes) -> None:
        """An invalid message ends the connection."""
        from .page_frames import frames

        try:
            self._take(frames.validate_json(message))
        except ValueError:
            self.close(NOT_UNDERSTOOD, "This message is not valid here.")

    def on_close(self) -> None:
        super().on_close()
        if self._tab:
            self.extension.tabs.leave(self._tab)
            self._telling.cancel()
            for sending in self._subscriptions.values():
                sending.cancel()

    def _take(self, frame: Frame) -> None:
        assert self._tab
        match frame.type:
            case "subscribe":
                self._subscribe(frame)
            case "unsubscribe":
                if sending := self._subscriptions.pop(frame.subscription, None):
                    sending.cancel()
            case "documents":
                opened = self._tab.note_documents(frame.documents, focused=frame.focused)
                self.extension.mark_cells(self._tab, opened)
            case "answer":
                self._tab.take_answer(frame)
            case "cell-started":
                self._tab.person_runs.begin(frame.path, frame.cell_id, frame.source)
            case "cell-ended":
                self._tab.person_runs.end(frame.path, frame.cell_id)

    def _subscribe(self, request: Subscribe) -> None:
        if request.subscription in self._subscriptions:
            raise ValueError("This id is already in use.")
        others = len(self._subscriptions)
        self._subscriptions[request.subscription] = self.extension.thread.submit(
            self._follow(self.outbox, request, others)
        )

    async def _follow(self, outbox: Outbox, request: Subscribe, others: int) -> None:
        """Runs in the service's thread. A slow page delays only itself: what it misses stays
        in the store.
        """
        from ...api.calls import check_owner
        from ...domain.errors import CoworkError, Unavailable
        from ...domain.identity import now

        number, since = request.subscription, now()
        try:
            if others >= MAX_SUBSCRIPTIONS:
                raise Unavailable(
                    f"A page can follow at most {MAX_SUBSCRIPTIONS} conversations.", code="too_many"
                )
            service = self.extension.service
            service.conversations.get(request.context_id)
            check_owner(service, self._caller, request.context_id)
            await outbox.put(_frame("subscribed", subscription=number))
            begin = _frame("event", subscription=number).removesuffix("}")
            async with aclosing(
                service.journal.bus.subscribe(request.context_id, request.after)
            ) as events:
                async for event in events:
                    await outbox.put(f'{begin}, "event": {event.as_json}}}')
                    if event.created_at >= since:
                        for observer in self.extension.observers:
                            observer.on_delivery(event)
            await self.extension.in_jupyter(self.hang_up(GOING_AWAY, SHUTTING_DOWN))
        except CoworkError as error:
            await self.extension.in_jupyter(self._forget(number))
            why = {"code": error.code, "message": error.message}
            await outbox.put(_frame("refused", subscription=number, **why))
        except WebSocketClosedError:
            pass  # the page will ask for the rest when it is back

    async def _forget(self, number: int) -> None:
        self._subscriptions.pop(number, None)

    async def _tell_activity(self) -> None:
        listener = self.extension.activity.listen()
        try:
            await self._send("hello")
            while True:
                await self._send("activity", happened=await listener.take())
        except WebSocketClosedError:
            pass  # the page will reload its lists when it is back
        finally:
            self.extension.activity.leave(listener)

    async def _send(self, kind: str, **fields: Any) -> None:
        await self.write_message(_frame(kind, **fields))


def _frame(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, **fields})
