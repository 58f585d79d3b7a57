"""A notebook as the tools see it, wherever it is kept: in a file, or in somebody's browser."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from ...domain.errors import Conflict, NotFound
from ...workspace import Workspace

CellType = Literal["code", "markdown", "raw"]
Outputs = tuple[Mapping[str, Any], ...]
"""Outputs as a notebook has them, shortened, see `outputs.shortened`."""
PRIVATE = "private"
"""The tag of cells that no model is told of."""


@dataclass(frozen=True)
class CellState:
    """One cell."""

    id: str
    cell_type: str
    source: str
    execution_count: int | None = None
    outputs: Outputs = ()
    tags: tuple[str, ...] = ()

    @property
    def is_private(self) -> bool:
        """Whether its author keeps it from models."""
        return PRIVATE in self.tags

    @property
    def fingerprint(self) -> str:
        """What an edit names to show that it knows the cell as it is."""
        text = f"{self.cell_type}\0{self.source}"
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


@dataclass(frozen=True)
class NotebookState:
    """All cells of a notebook, unsaved edits of an open tab included."""

    path: str
    """Where it really is, relative to the workspace."""
    cells: tuple[CellState, ...]
    language: str = ""
    is_open: bool = False
    """Whether a browser has it open."""
    unsaved: bool = False
    active: str | None = None
    """The cell that the user is in, where that can be known."""
    selected: str = ""
    """The text that they have selected in it."""
    cowork: Mapping[str, Any] = field(default_factory=dict)
    """What we keep in its metadata, under our name."""

    def without_private(self) -> NotebookState:
        """The notebook as models may know it."""
        kept = tuple(cell for cell in self.cells if not cell.is_private)
        if any(cell.id == self.active for cell in kept):
            return replace(self, cells=kept)
        return replace(self, cells=kept, active=None, selected="")

    def cell(self, cell_id: str) -> CellState:
        """The cell with this id."""
        return self.cells[self.index(cell_id)]

    def index(self, cell_id: str) -> int:
        """Where the cell with this id stands."""
        for index, cell in enumerate(self.cells):
            if cell.id == cell_id:
                return index
        raise no_such_cell(self.path, cell_id)

    def name_of(self, cell_id: str) -> str:
        """What people call the cell: by its place, as their notebook counts."""
        return f"cell {self.index(cell_id) + 1}"


@dataclass(frozen=True)
class Edit:
    """One change of one cell, or of what we keep in the notebook's metadata, to be carried out
    whole or not at all.
    """

    kind: Literal["insert", "edit", "move", "delete", "outputs", "metadata"]
    cell_id: str = ""
    """For an insertion: the id that the new cell gets."""
    after: str | None = None
    """The cell behind which it goes; None: to the top. For insertions and moves."""
    expected: str | None = None
    """The source that the cell must still have, for all that is not an insertion or a move."""
    source: str = ""
    cell_type: CellType = "code"
    outputs: tuple[Mapping[str, Any], ...] = ()
    """What came of running the cell."""
    execution_count: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What becomes of ours there; its other keys stay."""


@dataclass(frozen=True)
class Changed:
    """What became of an edit."""

    path: str
    cell_id: str
    is_open: bool = False
    unsaved: bool = False
    """Whether it stands in an open tab only, because that has unsaved edits of the user."""


class Notebooks(Protocol):
    """Whoever keeps the notebooks. Paths are looked up in the workspace that a call may see."""

    async def read(self, workspace: Workspace, path: str) -> NotebookState:
        """The notebook as it is now."""

    async def glance(self, workspace: Workspace, path: str) -> NotebookState | None:
        """The same if it can be had at once, with outputs only of the cell that the user is in."""

    async def outputs(self, workspace: Workspace, path: str, cell_id: str) -> Outputs:
        """What one cell has put out, its pictures whole as long as they are not too large."""

    async def change(
        self, workspace: Workspace, path: str, edit: Edit, *, under_open: bool = False
    ) -> Changed:
        """Carry out an edit; `Conflict` if the cell is not any more what the edit expects.

        `OpenElsewhere` if a program has the notebook open that we cannot reach, unless the user
        wants its file written all the same.
        """


class OpenElsewhere(Conflict):
    """A program without our extension has the notebook open: to write its file would lose what
    was typed there, or what we write.
    """

    code = "open_elsewhere"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"'{path}' is open in another program. Its file was not changed.",
            details={"notebook": path},
            advice="Do not try to write it in another way. The user sees on the card what you "
            "wanted to change, and can do it there; go on without it.",
        )


def no_such_cell(path: str, cell_id: str) -> NotFound:
    """Said to who names a cell that is not there."""
    return NotFound(
        f"'{path}' has no cell '{cell_id}'. Read the notebook again with "
        "read_notebook. Nothing was changed.",
        code="no_such_cell",
    )


def stale(path: str, cell: CellState) -> Conflict:
    """Said to who wants to change a cell as it was, with what it is now."""
    return Conflict(
        f"Cell '{cell.id}' of '{path}' has changed since you read it. Nothing was changed. "
        f"It is now a {cell.cell_type} cell with fingerprint {cell.fingerprint} and this "
        f"source:\n{cell.source}",
        code="stale_cell",
        details={"cell_id": cell.id, "fingerprint": cell.fingerprint, "source": cell.source},
    )
