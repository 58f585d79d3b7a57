"""What hosts see of checkpoints, and what they provide: open documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from pydantic import BaseModel

from ..domain.errors import Conflict
from .entries import Change

Read = Callable[[bytes, int], bytes | None]
"""Takes a digest and a maximal size; None if the content is larger."""
DiffKind = Literal["text", "notebook", "table", "binary", "link", "folder"]
Status = Literal["added", "changed", "removed"]
CellStatus = Literal["added", "changed", "removed", "moved"]


class Side(BaseModel):
    """One side of a comparison."""

    size: int
    sha256: str | None
    mode: str
    target: str | None = None
    columns: list[str] | None = None
    """Of a table, where that is cheap to know."""
    rows: int | None = None
    not_kept: str = ""


class CellDiff(BaseModel):
    """What happened to one cell of a notebook."""

    id: str
    number: int = 0
    """Its place as people count, where it is now; of a removed cell, where it was."""
    status: CellStatus
    cell_type: str
    diff: str = ""
    outputs: str = ""
    """What its outputs were and are, in a few words."""


class FileDiff(BaseModel):
    """What happened to one file."""

    path: str
    status: Status
    kind: DiffKind
    added: int | None = None
    """Lines; None where there are none to count."""
    removed: int | None = None
    diff: str | None = None
    """Unified, as far as it is not too long; None where there is nothing to read."""
    cut: bool = False
    why: str | None = None
    """Why there is nothing to read."""
    before: Side | None = None
    after: Side | None = None
    cells: list[CellDiff] = []


Compare = Callable[[Change, Read], FileDiff]


class CheckpointDiff(BaseModel):
    """What one checkpoint, or several together, changed."""

    items: list[FileDiff]
    next: None = None
    added: int
    removed: int
    left_out: int = 0
    """Files beyond those that are shown."""


class SkippedCell(BaseModel):
    """A cell that both the agent and someone else changed."""

    cell_id: str
    number: int | None
    """Where it stands now, counted from 1; None if it was deleted."""
    before: str | None
    """Its text before the agent came; None if the agent inserted it."""
    now: str | None
    """Its text now; None if it was deleted."""


class Skipped(BaseModel):
    """A path that a rollback leaves as it is."""

    path: str
    why: str
    can_overwrite: bool = False
    """Whether it is taken back all the same if `overwrite` names it. What is there now is then
    in the rollback's own checkpoint, so that this can be undone."""
    cells: list[SkippedCell] = []
    """Of a notebook that goes back by its cells: those that stay, unless `overwrite_cells`
    names them."""

    @property
    def words(self) -> str:
        """What stays: the path, or its cells."""
        names = [f"cell {cell.number}" if cell.number else "a deleted cell" for cell in self.cells]
        return f"{', '.join(names)} of {self.path}" if names else self.path


class RollbackResult(BaseModel):
    """What a rollback did, or would do."""

    restored: list[str]
    removed: list[str]
    skipped: list[Skipped]
    """What stays as it is."""
    partly: list[Skipped] = []
    """Notebooks that are restored except for some cells."""
    checkpoint_id: str | None
    """By which the rollback itself can be taken back; None if nothing was done."""
    dry_run: bool = False
    notes: list[str] = []
    preview: str = ""
    """Stands for all that happens, so that a rollback can be bound to what was looked at."""


class CheckpointUse(BaseModel):
    """How much the checkpoints of all conversations take."""

    bytes: int
    limit: int
    """Beyond which the oldest are dropped."""
    oldest: str | None = None
    """When the oldest that is kept was taken."""


class DocumentChanged(Conflict):
    """An open document does not hold what it was expected to; nothing was written."""

    code = "document_changed"
    retryable = True


class OpenDocuments(Protocol):
    """Documents that are open in a browser; by default, none."""

    def is_open(self, path: str) -> bool:  # noqa: ARG002
        return False

    async def read_unsaved(self, path: str) -> bytes | None:  # noqa: ARG002
        """What the file would hold if it were saved now; None if it is not open, or is saved."""
        return None

    async def write(self, path: str, present: bytes | None, content: bytes) -> bool:  # noqa: ARG002
        """Change the open document to this content, without touching what stays the same.

        Returns False if it is not open. Raises `DocumentChanged` if it does not hold `present`.
        """
        return False

    async def is_open_elsewhere(self, path: str) -> bool:  # noqa: ARG002
        """Whether a program that cannot be notified of a change has it open."""
        return False


class NoDocuments(OpenDocuments):
    pass
