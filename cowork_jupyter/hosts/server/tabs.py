"""Connected browser tabs: which notebooks they show, questions to them, cells that a person ran.

Without real-time collaboration each tab has a document of its own, so a question goes to one tab,
never to all. Imports nothing heavy: tabs connect before anybody uses the agent.
"""

from __future__ import annotations

import asyncio
import json
import os.path
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async
from tornado.websocket import WebSocketClosedError

if TYPE_CHECKING:
    from ...domain.cell_commands import CellCommand
    from .page_frames import AnswerPart, OpenDocument


def real_path(root: str | Path, path: str | Path) -> str:
    return os.path.realpath(os.path.join(root, path))  # noqa: PTH118


def workspace_path(root: str, path: str, workspace: Path) -> str:
    """Translate a server path to the path that the record uses."""
    return os.path.relpath(real_path(root, path), os.path.realpath(workspace))


PATIENCE = 10.0
"""Seconds that a tab may take to answer."""
KERNEL_PATIENCE = 30.0
"""For questions that need a kernel: a tab may have to connect to it first."""
_NEEDS_KERNEL = ("run", "start_kernel")
MAX_ANSWER_SIZE = 256 * 1024 * 1024


class TabGone(Exception):
    """The tab was closed or disconnected before it answered."""


class TabSilent(Exception):
    """The tab is connected but does not answer, for example because the browser suspended it."""


class TabRefused(Exception):
    def __init__(self, answer: dict[str, Any]) -> None:
        self.code = str(answer.get("code", ""))
        self.answer = answer
        super().__init__(str(answer.get("message", self.code)))


class Tab:
    def __init__(self, send: Callable[[str], Awaitable[Any]]) -> None:
        self._send = send
        self.documents: dict[str, float] = {}
        """Open notebooks, and when the user was last in each."""
        self.had: set[str] = set()
        """Notebooks that are or were open."""
        self.person_runs = PersonRuns()
        self._numbers = count(1)
        self._questions: dict[int, asyncio.Future[str]] = {}
        self._parts: dict[int, list[str]] = {}

    async def ask(self, question: str, path: str, **more: Any) -> dict[str, Any]:
        """Raises TabGone, TabSilent or TabRefused."""
        number = next(self._numbers)
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._questions[number] = answer
        try:
            message = {"type": "question", "id": number, "op": question, "path": path, **more}
            await self._send(json.dumps(message))
            async with asyncio.timeout(KERNEL_PATIENCE if question in _NEEDS_KERNEL else PATIENCE):
                reply: dict[str, Any] = json.loads(await answer)
        except TimeoutError:
            raise TabSilent from None
        except WebSocketClosedError:
            raise TabGone from None
        finally:
            self._questions.pop(number, None)
            self._parts.pop(number, None)
        if not reply.get("ok"):
            raise TabRefused(reply)
        return reply

    def take_answer(self, part: AnswerPart) -> None:
        """Add a part of an answer; drop it if nobody waits any more."""
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
        """Replace the list of open notebooks; return those that were not open before."""
        before = set(self.documents)
        now = monotonic()
        self.documents = {
            document.path: now
            if focused and document.current
            else self.documents.get(document.path, 0.0)
            for document in documents
        }
        self.had.update(self.documents)
        return self.documents.keys() - before

    def leave(self) -> None:
        self.documents = {}
        for answer in self._questions.values():
            if not answer.done():
                answer.set_exception(TabGone())


class Tabs:
    def __init__(self) -> None:
        self._tabs: list[Tab] = []
        self._had: set[str] = set()
        self.loop: asyncio.AbstractEventLoop | None = None
        """Where tabs can be asked; None before the first has connected."""

    def join(self, tab: Tab) -> None:
        self.loop = asyncio.get_running_loop()
        self._tabs.append(tab)

    def leave(self, tab: Tab) -> None:
        with suppress(ValueError):
            self._tabs.remove(tab)
        self._had |= tab.had
        tab.leave()

    def showing(self, file: str, root: str) -> list[tuple[Tab, str]]:
        """Tabs that have a file open, most recently used first, each with its path there.

        `file` is a real path; `root` is the folder that the paths of tabs start from.
        """
        candidates = [
            (used, tab, path)
            for tab in self._tabs
            for path, used in tab.documents.items()
            if real_path(root, path) == file
        ]
        candidates.sort(key=lambda candidate: candidate[0], reverse=True)
        return [(tab, path) for _, tab, path in candidates]

    def have_shown(self, file: str, root: str) -> bool:
        """Whether a tab has, or once had, this file open."""
        paths = self._had.union(*(tab.had for tab in self._tabs))
        return any(real_path(root, path) == file for path in paths)


MAX_SECONDS = 600.0
"""Tabs report when a cell has ended, but not if it was deleted while queued."""
MAX_CELLS = 200


@dataclass
class _PersonRun:
    source: str
    at: float

    @cached_property
    def commands(self) -> list[CellCommand]:
        """What the cell asks for and nobody has taken yet."""
        from ...domain.cell_commands import commands_in

        return commands_in(self.source)

    def asks_for(self, wanted: Collection[CellCommand]) -> CellCommand | None:
        from ...domain.cell_commands import grants

        commands = (each for each in self.commands if any(grants(each, want) for want in wanted))
        return next(commands, None)


class PersonRuns:
    """Cells that a person ran in one tab and that have not ended, as that tab reports.

    Code in a kernel can claim to be such a cell. So what only a person may ask for counts only if a
    tab has reported it, and only once.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], _PersonRun] = {}

    def begin(self, path: str, cell_id: str, source: str) -> None:
        self._runs.pop((path, cell_id), None)
        self._runs[path, cell_id] = _PersonRun(source, monotonic())
        while len(self._runs) > MAX_CELLS:
            del self._runs[next(iter(self._runs))]

    def end(self, path: str, cell_id: str | None) -> None:
        """Without a cell id, all cells of the notebook have ended."""
        self._runs = {
            key: run
            for key, run in self._runs.items()
            if key[0] != path or cell_id not in (None, key[1])
        }

    def take(self, path: str, cell_id: str, wanted: Collection[CellCommand]) -> bool:
        """Consume one of the `wanted` commands if the cell contains it."""
        run = self._runs.get((path, cell_id))
        if run is None or monotonic() - run.at > MAX_SECONDS:
            return False
        command = run.asks_for(wanted)
        if command is None:
            return False
        run.commands.remove(command)
        return True


class ForeignSessions:
    """Notebooks that programs without our extension have open, judged by Jupyter's sessions.

    An editor on this server, or a Lab without us, shows a document that we cannot reach. What we
    see of it is a session: a kernel for that notebook. Sessions that we have made ourselves do not
    count.
    """

    def __init__(self, manager: Any, tabs: Tabs, root: str) -> None:
        self._manager = manager
        self._tabs = tabs
        self._root = os.path.realpath(root)
        self._own: set[str] = set()

    def add_own(self, session: dict[str, Any]) -> None:
        """Remember a session that was made only to run code."""
        self._own.add(session["id"])

    async def have_open(self, file: str) -> bool:
        """Whether a program other than our tabs has this file open."""
        for session in await ensure_async(self._manager.list_sessions()):
            if session["type"] == "notebook" and real_path(self._root, session["path"]) == file:
                # A front end keeps a connection to its kernel. Without one, a session of our own or
                # of a former tab is a leftover; any other may be an editor that is away.
                abandoned = session["id"] in self._own or self._tabs.have_shown(file, self._root)
                if session["kernel"].get("connections") or not abandoned:
                    return True
        return False
