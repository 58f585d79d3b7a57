"""Tables and their columns, inferred from the first lines of a file. Never raises."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Literal

Kind = Literal["number", "date", "text", "empty"]

MAX_VALUES = 400  # columns with more distinct values are no groups
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "<na>"})
ODD_MISSING = ("?", "-", "--", ".")
DATE_FORMATS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y", "%m/%d/%Y",
    "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d-%m-%Y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y",
    "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%Y-%m",
)  # fmt: skip
_SWAPPED = {"%d/%m/%Y": "%m/%d/%Y", "%d/%m/%Y %H:%M": "%m/%d/%Y %H:%M"}
_PLAIN = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_POINT = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?")
_CODE = re.compile(r"0\d+")  # digits that are no number, such as postcodes
_MAX_CODE_LENGTH = 3


@dataclass(frozen=True)
class ColumnFacts:
    name: str
    kind: Kind
    date_format: str = ""
    swapped: bool = False  # day and month could be swapped
    decimal: str = "."
    thousands: str = ""
    distinct: int = 0
    is_unique: bool = False  # no value occurs twice in the lines read
    missing_sign: str = ""
    is_code: bool = False  # digits that are no number, such as postcodes
    # Distinct stripped texts, if not too many. For numbers only `("0", "1")`, which mean no and
    # yes.
    values: tuple[str, ...] = ()
    # values that differ from a more frequent one only in case or whitespace
    untidy: tuple[str, ...] = ()
    padded: bool = False  # some texts have surrounding whitespace
    first: str = ""
    last: str = ""  # `first` and `last` are the earliest and latest date, in ISO format

    @property
    def wanted_case(self) -> Literal["title", "upper", ""]:
        """For values that differ only in case; upper for codes such as `DE`."""
        if len({_tidied(value) for value in self.values}) == len(self.values):
            return ""
        uppers = sum(map(str.isupper, self.values))
        are_codes = uppers and max(map(len, self.values)) <= _MAX_CODE_LENGTH
        return "upper" if are_codes or 2 * uppers > len(self.values) else "title"

    def same(self, value: str) -> tuple[str, ...]:
        spellings = (spelling for spelling in self.values if _tidied(spelling) == _tidied(value))
        return tuple(spellings) or (value,)


def column_of(name: str, values: Sequence[str]) -> ColumnFacts:
    cells = [value.strip() for value in values]
    present = [cell for cell in cells if cell.lower() not in MISSING]
    sign = next((mark for mark in ODD_MISSING if mark in present), "")
    present = [cell for cell in present if cell not in ODD_MISSING]
    if not present:
        return ColumnFacts(name, "empty", missing_sign=sign)
    distinct = len(set(present))
    facts = partial(
        ColumnFacts,
        name,
        distinct=distinct,
        is_unique=distinct == len(present),
        missing_sign=sign,
    )
    if number := _number_format(present):
        decimal, thousands = number
        values_known = ("0", "1") if set(present) == {"0", "1"} else ()
        return facts(kind="number", decimal=decimal, thousands=thousands, values=values_known)
    if form := date_format_of(present):
        swapped = form in _SWAPPED and fits_date_format(present, _SWAPPED[form])
        days = [datetime.strptime(cell, form).date().isoformat() for cell in present]
        first, last = min(days), max(days)
        return facts(kind="date", date_format=form, swapped=swapped, first=first, last=last)
    different = tuple(dict.fromkeys(present))
    spellings = [value for value in values if value.strip() in different]
    return facts(
        kind="text",
        is_code=all(map(str.isdigit, present)),
        values=different if len(different) <= MAX_VALUES else (),
        untidy=_untidy(spellings),
        padded=any(value != value.strip() for value in spellings),
    )


def _untidy(values: Sequence[str]) -> tuple[str, ...]:
    """The rarer spellings of values that differ only in case and whitespace."""
    counted = Counter(values)
    usual: dict[str, str] = {}
    for value, _count in counted.most_common():
        usual.setdefault(_tidied(value), value)
    return tuple(value for value in counted if usual[_tidied(value)] != value)[:MAX_VALUES]


def _tidied(value: str) -> str:
    return " ".join(value.casefold().split())


def _number_format(present: Sequence[str]) -> tuple[str, str] | None:
    """Decimal and thousands separator, if all are numbers."""
    if any(_CODE.fullmatch(cell) for cell in present):
        return None
    if all(_PLAIN.fullmatch(cell) for cell in present):
        return ".", ""
    if all(_PLAIN.fullmatch(cell) or _POINT.fullmatch(cell) for cell in present):
        return ".", ","
    if all(_COMMA.fullmatch(cell) for cell in present):
        return ",", "." if any("." in cell for cell in present) else ""
    return None


def is_number(cell: str) -> bool:
    return any(pattern.fullmatch(cell.strip()) for pattern in (_PLAIN, _POINT, _COMMA))


def date_format_of(present: Sequence[str]) -> str:
    if not all(6 <= len(cell) <= 30 and any(map(str.isdigit, cell)) for cell in present):
        return ""
    return next((form for form in DATE_FORMATS if fits_date_format(present, form)), "")


def fits_date_format(present: Sequence[str], form: str) -> bool:
    try:
        for cell in present:
            datetime.strptime(cell, form)
    except ValueError:
        return False
    return True


Format = Literal["text", "json", "json lines", "parquet", "excel"]

SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".dat", ".psv")
# formats other than delimited text
FORMATS: dict[str, Format] = {
    **dict.fromkeys((".json",), "json"),
    **dict.fromkeys((".jsonl", ".ndjson"), "json lines"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "excel"),
}
LINES_READ = 200
_SEPARATORS = ("\t", ";", "|", ",", ":")  # in order of significance, which breaks ties
_MAX_FIELD_LENGTH = 10_000_000
csv.field_size_limit(_MAX_FIELD_LENGTH)


@dataclass(frozen=True)
class Table:
    path: str
    separator: str
    columns: tuple[ColumnFacts, ...]
    has_header: bool
    first_line: int  # lines before the first row of data
    header_lines: int = 1  # names may contain line breaks
    encoding: str = "utf-8-sig"
    renamed: bool = False  # names were missing, empty or duplicated
    uneven: bool = False  # some rows have too many fields
    lines: int | None = None  # of the whole file, if known

    @property
    def format(self) -> Format:
        return FORMATS.get(PurePosixPath(self.path.lower()).suffix, "text")

    @property
    def stem(self) -> str:
        return PurePosixPath(self.path).stem

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def of_kind(self, kind: str) -> list[ColumnFacts]:
        return [column for column in self.columns if column.kind == kind]

    def column(self, name: str) -> ColumnFacts | None:
        return next((column for column in self.columns if column.name == name), None)

    def names_of(self, kind: str) -> list[str]:
        return [column.name for column in self.of_kind(kind)]

    def kind_of(self, name: str) -> str:
        """Empty if there is no such column."""
        column = self.column(name)
        return column.kind if column else ""

    @property
    def categories(self) -> list[ColumnFacts]:
        """Text columns with few values."""
        return [column for column in self.of_kind("text") if column.distinct <= 12]


def table_of(
    path: str, text: str, encoding: str = "utf-8", lines: int | None = None
) -> Table | None:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    separator = separator_of(text)
    rows = _rows(text, separator)
    if not rows:
        return None
    width = _width(rows)
    rows = [row for row in rows if len(row[1]) == width or not row[1][0].startswith("#")]
    start = next(at for at, row in enumerate(rows) if len(row[1]) == width)
    body = rows[start:]
    cells = [row for _line, row in body]
    has_header = header_in(cells)
    data = cells[1:] if has_header else cells
    head = cells[0] if has_header else [f"column_{n}" for n in range(1, len(cells[0]) + 1)]
    names = clear_names(head)
    columns = [
        column_of(name, [row[at] for row in data if at < len(row)]) for at, name in enumerate(names)
    ]
    before = body[0][0] if has_header else _line_before(*body[0])
    return Table(
        path=path,
        separator=separator,
        columns=tuple(columns),
        has_header=has_header,
        first_line=before,
        header_lines=1 + sum(name.count("\n") for name in head),
        encoding=_codec(encoding),
        renamed=names != head,
        uneven=any(len(row) > len(names) for row in data),
        lines=lines,
    )


def table_from(path: str, rows: Sequence[dict[str, Any]]) -> Table | None:
    head = list(dict.fromkeys(name for row in rows for name in row))
    if not head:
        return None
    columns = [
        column_of(name, [_text(row.get(old)) for row in rows])
        for old, name in zip(head, clear_names(head), strict=True)
    ]
    return Table(path, "", tuple(columns), has_header=True, first_line=1)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def separator_of(text: str) -> str:
    """The delimiter that splits most lines evenly, into the most fields."""
    best, best_score = ",", (0.0, 0)
    for separator in _SEPARATORS:
        widths = Counter(len(row) for _line, row in _rows(text, separator))
        if not widths:
            continue
        width, count = max(widths.items(), key=lambda pair: (pair[1] * (pair[0] > 1), pair[0]))
        share = count / sum(widths.values())
        if width < 2 or (separator == ":" and width < 3):
            continue
        score = (round(min(share, 0.9), 1), width)
        if score > best_score:
            best, best_score = separator, score
    return best


def header_in(rows: Sequence[Sequence[str]]) -> bool:
    first, rest = [cell.strip() for cell in rows[0]], rows[1:]
    present = [cell for cell in first if cell.lower() not in MISSING]
    if not present:
        return False
    if any(is_number(cell) or date_format_of([cell]) for cell in present):
        # Years and the like head columns too, but then they stand beside a name.
        named = not is_number(first[0]) and not date_format_of([first[0]])
        return named and _all_numbers(rest) and len(set(first)) == len(first)
    below = [[row[at].strip() for row in rest if at < len(row)] for at in range(len(first))]
    return not any(cell and cell in column for cell, column in zip(first, below, strict=True))


def _all_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Whether all columns but the first are numeric."""
    return bool(rows) and all(
        not is_number(row[0]) and all(is_number(cell) for cell in row[1:] if cell.strip())
        for row in rows
        if row
    )


def clear_names(names: Sequence[str]) -> list[str]:
    clear: list[str] = []
    for place, name in enumerate(names, 1):
        wanted = " ".join(name.split()) or f"column_{place}"
        unique, number = wanted, 2
        while unique in clear:
            unique, number = f"{wanted}_{number}", number + 1
        clear.append(unique)
    return clear


def _codec(encoding: str) -> str:
    """The codec for reading a file; a BOM determines the width of UTF-16 and UTF-32."""
    if encoding.startswith(("utf-16", "utf-32")):
        return encoding[:6]
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _rows(text: str, separator: str) -> list[tuple[int, list[str]]]:
    """Non-empty rows with the number of their last line."""
    # With their ends, which are part of a field between quotes.
    reader = csv.reader((f"{line}\n" for line in text.split("\n")), delimiter=separator)
    rows: list[tuple[int, list[str]]] = []
    with suppress(csv.Error):  # what came before the error is good
        rows.extend((reader.line_num, row) for row in reader if any(map(str.strip, row)))
    return rows


def _width(rows: Sequence[tuple[int, list[str]]]) -> int:
    widths = Counter(len(row) for _line, row in rows)
    return max(widths.items(), key=lambda pair: (pair[1] * (1 + (pair[0] > 1)), pair[0]))[0]


def _line_before(line: int, row: Sequence[str]) -> int:
    """Lines before a row that ends on this one."""
    return line - 1 - sum(cell.count("\n") for cell in row)
