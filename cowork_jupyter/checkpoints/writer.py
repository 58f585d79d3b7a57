"""Writing a checkpoint down, in the store and in the record, and making it known."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from ..domain.errors import NotFound
from ..domain.events import CheckpointCreated
from ..domain.identity import new_id, now
from ..domain.operations import CheckpointTaken, Observe, ignore_operation
from ..domain.redaction import without_surrogates
from ..store import CheckpointRecord, Store, Transaction
from .entries import Change, FileEntry, Uncovered
from .lazy_store import LazyCheckpointStore
from .store import WorkspaceState
from .unfinished import OpenCheckpoint, Phase, UnfinishedNote
from .views import Compare, Facts

MAX_LABEL_LENGTH = 100
MAX_FILES = 1000
"""Files that a checkpoint lists; the store has all of them."""
MAX_UNCOVERED = 200
MAX_COUNTED = 100
"""Files whose lines are counted when the checkpoint is taken."""
MAX_COUNTED_SIZE = 1024 * 1024
TIDY_EVERY = 50

_EMPTY: Facts = {"label": "", "tool": None, "step_id": None, "files": [], "uncovered": []}


class CheckpointJournal(Protocol):
    """Where checkpoints are made known: the bus, as far as it is needed here."""

    @property
    def store(self) -> Store:
        """The record."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Changes whose events are shown once they are stored."""


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
    """The jobs whose work a rollback has taken back."""
    is_undo: bool = False
    """Whether that rollback was undone by this one."""

    @classmethod
    def of(cls, unfinished: OpenCheckpoint) -> Origin:
        """Of a checkpoint that was left unfinished."""
        said = (unfinished.facts["step_id"], unfinished.facts["tool"], unfinished.facts["label"])
        return cls(unfinished.context_id, unfinished.job_id, unfinished.task_id, *said)

    def facts(self, uncovered: Sequence[Uncovered] = ()) -> Facts:
        """What is kept beside an unfinished checkpoint, to be said when it is finished."""
        missing = [[entry.path, entry.why] for entry in uncovered]
        said = {"step_id": self.step_id, "tool": self.tool, "label": self.label}
        return {**said, "uncovered": missing}


class CheckpointWriter:
    """Writes checkpoints down."""

    def __init__(
        self,
        lazy_store: LazyCheckpointStore,
        journal: CheckpointJournal,
        compare: Compare,
        observe: Observe = ignore_operation,
    ) -> None:
        self.lazy_store = lazy_store
        self.journal = journal
        self.compare = compare
        self.observe = observe
        self._taken = 0

    async def open(
        self, checkpoint_id: str, origin: Origin, states: Mapping[str, FileEntry | None] | None
    ) -> None:
        """Write down that a tool will run, and what it may change: these paths, or anything.

        Whatever ends this process from now on, what the tool has done by then will be found.
        """
        changes = [Change(path, entry, entry) for path, entry in (states or {}).items()]

        def write(state: WorkspaceState) -> None:
            store = state.store
            place = (origin.context_id, state.root, changes, origin.job_id, origin.task_id)
            phase: Phase = "scan" if states is None else "paths"
            number = state.number if states is None else None
            store.record(checkpoint_id, *place, note=UnfinishedNote(phase, origin.facts(), number))

        await self.lazy_store.ask(write)

    async def drop(self, checkpoint_id: str) -> None:
        """The tool changed nothing."""
        await self.lazy_store.ask(lambda state: state.store.drop(checkpoint_id))

    async def store(
        self,
        origin: Origin,
        changes: list[Change],
        checkpoint_id: str | None = None,
        uncovered: Sequence[Uncovered] = (),
        *,
        doubted: Iterable[str] = (),
    ) -> str:
        """Store what changed, before it is announced; gives the checkpoint's id.

        Its place is after all that were stored before, also if it was opened before them.
        """
        made = checkpoint_id or new_id("cp")

        def write(state: WorkspaceState) -> None:
            store = state.store
            place = (origin.context_id, state.root, changes, origin.job_id, origin.task_id)
            note = UnfinishedNote("untold", origin.facts(uncovered))
            store.record(made, *place, doubted=doubted, note=note)

        await self.lazy_store.ask(write)
        return made

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
        """Store a checkpoint, for which so many seconds were spent before, and announce it."""
        began = time.monotonic() - spent
        missing = list(islice(uncovered, MAX_UNCOVERED))
        made = await self.store(origin, changes, checkpoint_id, missing, doubted=doubted)
        await self.tell(made, origin, changes, missing)
        kept = (len(changes), sum(map(_kept_bytes, changes)), time.monotonic() - began)
        self.observe(CheckpointTaken(made, *kept, origin.job_id))
        self._taken += 1
        if self._taken % TIDY_EVERY == 0:
            await self.tidy()
        return made

    async def tell(
        self,
        checkpoint_id: str,
        origin: Origin,
        changes: list[Change],
        uncovered: Iterable[Uncovered],
    ) -> None:
        """Announce a stored checkpoint; one whose conversation is gone by now goes too."""
        files = await self.lazy_store.ask(lambda _: self._listed(changes))
        missing = [
            {"path": without_surrogates(entry.path), "why": entry.why} for entry in uncovered
        ]
        try:
            self._announce(checkpoint_id, origin, files, missing)
        except NotFound:
            await self.drop(checkpoint_id)
        else:
            await self.lazy_store.ask(
                lambda state: state.store.unfinished.mark_finished(checkpoint_id)
            )

    async def tidy(self) -> None:
        """Drop what is past the limit, from the store and from the record."""
        dropped = await self.lazy_store.tidy()
        if dropped:
            with self.journal.transaction() as tx:
                tx.delete_checkpoints(dropped)

    def _announce(
        self, made: str, origin: Origin, files: list[Facts], uncovered: list[Facts]
    ) -> None:
        facts = {
            **_EMPTY,
            "label": origin.label,
            "tool": origin.tool,
            "step_id": origin.step_id,
            "files": files,
            "uncovered": uncovered,
        }
        at = now()
        record = CheckpointRecord(
            id=made,
            context_id=origin.context_id,
            job_id=origin.job_id,
            task_id=origin.task_id,
            data={**facts, "reverts": list(origin.reverts), "is_undo": origin.is_undo},
            created_at=at,
        )
        created = CheckpointCreated(id=made, created_at=at, **facts)
        with self.journal.transaction() as tx:
            tx.save_checkpoint(record)
            tx.append_event(origin.context_id, created, origin.job_id, origin.task_id)

    def _listed(self, changes: list[Change]) -> list[Facts]:
        """The files of a checkpoint, as the contract shows them."""
        files: list[Facts] = []
        for number, change in enumerate(changes[:MAX_FILES]):
            diff = self.compare(change, self._read) if number < MAX_COUNTED else None
            files.append(
                {
                    "path": without_surrogates(change.path),
                    "change": change.kind,
                    "added": diff.added if diff else None,
                    "removed": diff.removed if diff else None,
                }
            )
        return files

    def _read(self, digest: bytes, most: int) -> bytes | None:
        """No long reading while an agent waits."""
        return self.lazy_store.read(digest, min(most, MAX_COUNTED_SIZE))


def _kept_bytes(change: Change) -> int:
    """What there is to keep of a file, before and after."""
    return sum(entry.size for entry in (change.before, change.after) if entry and entry.digest)
