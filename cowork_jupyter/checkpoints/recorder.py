"""A checkpoint around every tool call that can change something.

Tools that name their files get exactly those kept; everything else that can write gets a
scan of the workspace before and after. The work is done in threads. A tool whose
checkpoint cannot be taken does not run.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ..domain.errors import CoworkError, Unavailable
from ..domain.events import EventType
from ..domain.roles import Permission
from ..workspace import Workspace
from .documents import OpenDocuments
from .entries import Change, Entry, Uncovered, printable, same
from .exclude import inside_git
from .ledger import Ledger, Origin
from .snapshot import Snapshot
from .store import WorkspaceState

logger = logging.getLogger(__name__)

LONGEST_LABEL = 100
CACHES = frozenset(
    {"__pycache__", ".ipynb_checkpoints", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".cache"}
)
"""Left out by checkpoints, and missed by nobody: a card that names them every time tells less."""
MOST_AT_RISK = 20
_CHANGING = frozenset(Permission) - {Permission.READ_FILES}


@dataclass(frozen=True)
class ToolUse:
    """A call that is about to run."""

    context_id: str
    job_id: str | None
    task_id: str | None
    step_id: str | None
    tool: str
    permissions: frozenset[Permission]
    parameters: Mapping[str, Any]

    @property
    def origin(self) -> Origin:
        """What its checkpoint belongs to, with a label such as `update_file data/a.csv`."""
        about = next((str(one) for one in self.parameters.values() if one), "")
        label = f"{self.tool} {about}".strip().partition("\n")[0][:LONGEST_LABEL]
        place = (self.context_id, self.job_id, self.task_id, self.step_id)
        return Origin(*place, self.tool, label)


@dataclass(frozen=True)
class _Before:
    """The workspace before a call, as far as the call can change it: some paths, or all."""

    entries: dict[str, Entry | None]
    snapshot: Snapshot | None = None


class Recorder:
    """Takes checkpoints."""

    def __init__(self, ledger: Ledger, workspace: Workspace, documents: OpenDocuments) -> None:
        self._ledger = ledger
        self._shelf = ledger.shelf
        self._workspace = workspace
        self._documents = documents
        self._marked: set[str] = set()

    @asynccontextmanager
    async def around(self, use: ToolUse) -> AsyncIterator[None]:
        """Keep what the call may change, let it run, and record what it changed."""
        if not use.permissions & _CHANGING:
            yield
            return
        before = await self._before(use)
        try:
            yield
        finally:
            await _to_the_end(self._after(use, before))

    async def preview(self) -> list[Uncovered]:
        """What a command run now could change beyond recall; known before it runs."""
        snapshot = await self._shelf.ask(WorkspaceState.scan)
        return snapshot.uncovered()

    async def at_risk(self) -> list[str]:
        """The same in words, for the card that asks about a command."""
        try:
            found = await self.preview()
        except (OSError, sqlite3.Error) as error:
            return [f"everything (no checkpoint can be taken: {error})"]
        missed = [one for one in found if PurePosixPath(one.path).name not in CACHES]
        shown = [f"{printable(one.path)} ({one.why})" for one in missed[:MOST_AT_RISK]]
        more = len(missed) - len(shown)
        return [*shown, f"and {more:,} more"] if more else shown

    async def _before(self, use: ToolUse) -> _Before:
        try:
            paths = await asyncio.to_thread(self._named_paths, use)
            if paths is None:
                return _Before({}, await self._shelf.ask(WorkspaceState.scan))
            return _Before(await self._captured(paths))
        except (OSError, sqlite3.Error) as error:
            raise Unavailable(
                f"{use.tool} was not run, because no checkpoint can be taken: {error}. "
                "Make room on the disk, or lower Cowork.checkpoint_total_limit.",
                code="no_checkpoint",
                retryable=False,
            ) from error

    async def _after(self, use: ToolUse, before: _Before) -> None:
        try:
            changes, uncovered = await self._changes(before)
            if changes:
                await self._mark_job(use)
                await self._ledger.record(use.origin, changes, uncovered)
        except (OSError, sqlite3.Error, CoworkError) as error:
            logger.exception("No checkpoint of %s", use.tool)
            message = f"What {use.tool} changed could not be recorded: {error}"
            with self._ledger.journal.transaction() as tx:
                data = {"code": "no_checkpoint", "message": message}
                tx.append_event(use.context_id, EventType.NOTICE, data, use.job_id, use.task_id)

    async def _changes(self, before: _Before) -> tuple[list[Change], list[Uncovered]]:
        if before.snapshot is not None:
            first = before.snapshot
            after = await self._shelf.ask(WorkspaceState.scan)
            return await asyncio.to_thread(first.changes_until, after), after.uncovered()
        found = await self._captured(before.entries)
        changes = [
            Change(path, entry, found.get(path))
            for path, entry in sorted(before.entries.items())
            if not same(entry, found.get(path))
        ]
        lost = [
            Uncovered(one.path, one.before.why_not_kept)
            for one in changes
            if one.before and one.before.why_not_kept
        ]
        return changes, lost

    async def _captured(self, paths: Mapping[str, object] | list[str]) -> dict[str, Entry | None]:
        """What is at these paths; of open documents, what is in the tab."""
        entries = await self._shelf.ask(lambda state: state.capture(paths))
        for path, entry in list(entries.items()):
            if entry is None or entry.kind == "file":
                content = await self._documents.read_unsaved(path)
                if content is not None:
                    entries[path] = await self._kept(content, entry)
        return entries

    async def _kept(self, content: bytes, like: Entry | None) -> Entry:
        return await self._shelf.ask(lambda state: state.keep(content, like))

    def _named_paths(self, use: ToolUse) -> list[str] | None:
        """The files that a call names, wherever symlinks lead; None if it may change any."""
        if Permission.EXECUTE_COMMANDS in use.permissions:
            return None
        named = [
            value
            for name, value in use.parameters.items()
            if isinstance(value, str) and (name == "path" or name.endswith("_path"))
        ]
        return [path for one in named for path in self._places(one)] if named else None

    def _places(self, path: str) -> set[str]:
        found = set()
        for follow in (True, False):
            try:
                with self._workspace.locate(path, follow=follow) as place:
                    found.add(place.path)
            except CoworkError:
                continue  # the tool will say what is wrong with it
        return {one for one in found if one != "." and not inside_git(one)}

    async def _mark_job(self, use: ToolUse) -> None:
        """Before the first change of a job: the place from which all of it can be taken back."""
        if use.job_id is None or use.job_id in self._marked:
            return
        self._marked.add(use.job_id)
        store = self._ledger.journal.store
        if any(one.job_id == use.job_id for one in store.checkpoints(use.context_id)):
            return  # a job that was resumed has its mark
        goal = store.goal(use.context_id, use.job_id)
        text = goal.text.strip().partition("\n")[0] if goal else "this job"
        label = f"Before: {text}"[:LONGEST_LABEL]
        await self._ledger.record(Origin(use.context_id, use.job_id, label=label), [])


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Finish this even if whoever waits for it is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
