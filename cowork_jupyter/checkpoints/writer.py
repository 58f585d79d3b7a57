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
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Protocol

from ..domain.errors import CoworkError, NotFound
from ..domain.events import CheckpointCreated
from ..domain.identity import new_id, now
from ..domain.operations import CheckpointTaken, Observe, ignore_operation
from ..domain.redaction import without_surrogates
from ..store import CheckpointRecord, Store, Transaction
from ..store.connection import on_network
from .entries import Change, FileEntry, Uncovered, merge_changes
from .housekeeping import LazyCheckpointStore, tidy
from .no_follow_fs import NoFollowFs
from .store import OpenCheckpoint, Phase
from .views import Compare, Facts, OpenDocuments
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


@dataclass(frozen=True)
class Origin:
    """What a checkpoint belongs to."""

    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    step_id: str | None = None
    tool: str | None = None
    label: str = ""
    reverts: tuple[str, ...] = ()
    """The jobs whose work a rollback has reverted."""
    is_undo: bool = False
    """Whether this reverts a rollback."""


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

    async def open(
        self, checkpoint_id: str, origin: Origin, states: Mapping[str, FileEntry | None] | None
    ) -> None:
        """Write that a tool will run, and what it may change: these paths, or (None) anything.

        However this process ends from now on, what the tool has done by then will be found.
        """
        changes = [Change(path, entry, entry) for path, entry in (states or {}).items()]
        phase: Phase = "scan" if states is None else "paths"
        await self.store(origin, changes, checkpoint_id, phase=phase)

    async def store(
        self,
        origin: Origin,
        changes: list[Change],
        checkpoint_id: str | None = None,
        uncovered: Sequence[Uncovered] = (),
        *,
        doubted: Iterable[str] = (),
        phase: Phase = "untold",
    ) -> str:
        """Store a checkpoint without announcing it; returns its id."""
        made = checkpoint_id or new_id("cp")
        facts: Facts = {
            "step_id": origin.step_id,
            "tool": origin.tool,
            "label": origin.label,
            "uncovered": [[entry.path, entry.why] for entry in uncovered],
        }

        def write(state: WorkspaceState) -> None:
            state.store.record(
                *(made, origin.context_id, state.root, changes, origin.job_id, origin.task_id),
                doubted=doubted,
                phase=phase,
                facts=facts,
                workspace=state.id if phase == "scan" else None,
            )

        await self.lazy_store.run(write)
        return made

    async def drop(self, checkpoint_id: str) -> None:
        await self.lazy_store.run(lambda state: state.store.drop(checkpoint_id))

    async def record(
        self,
        origin: Origin,
        changes: list[Change],
        uncovered: Iterable[Uncovered] = (),
        checkpoint_id: str | None = None,
        *,
        doubted: Iterable[str] = (),
        spent: float = 0.0,
    ) -> str:
        """Store a checkpoint and announce it; `spent` are the seconds it has taken before."""
        began = time.monotonic() - spent
        uncovered = list(islice(uncovered, MAX_UNCOVERED))
        made = await self.store(origin, changes, checkpoint_id, uncovered, doubted=doubted)
        await self.announce(made, origin, changes, uncovered)
        size = sum(
            entry.size
            for change in changes
            for entry in (change.before, change.after)
            if entry and entry.digest
        )
        duration = time.monotonic() - began
        self.observe(CheckpointTaken(made, len(changes), size, duration, origin.job_id))
        self._taken += 1
        if self._taken % TIDY_EVERY == 0:
            await self.tidy()
        return made

    async def announce(
        self,
        checkpoint_id: str,
        origin: Origin,
        changes: list[Change],
        uncovered: Iterable[Uncovered],
    ) -> None:
        """Finish a stored checkpoint; it is dropped if its conversation was deleted meanwhile."""
        files = await self.lazy_store.run(lambda _: self._list_files(changes))
        facts: Facts = {
            "label": origin.label,
            "tool": origin.tool,
            "step_id": origin.step_id,
            "files": files,
            "uncovered": [
                {"path": without_surrogates(entry.path), "why": entry.why} for entry in uncovered
            ],
        }
        at = now()
        record = CheckpointRecord(
            id=checkpoint_id,
            context_id=origin.context_id,
            job_id=origin.job_id,
            task_id=origin.task_id,
            data={**facts, "reverts": list(origin.reverts), "is_undo": origin.is_undo},
            created_at=at,
        )
        created = CheckpointCreated(id=checkpoint_id, created_at=at, **facts)
        try:
            with self.journal.transaction() as tx:
                tx.save_checkpoint(record)
                tx.append_event(origin.context_id, created, origin.job_id, origin.task_id)
        except NotFound:
            await self.drop(checkpoint_id)
        else:
            await self.lazy_store.run(lambda state: state.store.mark_finished(checkpoint_id))

    def _list_files(self, changes: list[Change]) -> list[Facts]:
        def read(digest: bytes, max_size: int) -> bytes | None:
            return self.lazy_store.read(digest, min(max_size, MAX_COUNTED_SIZE))

        files: list[Facts] = []
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
            checkpoint_id, tool = unfinished.checkpoint.id, unfinished.facts["tool"]
            try:
                await self._finish(unfinished)
            except (OSError, sqlite3.Error):
                logger.exception("Cannot finish the checkpoint of %s yet", tool)
                await self.release(checkpoint_id)
            except CoworkError:  # its contents are not kept any more, or we are closing
                logger.exception("Cannot finish the checkpoint of %s", tool)
                with suppress(CoworkError, sqlite3.Error):
                    await self._writer.drop(checkpoint_id)

    async def _finish(self, unfinished: OpenCheckpoint) -> None:
        checkpoint, facts = unfinished.checkpoint, unfinished.facts
        place = (checkpoint.context_id, checkpoint.job_id, checkpoint.task_id)
        origin = Origin(*place, facts["step_id"], facts["tool"], facts["label"])
        before = self._since - TICK
        await self._lazy_store.run(
            lambda state: _remove_leftovers(state.fs, checkpoint.changes, before)
        )
        if unfinished.phase == "untold":
            await self._announce(unfinished, origin)
            return
        changes, uncovered = await self._changes(unfinished)
        if not changes and OTHER_RULES not in {entry.why for entry in uncovered}:
            await self._writer.drop(checkpoint.id)
            return
        doubted = await self._lazy_store.run(
            lambda state: _doubted(state.fs, changes, unfinished.alive)
        )
        uncovered = [*(Uncovered(path, CUT_OFF) for path in doubted), *uncovered]
        origin = replace(origin, label=f"{origin.label} (interrupted)")
        await self._writer.record(origin, changes, uncovered, checkpoint.id, doubted=doubted)

    async def _announce(self, unfinished: OpenCheckpoint, origin: Origin) -> None:
        """All is stored; it may even have been announced already."""
        checkpoint = unfinished.checkpoint
        try:
            self._writer.journal.store.checkpoint(checkpoint.id)
        except NotFound:
            uncovered = [Uncovered(path, why) for path, why in unfinished.facts["uncovered"]]
            await self._writer.announce(checkpoint.id, origin, checkpoint.changes, uncovered)
        else:
            await self._lazy_store.run(lambda state: state.store.mark_finished(checkpoint.id))

    async def _changes(self, unfinished: OpenCheckpoint) -> tuple[list[Change], list[Uncovered]]:
        checkpoint = unfinished.checkpoint
        if unfinished.phase == "paths":
            found = await self._writer.capture([change.path for change in checkpoint.changes])
            now_found = [
                Change(change.path, change.after, found.get(change.path))
                for change in checkpoint.changes
            ]
            return merge_changes((*checkpoint.changes, *now_found)), []

        def scan(state: WorkspaceState) -> tuple[list[Change], list[Uncovered]]:
            uncovered = state.scan(reload=True).uncovered()
            if state.id != unfinished.workspace:
                uncovered.insert(0, Uncovered("everything", OTHER_RULES))
            return state.store.checkpoint(checkpoint.id).changes, uncovered

        return await self._lazy_store.run(scan)


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
