"""What a user wants of a table, as values: what is understood, and what code is written for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .tables import Table

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
    aggregate: Aggregate = "sum"
    groups: tuple[str, ...] = ()
    time: str = ""  # date column of `period` or of a filter
    period: Period | None = None
    filters: tuple[Filter, ...] = ()
    limit: int = 0  # groups or rows; 0 for all
    ascending: bool = False  # smallest first
    chart: Chart | None = None  # None for a table or a number
    between: tuple[str, str] | None = None  # two periods (`2024-02`) or values of the first group
    gaps: Gaps = "keep"
    other: Table | None = None
