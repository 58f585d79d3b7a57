"""A notebook as the tools see it, wherever it is kept: in a file, or in a browser."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from ...domain.errors import Conflict, NotFound
from ...workspace import Workspace

CellType = Literal["code", "markdown", "raw"]
Outputs = tuple[Mapping[str, Any], ...]
"""Outputs as in a notebook file, shortened by `outputs.shorten_output`."""
PRIVATE = "private"
"""Tag of cells that are kept from models."""


@dataclass(frozen=True)
class CellState:
    id: str
    cell_type: str
    source: str
    execution_count: int | None = None
    outputs: Outputs = ()
    tags: tuple[str, ...] = ()

    @property
    def is_private(self) -> bool:
        return PRIVATE in self.tags

    @property
    def fingerprint(self) -> str:
        """Edits name it to prove that they know the current cell."""
        text = f"{self.cell_type}\0{self.source}"
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


@dataclass(frozen=True)
class NotebookState:
    """Includes unsaved edits of an open tab."""

    path: str
    """Where it really is, relative to the workspace."""
    cells: tuple[CellState, ...]
    language: str = ""
    is_open: bool = False
    unsaved: bool = False
    active: str | None = None
    """The cell that the user is in, if known."""
    selected: str = ""
    cowork: Mapping[str, Any] = field(default_factory=dict)
    """Our entry in its metadata."""

    def without_private(self) -> NotebookState:
        """The notebook as models may see it."""
        kept = tuple(cell for cell in self.cells if not cell.is_private)
        if any(cell.id == self.active for cell in kept):
            return replace(self, cells=kept)
        return replace(self, cells=kept, active=None, selected="")

    def cell(self, cell_id: str) -> CellState:
        return self.cells[self.index(cell_id)]

    def index(self, cell_id: str) -> int:
        for index, cell in enumerate(self.cells):
            if cell.id == cell_id:
                return index
        raise no_such_cell(self.path, cell_id)

    def name_of(self, cell_id: str) -> str:
        """What people call the cell: counted from 1."""
        return f"cell {self.index(cell_id) + 1}"


@dataclass(frozen=True)
class Edit:
    """One atomic change of a cell, or of our entry in the notebook's metadata."""

    kind: Literal["insert", "edit", "move", "delete", "outputs", "metadata"]
    cell_id: str = ""
    """For an insertion: the id of the new cell."""
    after: str | None = None
    """Insertions and moves: the cell below which it goes; None for the top."""
    expected: str | None = None
    """Other kinds: the source that the cell must still have."""
    source: str = ""
    cell_type: CellType = "code"
    outputs: tuple[Mapping[str, Any], ...] = ()
    execution_count: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """New values for our entry; its other keys stay."""


@dataclass(frozen=True)
class EditResult:
    path: str
    cell_id: str
    is_open: bool = False
    unsaved: bool = False
    """Whether the change is in an open tab only, because that has unsaved edits of the user."""


class Notebooks(Protocol):
    """Where notebooks are kept. Paths are resolved in the workspace that a call may see."""

    async def read(self, workspace: Workspace, path: str) -> NotebookState: ...

    async def glance(self, workspace: Workspace, path: str) -> NotebookState | None:
        """The notebook if it is available at once; outputs only of the active cell."""

    async def outputs(self, workspace: Workspace, path: str, cell_id: str) -> Outputs:
        """Outputs of one cell, with whole pictures unless they are too large."""

    async def change(
        self, workspace: Workspace, path: str, edit: Edit, *, under_open: bool = False
    ) -> EditResult:
        """Carry out an edit; raises Conflict if the cell is no longer what the edit expects.

        Raises OpenElsewhere if a program has the notebook open that we cannot reach, unless
        `under_open`.
        """


class OpenElsewhere(Conflict):
    """A program without our extension has the notebook open: writing would lose edits."""

    code = "open_elsewhere"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"'{path}' is open in another program. Its file was not changed.",
            details={"notebook": path},
            advice="Do not write it another way. The card shows the user your change, and they "
            "can make it there; continue without it.",
        )


def no_such_cell(path: str, cell_id: str) -> NotFound:
    return NotFound(
        f"'{path}' has no cell '{cell_id}'. Read the notebook again with "
        "read_notebook. Nothing was changed.",
        code="no_such_cell",
    )


def stale_cell_error(path: str, cell: CellState) -> Conflict:
    return Conflict(
        f"Cell '{cell.id}' of '{path}' has changed since you read it. Nothing was changed. "
        f"It is now a {cell.cell_type} cell with fingerprint {cell.fingerprint} and this "
        f"source:\n{cell.source}",
        code="stale_cell",
        details={"cell_id": cell.id, "fingerprint": cell.fingerprint, "source": cell.source},
    )
