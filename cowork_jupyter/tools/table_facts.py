"""Facts of a table in a text file, from its first bytes: what a model must know to write code.

Columns with their types, what is missing, a few values, and how pandas reads the file. Only
Python's own csv is used: it costs milliseconds, and works where pandas is not installed.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from .kernel.inside.plain import is_secret_name

MAX_COLUMNS = 40
MAX_VALUES = 6
"""A column with no more different texts than these has them all told."""
FIRST_ROWS = 2
MAX_CELL = 30
_MAX_ROWS = 20_000
_SEPARATORS = ",;\t|"
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
_KINDS = (
    ("whole numbers", re.compile(r"[+-]?\d{1,18}")),
    ("numbers", re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")),
    ("numbers with a decimal comma", re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?")),
    ("dates", re.compile(r"\d{4}-\d\d-\d\d")),
    ("times", re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d\S*")),
    ("dates, day first", re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}")),
)
_COMMA, _DAY_FIRST = _KINDS[2][0], _KINDS[5][0]
_DATES = frozenset({"dates", "times", _DAY_FIRST})


@dataclass(frozen=True)
class TableColumn:
    """A column of the rows that were read."""

    name: str
    kind: str
    values: list[str]
    """Those that are there."""
    missing: int

    @property
    def line(self) -> str:
        """One line about it."""
        facts = [self.kind, *([f"{self.missing:,} missing"] if self.missing else [])]
        about = "" if is_secret_name(self.name) else self._about()
        return f"- {_short(self.name)}: {', '.join(facts)}{about}"

    def _about(self) -> str:
        if not self.values:
            return ""
        if self.kind.startswith(("whole", "numbers")):
            low, high = min(self.values, key=self._number), max(self.values, key=self._number)
            return f", {low} to {high}"
        if self.kind in ("dates", "times"):
            return f", {min(self.values)} to {max(self.values)}"
        counted = Counter(self.values)
        some = [_short(value) for value, _ in counted.most_common(MAX_VALUES)]
        if len(counted) <= MAX_VALUES:
            return f": {', '.join(sorted(some))}"
        return f", {len(counted):,} different, such as {', '.join(some[:3])}"

    def _number(self, value: str) -> float:
        plain = value.replace(".", "").replace(",", ".") if self.kind == _COMMA else value
        return float(plain)


@dataclass(frozen=True)
class TableFacts:
    """What is known of a table."""

    path: str
    columns: list[TableColumn]
    rows: str
    reading: str
    """How pandas reads it."""
    head: list[str]

    @property
    def brief(self) -> str:
        """In two lines."""
        names = ", ".join(_short(column.name) for column in self.columns[:MAX_COLUMNS])
        return f"{self.path}: {self.rows}, columns {names}\n  {self.reading}"

    def text(self, room: int) -> str:
        """All of it, in about so many characters: what matters least is left out first."""
        lines = [f"{self.path}: {self.rows}. Read it with {self.reading}"]
        lines += [column.line for column in self.columns[:MAX_COLUMNS]]
        if len(self.columns) > MAX_COLUMNS:
            lines.append(f"- and {len(self.columns) - MAX_COLUMNS} more columns")
        whole = "\n".join([*lines, "It begins with:", *self.head])
        if len(whole) <= room:
            return whole
        shorter = "\n".join(lines)
        return shorter if len(shorter) <= room else self.brief[:room]


def table_facts(path: str, data: bytes, size: int) -> TableFacts | None:
    """The facts of a file of this size that begins with these bytes; None if it is no table."""
    text, encoding = _decoded(data, whole=len(data) >= size)
    lines = text.splitlines()
    if len(data) < size and len(lines) > 1:
        lines = lines[:-1]  # cut in its middle
    if not lines or "\0" in text:
        return None
    separator = _separator(lines[:20])
    try:
        reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=separator)
        header, *rows = islice(reader, _MAX_ROWS)
    except (csv.Error, ValueError):
        return None
    columns = [_column(name, place, rows) for place, name in enumerate(header)]
    return TableFacts(
        path,
        columns,
        _rows(len(rows), len(data), size, is_all=len(data) >= size and len(rows) < _MAX_ROWS - 1),
        _reading(path, separator, encoding, columns),
        [line[:200] for line in lines[: FIRST_ROWS + 1]] if not _has_secret(columns) else [],
    )


def _decoded(data: bytes, *, whole: bool) -> tuple[str, str]:
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        if not whole and error.start >= len(data) - 4:  # half a character at the end
            return data[: error.start].decode("utf-8-sig"), ""
        return data.decode("latin-1"), "latin-1"


def _separator(lines: list[str]) -> str:
    """What divides the lines into the most parts, the same number in each."""

    def parts(separator: str) -> int:
        counts = {len(row) for row in csv.reader(lines, delimiter=separator) if row}
        return counts.pop() if len(counts) == 1 else 0

    return max(_SEPARATORS, key=parts)


def _column(name: str, place: int, rows: list[list[str]]) -> TableColumn:
    cells = [row[place].strip() if place < len(row) else "" for row in rows if row]
    values = [cell for cell in cells if cell.lower() not in _MISSING]
    kind = next(
        (kind for kind, form in _KINDS if values and all(map(form.fullmatch, values))), "text"
    )
    return TableColumn(name, kind, values, len(cells) - len(values))


def _rows(read: int, looked_at: int, size: int, *, is_all: bool) -> str:
    if is_all:
        return f"{read:,} rows"
    if read == _MAX_ROWS - 1:
        return f"more than {read:,} rows (what follows is of the first {read:,})"
    about = float(f"{read * size / looked_at:.2g}")
    return f"about {about:,.0f} rows (what follows is of the first {read:,})"


def _reading(path: str, separator: str, encoding: str, columns: list[TableColumn]) -> str:
    kinds = {column.kind for column in columns}
    dates = [column.name for column in columns if column.kind in _DATES]
    has_comma = _COMMA in kinds
    options = [
        *([f"sep={separator!r}"] if separator != "," else []),
        *(['decimal=","'] if has_comma else []),
        *(['thousands="."'] if has_comma and _has_thousands(columns) else []),
        *([f"encoding={encoding!r}"] if encoding else []),
        *([f"parse_dates={dates!r}"] if dates else []),
        *(["dayfirst=True"] if _DAY_FIRST in kinds else []),
    ]
    return f"pd.read_csv({', '.join([repr(path), *options])})"


def _has_thousands(columns: list[TableColumn]) -> bool:
    return any(
        "." in value for column in columns if column.kind == _COMMA for value in column.values
    )


def _has_secret(columns: list[TableColumn]) -> bool:
    return any(is_secret_name(column.name) for column in columns)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_CELL else f"{words[: MAX_CELL - 1]}…"
