"""Writes checkpoints to the store and the record, also those of tools that were interrupted.

What an interrupted tool changed is what differs now from the state stored before it ran, and so
does what others changed since then. The times of each file tell what was changed while the
tool's process was known to live; all else is marked as doubted, and a rollback asks about it.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from ..domain.errors import CoworkError, NotFound
from ..domain.events import CheckpointCreated
from ..domain.identity import now
from ..domain.operations import CheckpointTaken, Observe, ignore_operation
from ..domain.redaction import without_surrogates
from ..store import CheckpointRecord, Store, Transaction
from ..store.database import on_network
from .entries import Change, FileEntry, Uncovered, merge_changes
from .lazy_store import LazyCheckpointStore
from .no_follow_fs import NoFollowFs
from .store import Checkpoint, Phase, UnfinishedCheckpoint, tidy
from .views import Compare, OpenDocuments
from .workspace_state import WorkspaceState

logger = logging.getLogger(__name__)

MAX_LABEL_LENGTH = 100
MAX_FILES = 1000
"""Listed in the record; the store has all of them."""
MAX_UNCOVERED = 200
MAX_COUNTED = 100
"""Files whose changed lines are counted when the checkpoint is taken."""
MAX_COUNTED_SIZE = 1024 * 1024
TIDY_EVERY = 50
CUT_OFF = (
    "the tool was interrupted, and this changed after its last sign of life, maybe by someone "
    "else: a rollback asks about it"
)
OTHER_RULES = (
    "this tool was interrupted, and checkpoint_exclude has changed since: some of its changes "
    "may be missing here"
)
TICK = 20_000_000
"""Nanoseconds by which the times of files may lag behind the clock."""


class CheckpointJournal(Protocol):
    """The part of the bus that checkpoints need."""

    @property
    def store(self) -> Store: ...

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Events are published once they are stored."""


class CheckpointWriter:
    def __init__(
        self,
        lazy_store: LazyCheckpointStore,
        journal: CheckpointJournal,
        compare: Compare,
        documents: OpenDocuments,
        observe: Observe = ignore_operation,
    ) -> None:
        self.lazy_store = lazy_store
        self.journal = journal
        self.compare = compare
        self.documents = documents
        self.observe = observe
        self._taken = 0

    async def capture(self, paths: Iterable[str]) -> dict[str, FileEntry | None]:
        """Store what is at these paths; of open documents, what is in the tab."""
        entries = await self.lazy_store.run(lambda state: state.capture(paths))
        for path, entry in list(entries.items()):
            if entry is None or entry.kind == "file":
                content = await self.documents.read_unsaved(path)
                if content is not None:
                    store = partial(WorkspaceState.store_content, content=content, like=entry)
                    entries[path] = await self.lazy_store.run(store)
        return entries

    async def store(self, checkpoint: Checkpoint, phase: Phase = "untold") -> None:
        """Store a checkpoint without announcing it.

        With another phase, its tool will run now: however this process ends from here on, what the
        tool has done by then will be found.
        """

        def write(state: WorkspaceState) -> None:
            workspace = state.id if phase == "scan" else None
            state.store.record(checkpoint, state.root, phase, workspace)

        await self.lazy_store.run(write)

    async def find_changes(
        self, checkpoint: Checkpoint, phase: Phase, *, reload: bool = False
    ) -> Checkpoint:
        """The checkpoint with all that is different now from before its tool ran."""
        if phase == "paths":
            entries = await self.capture(change.path for change in checkpoint.changes)
            changes = merge_changes(
                replace(change, after=entries[change.path]) for change in checkpoint.changes
            )
            lost = [
                Uncovered(change.path, change.before.why_not_kept)
                for change in changes
                if change.before and change.before.why_not_kept
            ]
            return replace(checkpoint, changes=changes, uncovered=lost)

        def scan(state: WorkspaceState) -> Checkpoint:
            """What this scan, and those since the checkpoint was stored, found different."""
            uncovered = state.scan(reload=reload).uncovered()
            changes = state.store.checkpoint(checkpoint.id).changes
            made = {change.path for change in changes if change.after and change.after.identity[0]}
            uncovered = [missed for missed in uncovered if missed.path.rstrip("/") not in made]
            return replace(checkpoint, changes=changes, uncovered=uncovered)

        return await self.lazy_store.run(scan)

    async def drop(self, checkpoint_id: str) -> None:
        await self.lazy_store.run(lambda state: state.store.drop(checkpoint_id))

    async def record(self, checkpoint: Checkpoint, *, spent: float = 0.0) -> None:
        """Store a checkpoint and announce it; `spent` are the seconds it has taken before."""
        began = time.monotonic() - spent
        checkpoint = replace(checkpoint, uncovered=checkpoint.uncovered[:MAX_UNCOVERED])
        await self.store(checkpoint)
        await self.announce(checkpoint)
        size = sum(
            entry.size
            for change in checkpoint.changes
            for entry in (change.before, change.after)
            if entry and entry.digest
        )
        duration = time.monotonic() - began
        count = len(checkpoint.changes)
        self.observe(CheckpointTaken(checkpoint.id, count, size, duration, checkpoint.job_id))
        self._taken += 1
        if self._taken % TIDY_EVERY == 0:
            await self.tidy()

    async def announce(self, checkpoint: Checkpoint) -> None:
        """Finish a stored checkpoint; it is dropped if its conversation was deleted meanwhile."""
        files = await self.lazy_store.run(lambda _: self._list_files(checkpoint.changes))
        facts: dict[str, Any] = {
            "label": checkpoint.label,
            "tool": checkpoint.tool,
            "step_id": checkpoint.step_id,
            "files": files,
            "uncovered": [
                {"path": without_surrogates(path), "why": why} for path, why in checkpoint.uncovered
            ],
        }
        context_id, job_id, task_id = checkpoint.context_id, checkpoint.job_id, checkpoint.task_id
        at = now()
        record = CheckpointRecord(
            id=checkpoint.id,
            context_id=context_id,
            job_id=job_id,
            task_id=task_id,
            data={**facts, "reverts": checkpoint.reverts, "is_undo": checkpoint.is_undo},
            created_at=at,
        )
        created = CheckpointCreated(id=checkpoint.id, created_at=at, **facts)
        try:
            with self.journal.transaction() as tx:
                tx.save_checkpoint(record)
                tx.append_event(context_id, created, job_id, task_id)
        except NotFound:
            await self.drop(checkpoint.id)
        else:
            await self.lazy_store.run(lambda state: state.store.mark_finished(checkpoint.id))

    def _list_files(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        def read(digest: bytes, max_size: int) -> bytes | None:
            return self.lazy_store.read(digest, min(max_size, MAX_COUNTED_SIZE))

        files: list[dict[str, Any]] = []
        for number, change in enumerate(changes[:MAX_FILES]):
            diff = self.compare(change, read) if number < MAX_COUNTED else None
            files.append(
                {
                    "path": without_surrogates(change.path),
                    "change": change.kind,
                    "added": diff.added if diff else None,
                    "removed": diff.removed if diff else None,
                }
            )
        return files

    async def tidy(self) -> None:
        """Drop what is beyond the limit, from the store and from the record."""
        dropped = await self.lazy_store.run(lambda state: tidy(state.store))
        if dropped:
            with self.journal.transaction() as tx:
                tx.delete_checkpoints(dropped)


class Recovery:
    """Finishes the checkpoints of tools that were cut off by a crash, a kill or a full disk."""

    def __init__(self, writer: CheckpointWriter) -> None:
        self._writer = writer
        self._lazy_store = writer.lazy_store
        self._since = time.time_ns()
        self._work: asyncio.Task[None] | None = None

    def begin(self) -> asyncio.Task[None] | None:
        """Finish in the background what dead processes left, and leave living ones alone."""
        if not self._lazy_store.is_empty and (self._work is None or self._work.done()):
            self._work = asyncio.create_task(self._finish_all())
        return self._work

    async def finish(self) -> None:
        """The same, and wait for it. It continues if the caller is cancelled."""
        if work := self.begin():
            await asyncio.shield(work)

    async def close(self) -> None:
        if self._work:
            await asyncio.wait([self._work])

    async def release(self, checkpoint_id: str) -> None:
        """Leave it to whoever can finish it, sooner or later."""
        try:
            await self._lazy_store.run(lambda state: state.store.release(checkpoint_id))
        except (OSError, sqlite3.Error, CoworkError):
            logger.exception("It is left to the next start")

    async def _finish_all(self) -> None:
        try:
            claimed = await self._lazy_store.run(
                lambda state: state.store.claim_unfinished(state.root)
            )
        except (OSError, sqlite3.Error, CoworkError):
            logger.exception("Cannot look for checkpoints that were left unfinished")
            return
        for unfinished in claimed:
            checkpoint_id, tool = unfinished.checkpoint.id, unfinished.checkpoint.tool
            try:
                await self._finish(unfinished)
            except (OSError, sqlite3.Error):
                logger.exception("Cannot finish the checkpoint of %s yet", tool)
                await self.release(checkpoint_id)
            except CoworkError:  # its contents are not kept any more, or we are closing
                logger.exception("Cannot finish the checkpoint of %s", tool)
                with suppress(CoworkError, sqlite3.Error):
                    await self._writer.drop(checkpoint_id)

    async def _finish(self, unfinished: UnfinishedCheckpoint) -> None:
        checkpoint = unfinished.checkpoint
        before = self._since - TICK
        await self._lazy_store.run(
            lambda state: _remove_leftovers(state.fs, checkpoint.changes, before)
        )
        if unfinished.phase == "untold":
            await self._announce(checkpoint)
            return
        scanned = await self._writer.find_changes(checkpoint, unfinished.phase, reload=True)
        uncovered = list(scanned.uncovered)
        if unfinished.workspace not in (None, self._lazy_store.state.id):
            uncovered.insert(0, Uncovered("everything", OTHER_RULES))
        elif not scanned.changes:
            await self._writer.drop(checkpoint.id)
            return
        doubted = await self._lazy_store.run(
            lambda state: _doubted(state.fs, scanned.changes, unfinished.alive)
        )
        interrupted = replace(
            scanned,
            label=f"{scanned.label} (interrupted)",
            doubted=doubted,
            uncovered=[*(Uncovered(path, CUT_OFF) for path in doubted), *uncovered],
        )
        await self._writer.record(interrupted)

    async def _announce(self, checkpoint: Checkpoint) -> None:
        """All is stored; it may even have been announced already."""
        try:
            self._writer.journal.store.checkpoint(checkpoint.id)
        except NotFound:
            await self._writer.announce(checkpoint)
        else:
            await self._lazy_store.run(lambda state: state.store.mark_finished(checkpoint.id))


def _remove_leftovers(fs: NoFollowFs, changes: Iterable[Change], before: int) -> None:
    """Remove the temporary files of writes that the end of the process cut off."""
    if not on_network(fs.root):  # where the times are those of another clock
        for folder in {change.path.rpartition("/")[0] for change in changes}:
            fs.remove_leftovers(folder, before)


def _doubted(fs: NoFollowFs, changes: Iterable[Change], alive: int) -> list[str]:
    """The paths that may have changed after our process was last known to live."""
    if on_network(fs.root):  # where the times are those of another clock
        return [change.path for change in changes]
    return [
        change.path
        for change in changes
        if _is_from_a_tab(change) or _last_changed(fs, change.path) + TICK > alive
    ]


def _is_from_a_tab(change: Change) -> bool:
    """Whether a side is the unsaved content of an open document, which has no time."""
    return any(
        entry and entry.kind == "file" and not entry.modified
        for entry in (change.before, change.after)
    )


def _last_changed(fs: NoFollowFs, path: str) -> int:
    """Of what is at a path; where nothing is any more, of the folder it was in."""
    facts = None
    while path and facts is None:
        facts = fs.stat(path)
        path = path.rpartition("/")[0]
    facts = facts or fs.root.stat()
    return max(facts.st_ctime_ns, facts.st_mtime_ns)
