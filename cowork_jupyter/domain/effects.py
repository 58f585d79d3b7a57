"""What agents have done, and the code and commands they run: to cells, tables and start-up files.

There is one pending change per cell, from its text before the first edit to the text after the last
one, until the user decides about it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from .base_models import Data
from .identity import new_id, now


class FieldState(BaseModel):
    """Summary of one column."""

    name: str
    type: str
    missing: int = 0
    distinct: int | None = None
    """None if it was not counted."""
    low: JsonValue = None
    high: JsonValue = None
    total: float | None = None
    values: list[str] = []
    zone: str | None = None


class TableState(BaseModel):
    """Summary of a table in a kernel or in a file."""

    rows: int
    columns: int
    kind: str = ""
    """For example `pandas.DataFrame`, `numpy.ndarray` or `file`."""
    fields: list[FieldState] = []
    """Only the first ones of a wide table."""
    duplicates: int | None = None
    """Rows that repeat an earlier one; None if not counted."""
    sampled: bool = False
    """Whether the facts about fields come from some rows only."""

    def field(self, name: str) -> FieldState | None:
        return next((field for field in self.fields if field.name == name), None)


class DataWarning(BaseModel):
    """A fact about the data that its author may not have intended, never a guess."""

    code: str
    """Such as `join_multiplied_rows`; also used to silence it."""
    message: str
    line: int | None = None
    evidence: dict[str, JsonValue] = {}
    advice: str = ""


class DataEffect(Data):
    """What one run of code did to one table."""

    of: str
    """A variable's name, or `file:` and a path; empty for warnings about the code alone."""
    task_id: str | None = None
    call_id: str | None = None
    """None if the user ran the code."""
    notebook: str | None = None
    cell_id: str | None = None
    before: TableState | None = None
    """None if it did not exist."""
    after: TableState | None = None
    line: str = ""
    """For example `12,431 → 12,217 rows (−214), +1 column month`."""
    sampled: bool = False
    warnings: list[DataWarning] = []


CellDecision = Literal["accept", "revert"]


class CellText(BaseModel):
    """The content of a cell."""

    model_config = ConfigDict(frozen=True)

    cell_type: str
    source: str


class CellEdit(BaseModel):
    """What one tool call did to a cell."""

    notebook: str
    """Relative to the workspace."""
    cell_id: str
    before: CellText | None
    """None if the cell did not exist."""
    after: CellText | None
    """None if it was deleted."""
    moved: bool = False
    above: str | None = None
    """The cell it stood behind, if moved or deleted; None if it was the first."""


class CellChange(CellEdit):
    """What happened to a cell, and whether the user accepted it."""

    id: str = Field(default_factory=lambda: new_id("cc"))
    context_id: str
    job_id: str | None = None
    decision: CellDecision | None = None
    created_at: str = Field(default_factory=now)
    decided_at: str | None = None

    @property
    def is_nothing(self) -> bool:
        return self.before == self.after and not self.moved

    def decided(self, decision: CellDecision) -> CellChange:
        return self.model_copy(update={"decision": decision, "decided_at": now()})

    def followed_by(self, new: CellChange) -> list[CellChange]:
        """The changes to store when the cell is changed again.

        A user who edited it in between has decided: by going on from it they accepted the change,
        by putting the old text back they reverted it. Reverting the new change must then restore
        what they wrote.
        """
        if self.after != new.before:
            return [self.decided("revert" if self.before == new.before else "accept"), new]
        update = {"id": self.id, "before": self.before, "moved": self.moved or new.moved}
        if self.moved:
            update["above"] = self.above
        whole = new.model_copy(update=update)
        return [whole.decided("revert") if whole.is_nothing else whole]


class SetAside(Data):
    id: str = ""
    """To have back what was set aside; empty if nothing was."""
    paths: list[str] = []
    restored: list[str] = []
    """Have their former name or content again."""
    stuck: list[str] = []
    """Would run later, and could not be moved."""
    new: list[str] = []
    """Made where programs may run it later; not touched."""


class StillAside(BaseModel):
    path: str
    why: str


class BroughtBack(BaseModel):
    """What of the things that were set aside is in its place again."""

    restored: list[str] = []
    skipped: list[StillAside] = []
