"""What the confined process is asked to do, and what it answers: plain values, sent as JSON."""

from __future__ import annotations

from typing import Literal, TypedDict

Format = Literal["csv", "json", "parquet", "excel", "sqlite"]


class TextOptions(TypedDict):
    """How the rows of a text file are written, as far as its beginning tells."""

    separator: str
    """Empty if nobody knows."""
    encoding: str
    """Empty for UTF-8."""
    decimal_comma: bool
    day_first: bool
    is_ragged: bool
    missing: list[str]
    """Texts that stand for no value, beside the empty one."""


class File(TypedDict):
    """A file that may be read."""

    path: str
    """Relative to the workspace; no part of it is a link."""
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
    """One question about tables."""

    sources: list[Source]
    missing: list[str]
    """All texts that may stand for no value. Looking for many of them costs time, so they count
    only where a file is not as it begins."""
    sql: str
    """Empty to describe the table instead."""
    table: str
    """The sheet, or the table of a database, that is described; empty for the first."""
    max_rows: int
    memory_mb: int
    spill_mb: int
    """What may be put into temporary files."""
    threads: int


class DescribedColumn(TypedDict):
    """A column of a table that was described."""

    name: str
    type: str
    missing: int
    distinct: int
    low: str
    high: str
    common: list[str]


class TableReply(TypedDict, total=False):
    """What was found; with `error`, why nothing was."""

    error: str
    known: list[str]
    """Names that the question could have meant."""
    columns: list[str]
    head: list[list[str | None]]
    tail: list[list[str | None]]
    rows: int
    """Rows of the table, or of the result as far as they were counted."""
    is_all: bool
    described: list[DescribedColumn]
    table: str
    others: list[str]
    """The other tables that there are."""
    notes: list[str]
    """What was assumed."""
