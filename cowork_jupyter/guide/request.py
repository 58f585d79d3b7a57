"""What a user wants of a table, as values: what is understood, and what code is written for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from .tables import ColumnFacts, Table

Verb = Literal[
    "profile",  # rows, types, gaps and ranges
    "columns",  # which columns a table has
    "preview",  # its first rows, or those that a filter keeps
    "aggregate",  # a measure, whole or for each group, as a table or a chart
    "compare",  # the measure of two periods or groups, and what changed most between them
    "distribution",  # how the values of a column spread
    "relate",  # how two columns go together
    "outliers",
    "missing",
    "duplicates",
    "clean",
    "join",
    "model",
]
Aggregate = Literal["sum", "mean", "median", "min", "max", "std", "count", "distinct", "share"]
Period = Literal["day", "week", "month", "quarter", "year", "weekday", "hour"]
Chart = Literal["bar", "line", "histogram", "scatter", "box", "pie"]
Operator = Literal["=", "!=", ">", ">=", "<", "<=", "contains", "in", "between", "missing", "known"]
Gaps = Literal["keep", "drop", "fill"]


@dataclass(frozen=True)
class Filter:
    column: str
    operator: Operator
    # as in the data; dates as ISO, shortened to the precision: `2024-03`
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    verb: Verb
    table: Table
    # measured, drawn, related, predicted or shown; for a join, both keys
    columns: tuple[str, ...] = ()
    aggregate: Aggregate = "sum"  # shares of several groups are those within the first
    groups: tuple[str, ...] = ()
    time: str = ""  # date column of `period` or of a filter
    period: Period | None = None
    filters: tuple[Filter, ...] = ()
    limit: int = 0  # groups or rows; 0 for all
    limit_per_group: bool = False  # for each period or value of the first group
    ascending: bool = False  # smallest first
    chart: Chart | None = None  # None for a table or a number
    between: tuple[str, str] | None = None  # two periods (`2024-02`) or values of the first group
    gaps: Gaps = "keep"
    other: Table | None = None
    named_output: str = ""  # the file that the user wants written, if not the usual one

    @property
    def output_file(self) -> str:
        """Path relative to the workspace; empty if nothing is written."""
        if self.named_output:
            return self.named_output
        stem = self.table.path.rsplit(".", 1)[0]
        if self.verb == "clean":
            return f"{stem}_clean.csv"
        return f"{stem}_{self.other.stem}.csv" if self.other else ""


_WRITTEN: dict[str, Any] = {
    "swapped": False, "decimal": ".", "thousands": "", "missing_sign": "", "padded": False
}  # fmt: skip


def output_table(request: Request) -> Table | None:
    """The table that a request writes, or None if its dates cannot be predicted."""
    if request.verb == "clean":
        columns = [column for column in request.table.columns if column.kind != "empty"]
    elif request.other:
        columns = _joined(request, request.other)
    else:
        return None
    if any("%H" in column.date_format for column in columns):
        return None
    written = tuple(
        replace(column, date_format="%Y-%m-%d" if column.kind == "date" else "", **_WRITTEN)
        for column in columns
    )
    return Table(request.output_file, ",", written, has_header=True, first_line=1)


def _joined(request: Request, other: Table) -> list[ColumnFacts]:
    names = request.table.names
    added = [column for column in other.columns if column.name != request.columns[1]]
    return [
        *request.table.columns,
        *(
            replace(column, name=f"{column.name}_{other.stem}") if column.name in names else column
            for column in added
        ),
    ]
