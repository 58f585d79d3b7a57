"""SQL quoting."""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


Rows: TypeAlias = Iterable[Sequence[Any]]
"""The first row holds the names of the columns."""


def sheets_of(path: str) -> dict[str, Rows]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        raise ValueError("Sheets need python-calamine: pip install cowork-jupyter[data]") from error
    try:
        book = CalamineWorkbook.from_path(path)
        return {name: _Sheet(book, name) for name in book.sheet_names}
    except CalamineError as error:
        raise ValueError(f"'{path}' cannot be read as a workbook: {error}") from error


@dataclass
class _Sheet:
    book: Any
    name: str

    def __iter__(self) -> Iterator[Sequence[Any]]:
        rows = self.book.get_sheet_by_name(self.name).to_python(skip_empty_area=True)
        return (list(map(_sheet_value, row)) for row in rows)


def tables_of(path: str) -> dict[str, Rows]:
    listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY type, rowid"
    try:
        with closing(_opened(path)) as database:
            names = [row[0] for row in database.execute(listed)]
    except sqlite3.Error as error:
        raise ValueError(f"'{path}' cannot be read as a SQLite database: {error}") from error
    return {name: _Rows(path, name) for name in names if not name.startswith("sqlite_")}


@dataclass
class _Rows:
    path: str
    name: str

    def __iter__(self) -> Iterator[Sequence[Any]]:
        with closing(_opened(self.path)) as database:
            cursor = database.execute(f"SELECT * FROM {identifier(self.name)}")  # noqa: S608
            yield [column[0] for column in cursor.description]
            yield from cursor


def _opened(path: str) -> sqlite3.Connection:
    """Immutable: nothing can be written, not even a journal."""
    address = f"file:{quote(os.path.abspath(path))}?mode=ro&immutable=1"  # noqa: PTH100
    database = sqlite3.connect(address, uri=True)
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    return database


def header_of(cells: Sequence[Any]) -> list[str]:
    names: dict[str, str] = {}
    for number, cell in enumerate(cells):
        wanted = str(cell) if cell not in (None, "") else f"column{number}"
        tries = (wanted, *(f"{wanted}_{again}" for again in range(1, len(cells) + 1)))
        name = next(name for name in tries if name.lower() not in names)
        names[name.lower()] = name
    return list(names.values())


def _sheet_value(cell: Any) -> Any:
    """Sheets have floats for integers, and empty texts for missing values."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    return None if cell == "" else cell


def plain_value(value: Any) -> Any:
    """A value that JSON can represent."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return f"\\x{value[:100].hex()}" if isinstance(value, bytes) else str(value)
