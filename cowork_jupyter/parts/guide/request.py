"""What a user wants of a table, as values: what is understood, and what code is written for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from .tables import ColumnFacts, Table

Verb = Literal[
    "profile",  # rows, types, gaps and ranges
    "columns",  # which columns a table has
    "preview",  # its first rows, those that a filter keeps, or the largest of a column
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
    "export",  # the rows that a filter keeps, into `named_output`
]
Aggregate = Literal["sum", "mean", "median", "min", "max", "std", "count", "distinct", "share"]
Period = Literal["day", "week", "month", "quarter", "year", "weekday", "hour"]
Chart = Literal["bar", "line", "histogram", "scatter", "box", "pie"]
Operator = Literal["=", "!=", ">", ">=", "<", "<=", "contains", "in", "between", "missing", "known"]
DateOrder = Literal["day", "month"]  # which comes first
Fill = Literal["median", "mean", "most frequent", "zero", "previous"]


@dataclass(frozen=True)
class Filter:
    column: str
    operator: Operator
    # as in the data; dates as ISO, shortened to the precision: `2024-03`
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class CleaningAction:
    """One change, to these columns and no other; without columns it is about whole rows."""

    kind: Literal[
        "drop duplicates",  # rows, or those that agree in `columns`
        "drop empty",  # rows and columns without any value
        "drop missing",  # rows without a value in `columns`, or in any
        "fill",  # missing values of `columns`
        "trim",  # surrounding spaces
        "unify",  # spellings that differ only in case and spaces
    ]
    columns: tuple[str, ...] = ()
    fill: Fill | None = None
    value: str = ""  # to fill with, if not one of `Fill`


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
    actions: tuple[CleaningAction, ...] = ()  # of "clean"
    date_order: DateOrder | None = None  # as the user said, where it is not clear
    order_by: str = ""  # number whose largest (or smallest) rows a preview shows
    other: Table | None = None
    keeps_matches: bool = False  # of a join: rows that find several matches become several
    named_output: str = ""  # the file that the user wants written, if not the usual one

    @property
    def tables(self) -> list[Table]:
        return [self.table, self.other] if self.other else [self.table]

    @property
    def output_file(self) -> str:
        """Path relative to the workspace; empty if nothing is written."""
        if self.named_output:
            return self.named_output
        stem = self.table.path.rsplit(".", 1)[0]
        if self.verb == "clean":
            number = "_2" if stem.endswith("_clean") else ""
            return f"{stem.removesuffix('_clean')}_clean{number}.csv"
        return f"{stem}_{self.other.stem}.csv" if self.other else ""


_EITHER = re.compile("%d/%m|%m/%d")
_WRITTEN: dict[str, Any] = {"decimal": ".", "thousands": "", "missing_sign": ""}


def output_table(request: Request) -> Table | None:
    """The table that a request writes, or None if its dates cannot be predicted."""
    columns = list(request.table.columns)
    if any(action.kind == "drop empty" for action in request.actions):
        columns = [column for column in columns if column.kind != "empty"]
    if request.other:
        columns += _joined(request, request.other)
    elif request.verb not in ("clean", "export"):
        return None
    if any("%H" in column.date_format for column in columns):
        return None
    written = tuple(
        replace(column, **_WRITTEN)
        if column.swapped
        else replace(column, date_format="%Y-%m-%d" if column.kind == "date" else "", **_WRITTEN)
        for column in columns
    )
    separator = "\t" if request.output_file.lower().endswith(".tsv") else ","
    return Table(request.output_file, separator, written, has_header=True, first_line=1)


def _joined(request: Request, other: Table) -> list[ColumnFacts]:
    added = [column for column in other.columns if column.name != request.columns[1]]
    doubled = {name: f"{name}_{other.stem}" for name in request.table.names}
    return [replace(column, name=doubled.get(column.name, column.name)) for column in added]


def with_date_order(request: Request, order: DateOrder) -> Request:
    """With the dates read so that could be read in both ways."""
    form = "%d/%m" if order == "day" else "%m/%d"
    columns = tuple(
        replace(column, swapped=False, date_format=_EITHER.sub(form, column.date_format))
        if column.swapped
        else column
        for column in request.table.columns
    )
    return replace(request, table=replace(request.table, columns=columns), date_order=order)
