"""Every change can be seen and taken back, data files included.

`Recorder` takes a checkpoint around each tool call, `Undo` shows and takes back what they
recorded, `LazyCheckpointStore` keeps the store. Others use what is named here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..domain.operations import Observe, ignore_operation
from ..domain.settings import Settings
from ..store import CheckpointRecord
from ..workspace import Workspace
from .documents import DocumentChanged, NoDocuments, OpenDocuments
from .entries import Change, FileEntry, Uncovered
from .housekeeping import Report, verify
from .lazy_store import FOLDER, LazyCheckpointStore
from .recorder import Recorder, ToolUse
from .rollback import Scope
from .store import CheckpointStore
from .undo import Undo
from .views import CellDiff, CheckpointDiff, CheckpointUse, Compare, FileDiff, RollbackResult, Side
from .writer import CheckpointJournal, CheckpointWriter

__all__ = [
    "CellDiff",
    "Change",
    "CheckpointDiff",
    "CheckpointUse",
    "Checkpoints",
    "Compare",
    "DocumentChanged",
    "FileDiff",
    "FileEntry",
    "LazyCheckpointStore",
    "OpenDocuments",
    "Recorder",
    "Report",
    "RollbackResult",
    "Scope",
    "Side",
    "ToolUse",
    "Uncovered",
    "Undo",
    "checkpoint_folder",
    "checkpoints_of",
    "verified",
]


@dataclass(frozen=True)
class Checkpoints:
    """All that has to do with checkpoints, for one workspace."""

    lazy_store: LazyCheckpointStore
    recorder: Recorder
    undo: Undo
    journal: CheckpointJournal

    async def finish_interrupted(self) -> Undo:
        """What can be seen and taken back, once all that was cut off is recorded too."""
        await self.recorder.finish_interrupted()
        return self.undo

    async def listing(self, context_id: str) -> list[CheckpointRecord]:
        """States of the workspace that one can go back to, oldest first."""
        self.journal.store.context(context_id)
        await self.finish_interrupted()
        return self.journal.store.checkpoints(context_id)

    async def close(self) -> None:
        """Finish what is being recorded, and let go of the store."""
        await self.recorder.close()


def checkpoints_of(
    settings: Settings,
    journal: CheckpointJournal,
    compare: Compare,
    documents: OpenDocuments | None = None,
    observe: Observe = ignore_operation,
) -> Checkpoints:
    """Put the parts together. Nothing is opened before it is needed."""
    documents = documents or NoDocuments()
    lazy_store = LazyCheckpointStore(settings)
    writer = CheckpointWriter(lazy_store, journal, compare, observe)
    recorder = Recorder(writer, Workspace(settings.workspace), documents)
    return Checkpoints(lazy_store, recorder, Undo(writer, documents), journal)


def verified(settings: Settings) -> Report:
    """Whether all that is kept is whole; reads everything, and blocks while it does."""
    store = CheckpointStore(checkpoint_folder(settings))
    try:
        return verify(store)
    finally:
        store.close()


def checkpoint_folder(settings: Settings) -> Path:
    """Where the store is."""
    return settings.data_dir / FOLDER
