"""Records every change of the workspace, data files included, and rolls it back."""

from __future__ import annotations

from dataclasses import dataclass

from ..domain.operations import Observe, ignore_operation
from ..domain.settings import Settings
from ..store import CheckpointRecord
from ..workspace import Workspace
from .entries import Change, FileEntry
from .lazy_store import LazyCheckpointStore, checkpoint_folder
from .recorder import Recorder, ToolUse
from .rollback import Scope
from .store import CheckpointStore, VerificationReport, verify
from .undo import Undo
from .views import (
    CellDiff,
    CheckpointDiff,
    CheckpointUse,
    Compare,
    DocumentChanged,
    FileDiff,
    NoDocuments,
    OpenDocuments,
    RollbackResult,
    Side,
)
from .writer import CheckpointJournal, CheckpointWriter

__all__ = [
    "CellDiff",
    "Change",
    "CheckpointDiff",
    "CheckpointUse",
    "Checkpoints",
    "DocumentChanged",
    "FileDiff",
    "FileEntry",
    "LazyCheckpointStore",
    "OpenDocuments",
    "Recorder",
    "RollbackResult",
    "Scope",
    "Side",
    "ToolUse",
    "checkpoint_folder",
    "create_checkpoints",
    "verify_checkpoints",
]


@dataclass(frozen=True)
class Checkpoints:
    """Of one workspace."""

    lazy_store: LazyCheckpointStore
    recorder: Recorder
    undo: Undo
    journal: CheckpointJournal

    async def finish_interrupted(self) -> Undo:
        """Record first what was cut off, so that it can be seen and rolled back, too."""
        await self.recorder.finish_interrupted()
        return self.undo

    async def listing(self, context_id: str) -> list[CheckpointRecord]:
        """Oldest first."""
        self.journal.store.context(context_id)
        await self.finish_interrupted()
        return self.journal.store.checkpoints(context_id)

    async def close(self) -> None:
        """Finishes what is being recorded."""
        await self.recorder.close()


def create_checkpoints(
    settings: Settings,
    journal: CheckpointJournal,
    compare: Compare,
    documents: OpenDocuments | None = None,
    observe: Observe = ignore_operation,
) -> Checkpoints:
    """Nothing is opened before it is needed."""
    lazy_store = LazyCheckpointStore(settings)
    writer = CheckpointWriter(lazy_store, journal, compare, documents or NoDocuments(), observe)
    recorder = Recorder(writer, Workspace(settings.workspace))
    return Checkpoints(lazy_store, recorder, Undo(writer), journal)


def verify_checkpoints(settings: Settings) -> VerificationReport:
    """Check all stored contents; blocks while it reads everything."""
    store = CheckpointStore(checkpoint_folder(settings))
    try:
        return verify(store)
    finally:
        store.close()
