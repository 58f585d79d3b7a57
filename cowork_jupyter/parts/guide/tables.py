"""Tables and their columns, inferred from the first lines of a file. Never raises."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal

Kind = Literal["number", "date", "text", "empty"]

MAX_VALUES = 400  # columns with more distinct values are no groups
# what pandas reads as missing; `none` is a text
MISSING = frozenset((
    "", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "null",
    "None", "<NA>", "-1.#IND", "1.#IND", "-1.#QNAN", "1.#QNAN",
))  # fmt: skip
_BOOLEANS = frozenset(("true", "false"))
_ODD_MISSING = ("?", "-", "--", ".")
_DATE_FORMATS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y", "%m/%d/%Y",
    "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d-%m-%Y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y",
    "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%Y-%m",
)  # fmt: skip
_SWAPPED = {"%d/%m/%Y": "%m/%d/%Y", "%d/%m/%Y %H:%M": "%m/%d/%Y %H:%M"}
_PLAIN = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_POINT = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_COMMA = re.compile(r"[-+]?([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d+)?")
_CODE = re.compile(r"0\d+")  # digits that are no number, such as postcodes
_MAX_CODE_LENGTH = 3
_KEY = re.compile(r"(^|[_ ])(?i:id|key|code|no|nr|number|uuid)$|[a-z]I[dD]$")


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
    # distinct stripped texts, if not too many; of numbers only `("0", "1")`: no and yes
    values: tuple[str, ...] = ()
    padded: bool = False  # some texts have surrounding whitespace
    has_gaps: bool = False  # some values are missing in the lines read
    first: str = ""
    last: str = ""  # `first` and `last` are the earliest and latest date, in ISO format

    @property
    def untidy(self) -> tuple[str, ...]:
        """Values that differ from others only in case or whitespace."""
        counted = Counter(map(_tidied, self.values))
        return tuple(value for value in self.values if counted[_tidied(value)] > 1)

    @property
    def wanted_case(self) -> Literal["title", "upper", ""]:
        """For values that differ only in case; upper for codes such as `DE`."""
        if not self.untidy:
            return ""
        uppers = sum(map(str.isupper, self.values))
        are_short = max(map(len, self.values)) <= _MAX_CODE_LENGTH
        is_upper = 2 * uppers > len(self.values) or (uppers and are_short)
        cased = [value.upper() if is_upper else value.title() for value in self.values]
        if MISSING & set(cased):
            return ""  # `none` would be read as missing
        return "upper" if is_upper else "title"

    @property
    def is_boolean(self) -> bool:
        """Whether pandas reads `True` and `False`, not texts."""
        values = {value.lower() for value in self.values}
        return self.kind == "text" and not self.padded and bool(values) and values <= _BOOLEANS

    def same(self, value: str) -> tuple[str, ...]:
        spellings = (spelling for spelling in self.values if _tidied(spelling) == _tidied(value))
        return tuple(spellings) or (value,)


def is_key(name: str) -> bool:
    """Whether a column identifies rows, by its name."""
    return bool(_KEY.search(name))


def column_of(name: str, values: Sequence[str], decimal: str = ".") -> ColumnFacts:
    """What all of its values are: numbers, dates, else texts.

    `decimal`: what a lone sign in numbers such as `1,234` is.
    """
    texts = text_column(name, values)
    present = list(map(str.strip, _present(values)))
    if not present:
        return texts
    column = replace(texts, is_code=False, values=(), padded=False)
    if number := _number_format(present, decimal):
        decimal, thousands = number
        answers = ("0", "1") if set(present) == {"0", "1"} else ()
        return replace(column, kind="number", decimal=decimal, thousands=thousands, values=answers)
    if form := date_format_of(present):
        swapped = form in _SWAPPED and fits_date_format(present, _SWAPPED[form])
        days = [datetime.strptime(cell, form).date().isoformat() for cell in present]
        first, last = min(days), max(days)
        return replace(
            column, kind="date", date_format=form, swapped=swapped, first=first, last=last
        )
    return texts


def text_column(name: str, values: Sequence[str]) -> ColumnFacts:
    """A column of texts, whatever they look like."""
    spellings, stripped = _present(values), set(map(str.strip, values))
    different = tuple(dict.fromkeys(map(str.strip, spellings)))
    return ColumnFacts(
        name,
        "text" if different else "empty",
        distinct=len(different),
        is_unique=0 < len(different) == len(spellings),
        missing_sign=next((sign for sign in _ODD_MISSING if sign in stripped), ""),
        is_code=all(map(str.isdigit, different)) and bool(different),
        values=different if len(different) <= MAX_VALUES else (),
        padded=any(value != value.strip() for value in spellings),
        has_gaps=len(spellings) < len(values),
    )


def _present(values: Sequence[str]) -> list[str]:
    return [value for value in values if value.strip() not in MISSING.union(_ODD_MISSING)]


def _tidied(value: str) -> str:
    return " ".join(value.casefold().split())


def _number_format(present: Sequence[str], decimal: str) -> tuple[str, str] | None:
    """Decimal and thousands separator, if all are numbers."""
    if any(_CODE.fullmatch(cell) for cell in present):
        return None
    if all(_PLAIN.fullmatch(cell) for cell in present):
        return ".", ""
    has_points = all(_PLAIN.fullmatch(cell) or _POINT.fullmatch(cell) for cell in present)
    has_commas = all(_COMMA.fullmatch(cell) for cell in present)
    if has_points and not (has_commas and decimal == ","):
        return ".", ","
    if has_commas:
        return ",", "." if any("." in cell for cell in present) else ""
    return None


def is_number(cell: str) -> bool:
    return any(pattern.fullmatch(cell.strip()) for pattern in (_PLAIN, _POINT, _COMMA))


def date_format_of(present: Sequence[str]) -> str:
    if not all(6 <= len(cell) <= 30 and any(map(str.isdigit, cell)) for cell in present):
        return ""
    return next((form for form in _DATE_FORMATS if fits_date_format(present, form)), "")


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
_SEPARATORS = ("\t", ";", "|", ",")  # in order of significance, which breaks ties


def format_of(path: str) -> Format:
    return FORMATS.get(PurePosixPath(path.lower()).suffix, "text")


@dataclass(frozen=True)
class Table:
    path: str
    separator: str
    columns: tuple[ColumnFacts, ...]
    has_header: bool
    first_line: int  # lines before the first row of data; a header counts as one
    encoding: str = "utf-8-sig"
    renamed: bool = False  # names were missing, empty or duplicated
    uneven: bool = False  # some rows have too many fields
    lines: int | None = None  # of the whole file, if known
    rows: int | None = None  # of data, if known
    is_variable: bool = False  # a DataFrame of the kernel; `path` is its name

    @property
    def format(self) -> Format:
        return format_of(self.path)

    @property
    def lines_above(self) -> int:
        """Above the header, or above the data if there is none."""
        return self.first_line - self.has_header

    @property
    def is_whole(self) -> bool:
        """Whether its values and dates are those of all rows."""
        return self.is_variable or (self.lines is not None and self.lines <= LINES_READ)

    @property
    def paths(self) -> tuple[str, str]:
        """How requests may write its path."""
        return self.path, PurePosixPath(self.path).name

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
    def categories(self) -> list[ColumnFacts]:  # texts with few values
        return [column for column in self.of_kind("text") if column.distinct <= 12]


_Row = tuple[int, Sequence[str]]  # with the number of its last line
_MIDNIGHT = " 00:00:00"
_PERIOD = re.compile(r"(19|20)\d\d(-\d\d){0,2}")


def table_of(
    path: str, text: str, encoding: str = "utf-8", lines: int | None = None
) -> Table | None:
    """The table in the first lines of a file; of formats other than text, as tabs divide them.

    `lines`: of the whole file.
    """
    kind = format_of(path)
    separator = _separator_of(text) if kind == "text" else "\t"
    rows = _below_titles(_rows(text, separator))
    if not rows:
        return None
    (line, top), cells = rows[0], [row for _line, row in rows]
    has_header = kind not in ("text", "excel") or _has_header(cells)
    data = cells[1:] if has_header else cells
    head = top if has_header else [""] * len(top)
    names = _clear_names(head)
    columns = [[row[at] for row in data if at < len(row)] for at in range(len(names))]
    columns = list(map(_without_midnight, columns)) if kind == "excel" else columns
    # One file has one decimal sign, and those with semicolons have a comma.
    has_commas = separator == ";" or any(column_of("", each).decimal == "," for each in columns)
    decimal = "," if has_commas else "."
    first_line = line - 1 - "".join(top).count("\n") + has_header
    read = text.count("\n") + (not text.endswith("\n"))
    more = max(0, (lines or 0) - read)
    is_known = lines is not None and (not more or len(data) == read - first_line)
    return Table(
        path,
        separator if kind == "text" else "",
        tuple(
            column_of(name, values, decimal) for name, values in zip(names, columns, strict=True)
        ),
        has_header,
        first_line,
        # A mark at the start of the file tells the order of the bytes.
        encoding={"utf-8": "utf-8-sig"}.get(encoding, re.sub("-[lb]e$", "", encoding)),
        renamed=has_header and names != list(head),
        uneven=any(len(row) > len(names) for row in data),
        lines=lines,
        rows=len(data) + more if is_known else None,
    )


def _separator_of(text: str) -> str:
    """The delimiter that splits most lines evenly, into the most fields."""

    def evenness(separator: str) -> tuple[float, int]:
        rows = _rows(text, separator)
        width = _width(rows)
        share = sum(len(row) == width for _line, row in rows) / max(1, len(rows))
        return round(min(share, 0.9), 1), width

    dividing = [sign for sign in _SEPARATORS if _width(_rows(text, sign)) > 1]
    return max(dividing, key=evenness, default=",")


def _rows(text: str, separator: str) -> list[_Row]:
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        return [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except csv.Error:
        return []


def _width(rows: Sequence[_Row]) -> int:
    """That of most rows; single cells, such as titles, count half."""
    widths = Counter(len(row) for _line, row in rows)
    return max(widths, key=lambda width: (widths[width] * (1 + (width > 1)), width), default=0)


def _below_titles(rows: Sequence[_Row]) -> Sequence[_Row]:
    """A row with one filled cell is a title, unless its table may be no wider."""
    width = _width(rows)
    wide = [at for at, (_line, row) in enumerate(rows) if len(row) == width]
    for at in wide:
        row = rows[at][1]
        is_index = len(row) == 2 and not row[0].strip()  # as pandas writes it, without a name
        if is_index or sum(map(bool, map(str.strip, row))) > 1:
            return rows[at:]
    return rows[wide[0] :] if wide else rows


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    first = [cell.strip() for cell in rows[0]]
    if _is_value(first[0]) or all(cell in MISSING for cell in first):
        return False
    for at, cell in enumerate(first):
        below = [row[at].strip() for row in rows[1:] if at < len(row) and row[at].strip()]
        heads_numbers = _PERIOD.fullmatch(cell) and below and all(map(is_number, below))
        if cell and (cell in below or (_is_value(cell) and not heads_numbers)):
            return False
    return True


def _is_value(cell: str) -> bool:
    return is_number(cell) or bool(date_format_of([cell]))


def _without_midnight(values: list[str]) -> list[str]:
    """Dates come out of sheets with a time."""
    if all(value.endswith(_MIDNIGHT) for value in values if value):
        return [value.removesuffix(_MIDNIGHT) for value in values]
    return values


def _clear_names(names: Sequence[str]) -> list[str]:
    clear: list[str] = []
    for place, name in enumerate(names, 1):
        wanted = " ".join(name.split()) or f"column_{place}"
        unique, number = wanted, 2
        while unique in clear:
            unique, number = f"{wanted}_{number}", number + 1
        clear.append(unique)
    return clear
