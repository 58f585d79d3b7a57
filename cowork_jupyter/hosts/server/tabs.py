"""The browser tabs that are connected: which notebooks they have open, and questions to them.

Without real-time collaboration each tab has a document of its own, so a question goes to one
tab and never to all. It imports nothing heavy: tabs connect before anybody uses the agent.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from tornado.websocket import WebSocketClosedError

from .paths import real_path
from .person_runs import PersonRuns

if TYPE_CHECKING:
    from .page_frames import AnswerPart, OpenDocument

PATIENCE = 10.0
"""Seconds that a tab may take to answer."""
MAX_ANSWER_SIZE = 256 * 1024 * 1024


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
        self.person_runs = PersonRuns()
        self._numbers = count(1)
        self._questions: dict[int, asyncio.Future[str]] = {}
        self._parts: dict[int, list[str]] = {}

    async def ask(self, question: str, path: str, **more: Any) -> dict[str, Any]:
        """Ask the tab about one of its notebooks; its answer."""
        number = next(self._numbers)
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._questions[number] = answer
        try:
            asked = {"type": "question", "id": number, "op": question, "path": path, **more}
            await self._send(json.dumps(asked))
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

    def take_answer(self, part: AnswerPart) -> None:
        """Take a part of an answer; one that nobody waits for any more is dropped."""
        answer = self._questions.get(part.question)
        if answer is None or answer.done():
            return
        parts = self._parts.setdefault(part.question, [])
        parts.append(part.part)
        if sum(map(len, parts)) > MAX_ANSWER_SIZE:
            answer.set_result(json.dumps({"ok": False, "code": "too_large"}))
        elif part.last:
            answer.set_result("".join(parts))

    def note_documents(self, documents: list[OpenDocument], *, focused: bool) -> set[str]:
        """Take in which notebooks the page has open; it says so whenever that changes.

        Gives those that were not open before.
        """
        before = set(self.documents)
        now = time.monotonic()
        self.documents = {
            document.path: now
            if focused and document.current
            else self.documents.get(document.path, 0.0)
            for document in documents
        }
        self.had.update(self.documents)
        return self.documents.keys() - before

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
            if real_path(root, path) == file
        ]
        found.sort(key=lambda candidate: candidate[0], reverse=True)
        return [(tab, path) for _, tab, path in found]

    def have_had(self, file: str, root: str) -> bool:
        """Whether this file is, or once was, open in one of them."""
        paths = self._had.union(*(tab.had for tab in self._tabs))
        return any(real_path(root, path) == file for path in paths)
