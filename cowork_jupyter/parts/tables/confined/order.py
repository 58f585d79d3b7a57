"""Request and answer of the confined process, sent as JSON."""

from __future__ import annotations

from typing import Literal, TypedDict

Format = Literal["csv", "json", "parquet", "excel", "sqlite"]


class TextOptions(TypedDict):
    """How the rows of a text file are written, as far as its head tells."""

    separator: str
    """Empty if unknown."""
    encoding: str
    """Empty for UTF-8."""
    decimal_comma: bool
    day_first: bool
    is_ragged: bool
    missing: list[str]
    """Spellings of missing values, beside the empty one."""


class File(TypedDict):
    path: str
    """Relative to the workspace, without symlinks."""
    device: int
    inode: int


class Source(TypedDict):
    """What one path of a call stands for: a file, or several that make one table."""

    path: str
    """As the call spells it."""
    format: Format
    files: list[File]
    options: TextOptions | None


class Order(TypedDict):
    sources: list[Source]
    missing: list[str]
    """All possible spellings of missing values. Checking many costs time, so they count only where
    a file differs from its head."""
    sql: str
    """Empty to describe the table instead."""
    table: str
    """The sheet or database table to describe; empty for the first."""
    max_rows: int
    memory_mb: int
    spill_mb: int
    threads: int


class DescribedColumn(TypedDict):
    name: str
    type: str
    missing: int
    distinct: int
    low: str
    high: str
    common: list[str]


class TableReply(TypedDict, total=False):
    """With `error`, nothing was found."""

    error: str
    known: list[str]
    """Names that the query could have meant."""
    columns: list[str]
    head: list[list[str | None]]
    tail: list[list[str | None]]
    rows: int
    is_all: bool
    described: list[DescribedColumn]
    table: str
    others: list[str]
    notes: list[str]
