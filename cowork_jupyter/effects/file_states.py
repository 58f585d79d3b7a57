"""The state of a table in a file, by cheap means: its first bytes, or its format's metadata.

Imports no library that reads tables, since that could take long. Files that are not tables, or
would have to be read whole, have no state.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import BinaryIO

from ..domain.effects import FieldState, TableState
from ..tools.kernel.inside.plain import is_secret_name
from ..tools.table_facts import MAX_COLUMNS, MAX_VALUES, TableColumn, table_facts
from .parquet import parquet_shape

MAX_HEAD = 128 * 1024
"""Bytes of a text file whose columns are examined."""
MAX_COUNTED = 64 * 1024 * 1024
"""Bytes in which rows are counted; of a larger file their number is an estimate."""
MAX_JSON = 1024 * 1024
_PIECE = 1024 * 1024
_FIRST_SHEET = "xl/worksheets/sheet1.xml"
_SHEET_HEAD = 4_096
_DIMENSION = re.compile(rb'<dimension ref="[A-Z]+(\d+):([A-Z]+)(\d+)"')


def file_state(path: str, file: BinaryIO, size: int) -> TableState | None:
    """None if there is no table, or none whose shape is known cheaply."""
    read = _READERS.get(PurePosixPath(path).suffix.lower())
    try:
        return read(file, size) if read else None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, RecursionError):
        return None  # it is not what its name says, or is being written


def _text(file: BinaryIO, size: int) -> TableState | None:
    head = file.read(MAX_HEAD)
    facts = table_facts("", head, size) if head.strip() else None
    if facts is None:
        return None
    is_whole = facts.is_whole
    return TableState(
        rows=facts.rows_read if is_whole else _rows(head, file, size),
        columns=len(facts.columns),
        kind="file",
        fields=[_field(column) for column in facts.columns[:MAX_COLUMNS]],
        sampled=not is_whole,
    )


def _rows(head: bytes, file: BinaryIO, size: int) -> int:
    """Lines after the header; of a very large file, extrapolated from its beginning."""
    lines, seen, last = head.count(b"\n"), len(head), head[-1:]
    while seen < MAX_COUNTED and (piece := file.read(_PIECE)):
        lines, seen, last = lines + piece.count(b"\n"), seen + len(piece), piece[-1:]
    if seen < size:
        return lines * size // seen
    return lines - (last == b"\n")


def _field(column: TableColumn) -> FieldState:
    field = FieldState(
        name=column.name, type=column.kind, missing=column.missing, distinct=column.distinct
    )
    if is_secret_name(column.name):
        return field
    if column.low:
        return field.model_copy(update={"low": column.low, "high": column.high})
    values = sorted(column.common) if column.distinct <= MAX_VALUES else []
    return field.model_copy(update={"values": values})


def _json_lines(file: BinaryIO, size: int) -> TableState | None:
    first = json.loads(file.readline(MAX_HEAD))
    if not isinstance(first, dict):
        return None
    file.seek(0)
    head = file.read(MAX_HEAD)
    rows = _rows(head, file, size) + 1  # there is no header
    return TableState(rows=rows, columns=len(first), kind="file", fields=_named(first))


def _json(file: BinaryIO, size: int) -> TableState | None:
    if size > MAX_JSON:
        return None
    found = json.load(file)
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        return None
    columns = list(dict.fromkeys(str(name) for row in found for name in row))
    return TableState(rows=len(found), columns=len(columns), kind="file", fields=_named(columns))


def _named(columns: object) -> list[FieldState]:
    names = [str(name) for name in columns] if isinstance(columns, list | dict) else []
    return [FieldState(name=name, type="") for name in names[:MAX_COLUMNS]]


def _sheet(file: BinaryIO, _size: int) -> TableState | None:
    """The first sheet, by its declared dimension; the first row is the header."""
    with zipfile.ZipFile(file) as book, book.open(_FIRST_SHEET) as sheet:
        found = _DIMENSION.search(sheet.read(_SHEET_HEAD))
    if found is None:
        return None
    columns = 0
    for letter in found[2]:
        columns = 26 * columns + letter - ord("A") + 1
    rows = int(found[3]) - int(found[1])
    return TableState(rows=rows, columns=columns, kind="file")


def _parquet(file: BinaryIO, size: int) -> TableState | None:
    rows, names = parquet_shape(file, size)
    fields = [FieldState(name=name, type="") for name in names[:MAX_COLUMNS]]
    return TableState(rows=rows, columns=len(names), kind="file", fields=fields)


_READERS: dict[str, Callable[[BinaryIO, int], TableState | None]] = {
    **dict.fromkeys((".csv", ".tsv", ".tab"), _text),
    **dict.fromkeys((".jsonl", ".ndjson"), _json_lines),
    **dict.fromkeys((".parquet", ".pq"), _parquet),
    **dict.fromkeys((".xlsx", ".xlsm"), _sheet),
    ".json": _json,
}
DATA_SUFFIXES = tuple(_READERS)
