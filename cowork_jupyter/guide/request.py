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
    """Which rows count."""

    column: str
    operator: Operator
    values: tuple[str, ...] = ()
    """As the data writes them; of a date, ISO, shortened to what is meant: `2024-03`."""


@dataclass(frozen=True)
class Request:
    """One thing that is wanted of a table."""

    verb: Verb
    table: Table
    columns: tuple[str, ...] = ()
    """What is measured, drawn, related, predicted or looked at; for a join, both keys."""
    aggregate: Aggregate = "sum"
    groups: tuple[str, ...] = ()
    time: str = ""
    """The column with the dates that `period` or a filter is about."""
    period: Period | None = None
    filters: tuple[Filter, ...] = ()
    limit: int = 0
    """How many groups or rows at most; 0 for all."""
    ascending: bool = False
    """Whether the smallest come first."""
    chart: Chart | None = None
    """None for a table or a number."""
    between: tuple[str, str] | None = None
    """The two periods (`2024-02`) or values of the first group that are compared."""
    gaps: Gaps = "keep"
    other: Table | None = None
    """The second table of a join."""
