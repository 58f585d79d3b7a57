"""The browser tabs that are connected: which notebooks they have open, and questions to them.

Without real-time collaboration each tab has a document of its own, so a question goes to one
tab and never to all. It imports nothing heavy: tabs connect before anybody uses the agent.
"""

from __future__ import annotations

import asyncio
import json
import os.path
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Any

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .handler import CallerMixin

PATIENCE = 10.0
"""Seconds that a tab may take to answer."""
LARGEST_ANSWER = 256 * 1024 * 1024


class TabGone(Exception):
    """The tab was closed, or lost its connection, before it answered."""


class TabSilent(Exception):
    """The tab is there but does not answer, as when the browser has put it to sleep."""


class TabRefused(Exception):
    """The tab says why it cannot do it."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.code = str(answer.get("code", ""))
        self.answer = answer
        super().__init__(str(answer.get("message", self.code)))


class Tab:
    """One page with notebooks."""

    def __init__(self, send: Callable[[str], Awaitable[Any]]) -> None:
        self._send = send
        self.documents: dict[str, float] = {}
        """The notebooks that are open in it, and when the user was last in each."""
        self.had: set[str] = set()
        """The notebooks that are or were open in it."""
        self._numbers = count(1)
        self._questions: dict[int, asyncio.Future[str]] = {}
        self._parts: dict[int, list[str]] = {}

    async def ask(self, question: str, path: str, **more: Any) -> dict[str, Any]:
        """Ask the tab about one of its notebooks; its answer."""
        number = next(self._numbers)
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._questions[number] = answer
        try:
            await self._send(json.dumps({"id": number, "op": question, "path": path, **more}))
            async with asyncio.timeout(PATIENCE):
                found: dict[str, Any] = json.loads(await answer)
        except TimeoutError:
            raise TabSilent from None
        except WebSocketClosedError:
            raise TabGone from None
        finally:
            self._questions.pop(number, None)
            self._parts.pop(number, None)
        if not found.get("ok"):
            raise TabRefused(found)
        return found

    def hear(self, message: dict[str, Any]) -> set[str]:
        """Take what the page says: which notebooks it has open, or a part of an answer.

        Gives the notebooks that were not open before.
        """
        before = set(self.documents)
        if "documents" in message:
            self._note_documents(message["documents"], bool(message.get("focused")))
        self._take_answer(message)
        return self.documents.keys() - before

    def _take_answer(self, message: dict[str, Any]) -> None:
        number = message.get("answer")
        answer = self._questions.get(number) if isinstance(number, int) else None
        if answer is None or answer.done():
            return
        parts = self._parts.setdefault(int(number or 0), [])
        parts.append(str(message.get("part", "")))
        if sum(map(len, parts)) > LARGEST_ANSWER:
            answer.set_result(json.dumps({"ok": False, "code": "too_large"}))
        elif message.get("last"):
            answer.set_result("".join(parts))

    def _note_documents(self, documents: list[dict[str, Any]], focused: bool) -> None:
        now = time.monotonic()
        self.documents = {
            str(one["path"]): now
            if focused and one.get("current")
            else self.documents.get(str(one["path"]), 0.0)
            for one in documents
        }
        self.had.update(self.documents)

    def leave(self) -> None:
        """It is gone: nobody waits for it any more."""
        self.documents = {}
        for answer in self._questions.values():
            if not answer.done():
                answer.set_exception(TabGone())


class Tabs:
    """All pages that are connected to this server."""

    def __init__(self) -> None:
        self._tabs: list[Tab] = []
        self._had: set[str] = set()
        self.loop: asyncio.AbstractEventLoop | None = None
        """Where they can be asked; None as long as there was none."""

    def join(self, tab: Tab) -> None:
        """A page has connected."""
        self.loop = asyncio.get_running_loop()
        self._tabs.append(tab)

    def leave(self, tab: Tab) -> None:
        """A page has gone."""
        with suppress(ValueError):
            self._tabs.remove(tab)
        self._had |= tab.had
        tab.leave()

    def having(self, file: str, root: str) -> list[tuple[Tab, str]]:
        """Tabs in which this file is open, the one that was used last first, and its path there.

        `file` is where it really is. `root` is what the paths of tabs start from.
        """
        found = [
            (used, tab, path)
            for tab in self._tabs
            for path, used in tab.documents.items()
            if _real_path(root, path) == file
        ]
        found.sort(key=lambda one: one[0], reverse=True)
        return [(tab, path) for _, tab, path in found]

    def have_had(self, file: str, root: str) -> bool:
        """Whether this file is, or once was, open in one of them."""
        paths = self._had.union(*(tab.had for tab in self._tabs))
        return any(_real_path(root, path) == file for path in paths)


def _real_path(root: str, path: str) -> str:
    return os.path.realpath(os.path.join(root, path))  # noqa: PTH118


class TabSocket(CallerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """`WS notebooks/ws`: for pages of users who may change things, as their answers are believed.

    In: `{"documents": [{"path", "current"}], "focused"}` whenever that changes, and
    `{"answer", "part", "last"}`. Out: `{"id", "op", "path", …}`.
    """

    _tab: Tab | None = None

    async def prepare(self) -> None:  # type: ignore[override]
        """Refuse kernels, and all who may not write."""
        if self.recognise_kernel():
            raise web.HTTPError(403, "A kernel may not do this; do it in the browser.")
        await super().prepare()
        await self.authorize("write")

    @allow_unauthenticated  # `prepare` has asked
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the socket."""
        await super().get(*args, **kwargs)

    async def open(self, *args: Any) -> None:
        """A page is there."""
        super().open(*args)
        self._tab = Tab(self.write_message)
        self.extension.tabs.join(self._tab)

    def on_message(self, message: str | bytes) -> None:
        """Pass on what the page says; what makes no sense ends the connection."""
        try:
            if self._tab:
                opened = self._tab.hear(json.loads(message))
                self.extension.mark_cells(self._tab, opened)
        except (ValueError, TypeError, KeyError, AttributeError):
            self.close(1003, "That was no message of ours.")

    def on_close(self) -> None:
        """The page is gone."""
        super().on_close()
        if self._tab:
            self.extension.tabs.leave(self._tab)
