"""Facts about a table in a text file, from its first bytes: what a model needs to write code.

Columns with their types, missing and sample values, and how pandas reads the file. Only the
stdlib's csv is used: it costs milliseconds, and works without pandas.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import Any

from ..domain.plurals import count_of
from .kernel.inside.plain import is_secret_name
from .text_files import bom_of, decode

MAX_COLUMNS = 40
MAX_VALUES = 6
"""Columns with at most so many distinct texts have them all listed."""
FIRST_ROWS = 2
MAX_CELL = 30
_MAX_ROWS = 20_000
_SEPARATORS = ",;\t|"
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
"""Spellings of missing values, in lower case."""
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
    name: str
    kind: str
    missing: int
    distinct: int
    low: str = ""
    high: str = ""
    """Its range, where its order is meaningful."""
    common: tuple[str, ...] = ()
    """Its values, most frequent first."""
    is_estimate: bool = False
    """Whether `distinct` is approximate; it is then stated for every column."""

    @property
    def line(self) -> str:
        facts = [self.kind, *([f"{self.missing:,} missing"] if self.missing else [])]
        about = "" if is_secret_name(self.name) else self._about()
        return f"- {_short(self.name)}: {', '.join(facts)}{about}"

    def _about(self) -> str:
        if not self.common:
            return ""
        about = "about " if self.is_estimate else ""
        different = f", {about}{self.distinct:,} different"
        some = [_short(value) for value in self.common]
        if self.low:
            return f"{different if about else ''}, {_short(self.low)} to {_short(self.high)}"
        if self.distinct <= len(some):
            return f": {', '.join(sorted(some))}"
        return f"{different}, such as {', '.join(some[:3])}"


@dataclass(frozen=True)
class CsvDialect:
    separator: str
    encoding: str
    """Empty for UTF-8."""
    decimal_comma: bool
    thousands: bool
    """Whether dots separate the thousands of numbers with a decimal comma."""
    day_first: bool
    is_ragged: bool
    missing: frozenset[str]


@dataclass(frozen=True)
class TableFacts:
    path: str
    columns: list[TableColumn]
    rows: str
    reading: str
    """How pandas reads it."""
    head: list[str]
    dialect: CsvDialect
    rows_read: int
    is_whole: bool

    @property
    def brief(self) -> str:
        names = ", ".join(_short(column.name) for column in self.columns[:MAX_COLUMNS])
        return f"{self.path}: {self.rows}, columns {names}\n  {self.reading}"

    def text(self, room: int) -> str:
        """Everything in about `room` characters; the least important is left out first."""
        lines = [f"{self.path}: {self.rows}. Read it with {self.reading}"]
        lines += [column.line for column in self.columns[:MAX_COLUMNS]]
        if len(self.columns) > MAX_COLUMNS:
            lines.append(f"- and {count_of(len(self.columns) - MAX_COLUMNS, 'more column')}")
        whole = "\n".join([*lines, "It begins with:", *self.head])
        if len(whole) <= room:
            return whole
        shorter = "\n".join(lines)
        return shorter if len(shorter) <= room else self.brief[:room]


def table_facts(path: str, data: bytes, size: int) -> TableFacts | None:
    """`data` is the head of a file of this size. None if it is not a table."""
    try:
        text, encoding = _decode(data, whole=len(data) >= size)
        lines = text.splitlines()
        if len(data) < size and len(lines) > 1:
            lines = lines[:-1]  # the last line is incomplete
        if "\0" in text:
            return None
        separator = _separator(lines[:20])
        reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=separator)
        header, *rows = islice(reader, _MAX_ROWS)
    except (csv.Error, ValueError):
        return None
    is_all = len(data) >= size and len(rows) < _MAX_ROWS - 1
    cells = [_cells(place, rows) for place in range(len(header))]
    columns = [_column(name, *cell_facts) for name, cell_facts in zip(header, cells, strict=True)]
    kinds = {column.kind for column in columns}
    dialect = CsvDialect(
        separator,
        encoding,
        decimal_comma=_COMMA in kinds,
        thousands=any(
            "." in value for kind, values, _ in cells if kind == _COMMA for value in values
        ),
        day_first=_DAY_FIRST in kinds,
        # The last may be incomplete: a cell can have several lines.
        is_ragged=any(row and len(row) != len(header) for row in rows[: None if is_all else -1]),
        missing=frozenset(cell for row in rows for cell in row if cell.lower() in MISSING),
    )
    has_secret = any(is_secret_name(column.name) for column in columns)
    return TableFacts(
        path,
        columns,
        _rows(len(rows), len(data), size, is_all=is_all),
        _read_csv_call(path, dialect, columns),
        [] if has_secret else [line[:200] for line in lines[: FIRST_ROWS + 1]],
        dialect,
        len(rows),
        is_all,
    )


def _decode(data: bytes, *, whole: bool) -> tuple[str, str]:
    """The text, and the name of its encoding if it is not UTF-8."""
    encoding = bom_of(data)
    decoder = codecs.getincrementaldecoder(encoding.name)()  # the end may be half a character
    try:
        text = decoder.decode(data[len(encoding.bom) :], whole)
        return text, encoding.name[: len("utf-16")] if encoding.is_wide else ""
    except UnicodeDecodeError:
        if encoding.is_wide:
            raise
    text, encoding = decode(data)
    return text, encoding.name


def _separator(lines: list[str]) -> str:
    """What splits the lines into the most parts, the same number in nearly each."""

    def parts(separator: str) -> int:
        counts = Counter(len(row) for row in csv.reader(lines, delimiter=separator) if row)
        usual, times = counts.most_common(1)[0] if counts else (0, 0)
        return usual if 3 * times >= 2 * counts.total() else 0

    return max(_SEPARATORS, key=parts)


def _cells(place: int, rows: list[list[str]]) -> tuple[str, list[str], int]:
    """Kind of a column's values, the values, and how many are missing."""
    cells = [row[place].strip() if place < len(row) else "" for row in rows if row]
    values = [cell for cell in cells if cell.lower() not in MISSING]
    kind = next(
        (kind for kind, form in _KINDS if values and all(map(form.fullmatch, values))), "text"
    )
    return kind, values, len(cells) - len(values)


def _column(name: str, kind: str, values: list[str], missing: int) -> TableColumn:
    low = high = ""
    if values and kind.startswith(("whole", "numbers")):
        plain = str.maketrans(",", ".", ".") if kind == _COMMA else {}
        low, high = _range(values, lambda value: float(value.translate(plain)))
    elif values and kind in ("dates", "times"):
        low, high = _range(values, str)
    counted = Counter(values)
    common = tuple(value for value, _ in counted.most_common(MAX_VALUES))
    return TableColumn(name, kind, missing, len(counted), low, high, common)


def _range(values: list[str], order: Callable[[str], Any]) -> tuple[str, str]:
    return min(values, key=order), max(values, key=order)


def _rows(read: int, looked_at: int, size: int, *, is_all: bool) -> str:
    if is_all:
        return count_of(read, "row")
    if read == _MAX_ROWS - 1:
        return f"more than {read:,} rows (what follows is of the first {read:,})"
    about = float(f"{read * size / looked_at:.2g}")
    return f"about {about:,.0f} rows (what follows is of the first {read:,})"


def _read_csv_call(path: str, dialect: CsvDialect, columns: list[TableColumn]) -> str:
    dates = [column.name for column in columns if column.kind in _DATES]
    options = [
        *([f"sep={dialect.separator!r}"] if dialect.separator != "," else []),
        *(['decimal=","'] if dialect.decimal_comma else []),
        *(['thousands="."'] if dialect.thousands else []),
        *([f"encoding={dialect.encoding!r}"] if dialect.encoding else []),
        *([f"parse_dates={dates!r}"] if dates else []),
        *(["dayfirst=True"] if dialect.day_first else []),
    ]
    return f"pd.read_csv({', '.join([repr(path), *options])})"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_CELL else f"{words[: MAX_CELL - 1]}…"


def reading_hint(path: str) -> str:
    """How pandas reads a binary file, with what is installed here."""
    kind = path.lower().rpartition(".")[2]
    if kind == "parquet":
        has_arrow = find_spec("pyarrow") or find_spec("fastparquet")
        with_duckdb = f"import duckdb; duckdb.sql(\"FROM '{path}'\").df()"
        return f"Read it with {f'pd.read_parquet({path!r})' if has_arrow else with_duckdb}"
    if kind in ("xlsx", "xls", "xlsm", "xlsb", "ods"):
        engine = "" if kind == "xlsx" and find_spec("openpyxl") else ', engine="calamine"'
        return f"Read it with pd.read_excel({path!r}{engine})"
    if kind in ("json", "jsonl", "ndjson"):
        return f"Read it with pd.read_json({path!r}{'' if kind == 'json' else ', lines=True'})"
    return ""
