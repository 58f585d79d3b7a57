"""Tells tabs which cells of their notebooks have agent changes that the user has not decided on.

Notebooks that no agent has changed cost nothing: without a record nothing is asked, and without
changes nothing is sent.
"""

from __future__ import annotations

import asyncio
import os.path
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .tabs import Tab, TabGone, TabRefused, Tabs, TabSilent, real_path, workspace_path

if TYPE_CHECKING:
    from .host import ServerHost


class CellMarks:
    def __init__(self, tabs: Tabs, root: str, host: ServerHost) -> None:
        self._tabs = tabs
        self._root = os.path.realpath(root)
        self._host = host
        self._telling: set[asyncio.Task[None]] = set()

    def __call__(self, event: Any) -> None:
        """Observe events, from any thread."""
        loop = self._tabs.loop
        if event.type == "cell-changed" and loop is not None:
            notebook: str = event.data.notebook
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(lambda: self._start(self._tell_all(notebook)))

    def opened(self, tab: Tab, paths: Iterable[str]) -> None:
        for path in paths:
            self._start(self._tell_first(tab, path))

    def _start(self, telling: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(telling)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell_first(self, tab: Tab, path: str) -> None:
        await self._host.load()
        workspace = self._host.service.settings.workspace
        if changes := await self._changes(workspace_path(self._root, path, workspace)):
            await _tell(tab, path, changes)

    async def _tell_all(self, notebook: str) -> None:
        changes = await self._changes(notebook)
        file = real_path(self._host.service.settings.workspace, notebook)
        for tab, path in self._tabs.showing(file, self._root):
            self._start(_tell(tab, path, changes))

    async def _changes(self, notebook: str) -> list[dict[str, Any]]:
        async def stored() -> list[dict[str, Any]]:
            changes = self._host.service.journal.store.pending_cell_changes(notebook)
            return [change.model_dump(mode="json") for change in changes]

        return await self._host.thread.run(stored())


async def _tell(tab: Tab, path: str, changes: list[dict[str, Any]]) -> None:
    with suppress(TabGone, TabSilent, TabRefused):  # it is told again when it reopens the notebook
        await tab.ask("marks", path, changes=changes)
