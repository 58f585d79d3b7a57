"""Data effects: what code did to tables, and what deserves a second look about it."""

from __future__ import annotations

from pydantic import BaseModel, JsonValue

from .data import Data


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
