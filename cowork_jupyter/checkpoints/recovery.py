"""Finishing the checkpoints of tools that were cut off, by a crash, a kill or a full disk.

What such a tool changed is what is different now from the state that was kept before it
ran. What others changed since then is different too. The system's clock on each file tells
what was changed while our process was still known to live; about all else the checkpoint
says that it is in doubt, and a rollback asks.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress

from ..domain.errors import CoworkError, NotFound
from ..store.connection import on_network
from .documents import OpenDocuments, captured
from .entries import Change, Uncovered
from .no_follow_fs import NoFollowFs
from .snapshot import Snapshot
from .store import WorkspaceState
from .unfinished import OpenCheckpoint, merged
from .writer import CheckpointWriter, Origin

logger = logging.getLogger(__name__)

CUT_OFF = (
    "the tool was interrupted, and this changed after its last sign of life, maybe by someone "
    "else: a rollback asks about it"
)
TICK = 20_000_000
"""Nanoseconds by which the clock on files may be behind."""
OTHER_RULES = (
    "this tool was interrupted, and checkpoint_exclude has changed since: some of its changes "
    "may be missing here"
)


class Recovery:
    """Looks after what was left unfinished in one workspace."""

    def __init__(self, writer: CheckpointWriter, documents: OpenDocuments) -> None:
        self._writer = writer
        self._lazy_store = writer.lazy_store
        self._documents = documents
        self._since = time.time_ns()
        self._work: asyncio.Task[None] | None = None

    def begin(self) -> asyncio.Task[None] | None:
        """Finish what processes that are gone left open; those of living ones are left alone."""
        if not self._lazy_store.is_empty and (self._work is None or self._work.done()):
            self._work = asyncio.create_task(self._finish_all())
        return self._work

    async def finish(self) -> None:
        """The same, and wait for it. It goes on to its end even if whoever waits is cancelled."""
        if work := self.begin():
            await asyncio.shield(work)

    async def close(self) -> None:
        """Wait until nothing is done any more."""
        if self._work:
            await asyncio.wait([self._work])

    async def _finish_all(self) -> None:
        try:
            unfinished = await self._lazy_store.ask(_claimed)
        except (OSError, sqlite3.Error, CoworkError):
            logger.exception("Cannot look for checkpoints that were left unfinished")
            return
        for checkpoint in unfinished:
            try:
                await self._finish(checkpoint)
            except (OSError, sqlite3.Error):
                logger.exception("Cannot finish the checkpoint of %s yet", checkpoint.facts["tool"])
                await self.release(checkpoint.id)
            except CoworkError:  # its contents are not kept any more, or we are closing
                logger.exception("Cannot finish the checkpoint of %s", checkpoint.facts["tool"])
                with suppress(CoworkError, sqlite3.Error):
                    await self._writer.drop(checkpoint.id)

    async def release(self, checkpoint_id: str) -> None:
        """Leave it to whoever can finish it, sooner or later."""
        try:
            await self._lazy_store.ask(lambda state: state.store.unfinished.release(checkpoint_id))
        except (OSError, sqlite3.Error, CoworkError):
            logger.exception("It is left to the next start")

    async def _finish(self, unfinished: OpenCheckpoint) -> None:
        origin = Origin.of(unfinished)
        before = self._since - TICK
        await self._lazy_store.ask(lambda state: _clear_away(state.fs, unfinished.changes, before))
        if unfinished.phase == "untold":
            missing = [Uncovered(path, why) for path, why in unfinished.facts["uncovered"]]
            await self._tell(unfinished, origin, missing)
            return
        changes, uncovered = await self._changes(unfinished)
        if not changes and OTHER_RULES not in {entry.why for entry in uncovered}:
            await self._writer.drop(unfinished.id)
            return
        doubted = await self._lazy_store.ask(
            lambda state: in_doubt(state.fs, changes, unfinished.alive)
        )
        said = [Uncovered(path, CUT_OFF) for path in doubted]
        place = (origin.context_id, origin.job_id, origin.task_id, origin.step_id)
        label = f"{origin.label} (interrupted)"
        cut_off = Origin(*place, origin.tool, label)
        await self._writer.record(
            cut_off, changes, [*said, *uncovered], unfinished.id, doubted=doubted
        )

    async def _tell(
        self, unfinished: OpenCheckpoint, origin: Origin, uncovered: list[Uncovered]
    ) -> None:
        """All is stored; it may even have been announced already."""
        try:
            self._writer.journal.store.checkpoint(unfinished.id)
        except NotFound:
            await self._writer.tell(unfinished.id, origin, unfinished.changes, uncovered)
        else:
            await self._lazy_store.ask(
                lambda state: state.store.unfinished.mark_finished(unfinished.id)
            )

    async def _changes(self, unfinished: OpenCheckpoint) -> tuple[list[Change], list[Uncovered]]:
        if unfinished.phase == "paths":
            found = await captured(
                self._lazy_store, self._documents, [change.path for change in unfinished.changes]
            )
            now = [
                Change(change.path, change.after, found.get(change.path))
                for change in unfinished.changes
            ]
            return merged((*unfinished.changes, *now)), []

        def scanned(state: WorkspaceState) -> tuple[Snapshot, bool, list[Change]]:
            snapshot = state.scan(afresh=True)
            known = state.store.checkpoint(unfinished.id).changes
            return snapshot, state.number == unfinished.workspace, known

        snapshot, same_rules, changes = await self._lazy_store.ask(scanned)
        said = [] if same_rules else [Uncovered("everything", OTHER_RULES)]
        return changes, [*said, *snapshot.uncovered()]


def _claimed(state: WorkspaceState) -> list[OpenCheckpoint]:
    return state.store.unfinished.claimed(os.fsencode(state.root))


def _clear_away(fs: NoFollowFs, changes: Iterable[Change], before: int) -> None:
    """Files that were being written when the process ended, and have no name of their own yet."""
    if not on_network(fs.root):  # whose clock is another one
        for folder in {change.path.rpartition("/")[0] for change in changes}:
            fs.remove_leftovers(folder, before)


def in_doubt(fs: NoFollowFs, changes: Iterable[Change], alive: int) -> list[str]:
    """The paths of which it is not sure that they changed while our process lived."""
    if on_network(fs.root):
        return [change.path for change in changes]  # whose clock is another one
    return [
        change.path
        for change in changes
        if _is_from_a_tab(change) or _last_changed(fs, change.path) + TICK > alive
    ]


def _is_from_a_tab(change: Change) -> bool:
    """Whether a side of it is what a document in a browser held, of which no clock tells."""
    return any(
        entry and entry.kind == "file" and not entry.modified
        for entry in (change.before, change.after)
    )


def _last_changed(fs: NoFollowFs, path: str) -> int:
    """When what is at a path was changed; where nothing is any more, the folder it was in."""
    while path:
        facts = fs.stat(path)
        if facts:
            return max(facts.st_ctime_ns, facts.st_mtime_ns)
        path = path.rpartition("/")[0]
    facts = fs.root.stat()
    return max(facts.st_ctime_ns, facts.st_mtime_ns)
