"""Data files of the workspace around a run of code: which it created, changed or removed.

All are tracked by name, size and time; contents are read only of those that the code names and
of those that changed. Both are bounded in time, and use the workspace the call was given, so
they see no more than it may. The state of a table in a file is found by cheap means: its first
bytes, or its format's metadata, without a library that reads tables, since importing one could
take long. Files that are not tables, or would have to be read whole, have no state.
"""

from __future__ import annotations

import json
import re
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import BinaryIO

from ..domain.effects import FieldState, TableState
from ..domain.errors import CoworkError
from ..tools.kernel.inside.plain import is_secret_name
from ..tools.table_facts import MAX_COLUMNS, MAX_VALUES, TableColumn, table_facts
from ..workspace import Workspace
from .comparing import difference, shape_text

MAX_FOOTER = 4 * 1024 * 1024
_MAGIC = b"PAR1"
_TAIL = 8
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_SCHEMA, _ROWS = 2, 3
"""Field ids of the file metadata."""
_NAME, _CHILDREN = 4, 5
"""Field ids of a schema element."""


def parquet_shape(file: BinaryIO, size: int) -> tuple[int, list[str]]:
    """Row count and column names. Raises ValueError if it is not a Parquet file.

    Reads only the footer, and decodes only these two facts, so it takes no library and no time.
    """
    if size < _TAIL + len(_MAGIC):
        raise ValueError("too short")
    file.seek(size - _TAIL)
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > min(MAX_FOOTER, size - _TAIL):
        raise ValueError("not a Parquet file")
    file.seek(size - _TAIL - length)
    reader = _Compact(file.read(length))
    schema: list[tuple[str, int]] = []
    for field_id, kind in reader.fields():
        if field_id == _SCHEMA and kind == _LIST:
            schema = [_element(reader) for _ in range(reader.list_head()[0])]
        elif field_id == _ROWS and kind == _I64:
            return reader.number(), _top_names(schema)
        else:
            reader.skip(kind)
    raise ValueError("it does not say how many rows it has")


def _element(reader: _Compact) -> tuple[str, int]:
    """Name and number of direct children of a schema element."""
    name, children = "", 0
    for field_id, kind in reader.fields():
        if field_id == _NAME and kind == _BINARY:
            name = reader.binary().decode("utf-8", "replace")
        elif field_id == _CHILDREN and kind == _I32:
            children = reader.number()
        else:
            reader.skip(kind)
    return name, children


def _top_names(schema: list[tuple[str, int]]) -> list[str]:
    """Names of the root's children: the schema is a tree in depth-first order."""
    names: list[str] = []
    inside = 0
    for name, children in schema[1:]:
        if inside:
            inside -= 1
        else:
            names.append(name)
        inside += children
    return names


class _Compact:
    """Thrift's compact protocol, as far as a footer needs it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """The fields of a struct; the caller must read or skip each value."""
        field = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            field = field + step if step else self.number()
            yield field, kind

    def number(self) -> int:
        """A zigzag-encoded integer."""
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        return self._take(self._unsigned())

    def list_head(self) -> tuple[int, int]:
        head = self._byte()
        size = head >> 4
        return (self._unsigned() if size == 15 else size), head & 15

    def skip(self, kind: int) -> None:
        if kind in (_TRUE, _FALSE):
            return
        if kind == _BYTE:
            self._take(1)
        elif kind in (_I16, _I32, _I64):
            self._unsigned()
        elif kind == _DOUBLE:
            self._take(8)
        elif kind == _BINARY:
            self.binary()
        elif kind in (_LIST, _SET):
            size, inner = self.list_head()
            for _ in range(size):
                self._skip_in_list(inner)
        elif kind == _MAP:
            self._skip_map()
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
        else:
            raise ValueError("unknown kind of value")

    def _skip_in_list(self, kind: int) -> None:
        if kind in (_TRUE, _FALSE):
            self._take(1)  # here, unlike in a struct, it has a byte of its own
        else:
            self.skip(kind)

    def _skip_map(self) -> None:
        size = self._unsigned()
        kinds = self._byte() if size else 0
        for _ in range(size):
            self._skip_in_list(kinds >> 4)
            self._skip_in_list(kinds & 15)

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("number too long")

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, length: int) -> bytes:
        start, self._at = self._at, self._at + length
        if self._at > len(self._data):
            raise ValueError("cut off")
        return self._data[start : self._at]


MAX_HEAD = 128 * 1024
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
    rows = json.load(file)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    columns = list(dict.fromkeys(str(name) for row in rows for name in row))
    return TableState(rows=len(rows), columns=len(columns), kind="file", fields=_named(columns))


def _named(columns: Iterable[str]) -> list[FieldState]:
    return [FieldState(name=name, type="") for name in islice(columns, MAX_COLUMNS)]


def _sheet(file: BinaryIO, _size: int) -> TableState | None:
    with zipfile.ZipFile(file) as book, book.open(_FIRST_SHEET) as sheet:
        dimension = _DIMENSION.search(sheet.read(_SHEET_HEAD))
    if dimension is None:
        return None
    columns = 0
    for letter in dimension[2]:
        columns = 26 * columns + letter - ord("A") + 1
    rows = int(dimension[3]) - int(dimension[1])
    return TableState(rows=rows, columns=columns, kind="file")


def _parquet(file: BinaryIO, size: int) -> TableState | None:
    rows, names = parquet_shape(file, size)
    return TableState(rows=rows, columns=len(names), kind="file", fields=_named(names))


_READERS: dict[str, Callable[[BinaryIO, int], TableState | None]] = {
    **dict.fromkeys((".csv", ".tsv", ".tab"), _text),
    **dict.fromkeys((".jsonl", ".ndjson"), _json_lines),
    **dict.fromkeys((".parquet", ".pq"), _parquet),
    **dict.fromkeys((".xlsx", ".xlsm"), _sheet),
    ".json": _json,
}
DATA_SUFFIXES = tuple(_READERS)


SCAN_SECONDS = READ_SECONDS = 0.05
MAX_FILES = 2_000
MAX_READ = 8
_NOT_THE_USERS = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "env"})
_BREAKS = r"\s\"'`,;:()\[\]<>|*?={}"
# Only from the beginning of a word: else a word of thousands of letters takes minutes.
_NAMED = re.compile(
    rf"(?<![^{_BREAKS}])[^{_BREAKS}]+(?:{'|'.join(map(re.escape, DATA_SUFFIXES))})\b", re.IGNORECASE
)

Mark = tuple[float, int]
"""Modification time and size."""


@dataclass(frozen=True)
class FileChange:
    path: str
    before: TableState | None
    after: TableState | None
    line: str


@dataclass
class FileWatch:
    workspace: Workspace
    code: str
    folder: str = "."
    """Working directory of the code."""
    _marks: dict[str, Mark] = field(default_factory=dict)
    _states: dict[str, TableState | None] = field(default_factory=dict)
    _is_whole: bool = True
    """Whether all data files were found in time."""

    def begin(self) -> FileWatch:
        self._marks, self._is_whole = self._scan()
        named = [path for path in self._named() if path in self._marks]
        self._states = dict(self._read(named))
        return self

    def end(self) -> list[FileChange]:
        marks, is_whole = self._scan()
        # What was not found may be there all the same, if not everything could be looked at.
        new = [path for path in marks if path not in self._marks] if self._is_whole else []
        gone = [path for path in self._marks if path not in marks] if is_whole else []
        changed = [path for path, mark in marks.items() if self._marks.get(path, mark) != mark]
        states = dict(self._read([*new, *changed]))
        changes = [self._change(path, states[path]) for path in (*new, *changed) if path in states]
        removed = [
            FileChange(path, self._states.get(path), None, f"{path}: removed")
            for path in gone[:MAX_READ]
            if self._may_be_seen(path)
        ]
        return [change for change in (*changes, *removed) if change.line]

    def _change(self, path: str, after: TableState | None) -> FileChange:
        before = self._states.get(path)
        if before is not None and after is not None:
            return FileChange(path, before, after, difference(path, before, after))
        _, size = self._marks.get(path, (0, None))
        did = "new" if size is None else "written" if size == 0 else "rewritten"
        line = f"{path}: {did}" + (f", {shape_text(after)}" if after else "")
        return FileChange(path, before, after, line)

    def _named(self) -> Iterator[str]:
        for name in dict.fromkeys(_NAMED.findall(self.code)):
            for path in (f"{self.folder}/{name}", name):
                with suppress(CoworkError), self.workspace.locate(path) as place:
                    yield place.path

    def _scan(self) -> tuple[dict[str, Mark], bool]:
        end, marks = time.monotonic() + SCAN_SECONDS, dict[str, Mark]()
        folders = ["."]
        for folder in folders:  # it grows
            if time.monotonic() > end or len(marks) >= MAX_FILES:
                return marks, False
            with suppress(CoworkError), self.workspace.locate(folder) as place:
                for entry in place.entries():
                    path = entry.name if folder == "." else f"{folder}/{entry.name}"
                    if entry.kind == "folder":
                        if not entry.name.startswith(".") and entry.name not in _NOT_THE_USERS:
                            folders.append(path)
                    elif entry.kind == "file" and entry.name.lower().endswith(DATA_SUFFIXES):
                        marks[path] = (entry.modified, entry.size)
        return marks, True

    def _may_be_seen(self, path: str) -> bool:
        with suppress(CoworkError), self.workspace.locate(path):
            return True
        return False

    def _read(self, paths: Iterable[str]) -> Iterator[tuple[str, TableState | None]]:
        end = time.monotonic() + READ_SECONDS
        for path in list(dict.fromkeys(paths))[:MAX_READ]:
            if time.monotonic() > end:
                return
            with suppress(CoworkError), self.workspace.locate(path) as place, place.open() as file:
                yield path, file_state(path, file, place.stat().st_size)


def folder_of(notebook: str | None) -> str:
    return str(PurePosixPath(notebook or "").parent)
