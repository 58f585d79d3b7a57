"""Data effects: what code did to tables, and what deserves a second look about it."""

from __future__ import annotations

from pydantic import BaseModel, JsonValue

from .data import Data


class FieldState(BaseModel):
    """One column of a table, as it was when it was looked at."""

    name: str
    type: str
    missing: int = 0
    distinct: int | None = None
    """How many different values it has; None where that was not counted."""
    low: JsonValue = None
    high: JsonValue = None
    total: float | None = None
    """The sum of its numbers."""
    values: list[str] = []
    """All of its values, if they are few and short."""
    zone: str | None = None
    """The time zone of its times."""


class TableState(BaseModel):
    """A table as it was when it was looked at: in a kernel, or in a file."""

    rows: int
    columns: int
    kind: str = ""
    """`pandas.DataFrame`, `numpy.ndarray`, `file` and the like."""
    fields: list[FieldState] = []
    """Of a wide table, the first ones."""
    duplicates: int | None = None
    """Rows that are there before already; None where that was not counted."""
    sampled: bool = False
    """Whether the facts of fields are those of some rows only."""

    def field(self, name: str) -> FieldState | None:
        """The column of this name, if it was looked at."""
        return next((field for field in self.fields if field.name == name), None)


class DataWarning(BaseModel):
    """A fact about the data that its author may not have meant, never a guess."""

    code: str
    """Its kind, such as `join_multiplied_rows`; also what it is silenced by."""
    message: str
    line: int | None = None
    """The line of the code, from 1."""
    evidence: dict[str, JsonValue] = {}
    """The numbers that the message rests on."""
    advice: str = ""
    """What to do about it."""


class DataEffect(Data):
    """What one run of code did to one table."""

    of: str
    """A variable's name, or `file:` and a path; empty for warnings about the code alone."""
    task_id: str | None = None
    call_id: str | None = None
    """The call that ran the code; None if the user ran it."""
    notebook: str | None = None
    cell_id: str | None = None
    before: TableState | None = None
    """None if it was not there before."""
    after: TableState | None = None
    """None if it is gone."""
    line: str = ""
    """The difference in words: `12,431 → 12,217 rows (−214), +1 column month`."""
    sampled: bool = False
    warnings: list[DataWarning] = []
