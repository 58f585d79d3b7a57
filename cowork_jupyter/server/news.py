"""News over a WebSocket: where something happened, in whichever conversation, never what.

A page with many conversations cannot listen to each. It listens here, and asks for what it shows.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import Any

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .handler import CallerMixin

TOO_MANY = {"text-delta", "reasoning-delta", "tool-call", "tool-result", "usage", "notice"}
"""What comes by the thousand, and changes nothing that is shown of a conversation in a list."""


class News:
    """Tells every page that listens. Events come from any thread."""

    def __init__(self) -> None:
        self._listeners: set[Bulletin] = set()

    def __call__(self, event: Any) -> None:
        """Note that something happened."""
        if event.type in TOO_MANY:
            return
        for listener in tuple(self._listeners):
            listener.note(event.context_id, str(event.type))

    def listen(self) -> Bulletin:
        """From now on; `leave` with it when done."""
        listener = Bulletin()
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Bulletin) -> None:
        """Nobody reads this one any more."""
        self._listeners.discard(listener)


class Bulletin:
    """What one page has not been told yet. However slow it is, this stays small."""

    def __init__(self) -> None:
        self._happened: dict[str, set[str]] = {}
        self._loop = asyncio.get_running_loop()
        self._awake = asyncio.Event()

    def note(self, context_id: str, what: str) -> None:
        """From any thread."""
        with suppress(RuntimeError):  # its loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._note, context_id, what)

    def _note(self, context_id: str, what: str) -> None:
        self._happened.setdefault(context_id, set()).add(what)
        self._awake.set()

    async def take(self) -> dict[str, list[str]]:
        """Wait for something, then all there is: what happened, by conversation."""
        await self._awake.wait()
        self._awake.clear()
        happened, self._happened = self._happened, {}
        return {context: sorted(kinds) for context, kinds in happened.items()}


class NewsSocket(CallerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """`WS inbox/ws`: frames `{"seq", "happened": {context_id: [event types]}}`; for users only."""

    _sending: asyncio.Task[None] | None = None

    async def prepare(self) -> None:  # type: ignore[override]
        """Refuse kernels, and all who may not read."""
        if self.recognise_kernel():
            raise web.HTTPError(403, "A kernel may not do this; do it in the browser.")
        await super().prepare()
        await self.authorize("read")

    @allow_unauthenticated  # `prepare` has asked
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the socket."""
        await super().get(*args, **kwargs)

    async def open(self, *args: Any) -> None:
        """Start sending."""
        super().open(*args)
        self._sending = asyncio.ensure_future(self._send())

    def on_message(self, message: str | bytes) -> None:
        """Nothing that comes in means anything here."""

    def on_close(self) -> None:
        """Stop sending."""
        super().on_close()
        if self._sending:
            self._sending.cancel()

    async def _send(self) -> None:
        news = self.extension.news
        bulletin = news.listen()
        try:
            while True:
                happened = await bulletin.take()
                # The time, so that numbers grow over restarts of the server too.
                frame = {"seq": time.time_ns() // 1000, "happened": happened}
                await self.write_message(json.dumps(frame))
        except WebSocketClosedError:
            pass  # the page has gone; it will look for itself when it is back
        finally:
            news.leave(bulletin)
