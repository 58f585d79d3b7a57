"""What the values of a column are: numbers, dates, texts, or nothing at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

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


@dataclass(frozen=True)
class ColumnFacts:
    name: str
    kind: Kind
    date_format: str = ""
    swapped: bool = False  # day and month could be swapped
    decimal: str = "."
    thousands: str = ""
    distinct: int = 0
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
    def mixed_case(self) -> bool:
        return len({_tidied(value) for value in self.values}) < len(self.values)

    def same(self, value: str) -> tuple[str, ...]:
        return tuple(
            spelling for spelling in self.values if _tidied(spelling) == _tidied(value)
        ) or (value,)


def column_of(name: str, values: Sequence[str]) -> ColumnFacts:
    cells = [value.strip() for value in values]
    present = [cell for cell in cells if cell.lower() not in MISSING]
    sign = next((mark for mark in ODD_MISSING if mark in present), "")
    present = [cell for cell in present if cell not in ODD_MISSING]
    distinct = len(set(present))
    if not present:
        return ColumnFacts(name, "empty", missing_sign=sign)
    number = _number_format(present)
    if number:
        decimal, thousands = number
        return ColumnFacts(
            name,
            "number",
            decimal=decimal,
            thousands=thousands,
            distinct=distinct,
            missing_sign=sign,
            values=("0", "1") if set(present) == {"0", "1"} else (),
        )
    form = date_format_of(present)
    if form:
        swapped = form in _SWAPPED and _fits(present, _SWAPPED[form])
        days = [datetime.strptime(cell, form).date().isoformat() for cell in present]
        return ColumnFacts(
            name,
            "date",
            form,
            swapped,
            distinct=distinct,
            missing_sign=sign,
            first=min(days),
            last=max(days),
        )
    different = tuple(dict.fromkeys(present))
    return ColumnFacts(
        name,
        "text",
        distinct=distinct,
        missing_sign=sign,
        is_code=all(map(str.isdigit, present)),
        values=different if len(different) <= MAX_VALUES else (),
        untidy=_untidy([value for value in values if value.strip() in different]),
        padded=any(value != value.strip() for value in values if value.strip() in different),
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
    return next((form for form in DATE_FORMATS if _fits(present, form)), "")


def _fits(present: Sequence[str], form: str) -> bool:
    try:
        for cell in present:
            datetime.strptime(cell, form)
    except ValueError:
        return False
    return True
