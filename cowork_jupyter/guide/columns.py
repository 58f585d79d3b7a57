"""What the values of a column are: numbers, dates, texts, or nothing at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["number", "date", "text", "empty"]

MAX_VALUES = 400
"""Of a column with more, the values are no groups."""
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "<na>"})
"""What stands for no value, in lower case."""
ODD_MISSING = ("?", "-", "--", ".")
"""Signs that some people write for no value."""
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%d-%m-%Y",
    "%d.%m.%y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%Y-%m",
)
_SWAPPED = {"%d/%m/%Y": "%m/%d/%Y", "%d/%m/%Y %H:%M": "%m/%d/%Y %H:%M"}
_PLAIN = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_POINT = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?")
_CODE = re.compile(r"0\d+")
"""Postcodes and the like: digits that are no number."""


@dataclass(frozen=True)
class ColumnFacts:
    """A column, as far as its first values tell."""

    name: str
    kind: Kind
    date_format: str = ""
    swapped: bool = False
    """Whether day and month could be the other way round."""
    decimal: str = "."
    thousands: str = ""
    distinct: int = 0
    """Different values in what was read."""
    missing_sign: str = ""
    is_code: bool = False
    """Digits that are no number, as in a postcode."""
    values: tuple[str, ...] = ()
    """Of a text, the different values that were read, without blanks around them; not too many.
    Of numbers, only 0 and 1, where they stand for no and yes."""
    untidy: tuple[str, ...] = ()
    """Values that stand beside the same in other letters or with blanks around it."""
    padded: bool = False
    """Whether blanks stand around some values of a text."""
    first: str = ""
    last: str = ""
    """Of dates, the earliest and the latest that were read, as ISO writes days."""

    @property
    def mixed_case(self) -> bool:
        """Whether some values differ only in capitals."""
        return len({_tidied(value) for value in self.values}) < len(self.values)

    def same(self, value: str) -> tuple[str, ...]:
        """The values that are this one but for capitals and blanks."""
        return tuple(
            spelling for spelling in self.values if _tidied(spelling) == _tidied(value)
        ) or (value,)


def column_of(name: str, values: Sequence[str]) -> ColumnFacts:
    """Judge a column by the values that were read of it."""
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
    """The rarer ones of values that differ only in capitals and in blanks around them."""
    counted = Counter(values)
    usual: dict[str, str] = {}
    for value, _count in counted.most_common():
        usual.setdefault(_tidied(value), value)
    return tuple(value for value in counted if usual[_tidied(value)] != value)[:MAX_VALUES]


def _tidied(value: str) -> str:
    return " ".join(value.casefold().split())


def _number_format(present: Sequence[str]) -> tuple[str, str] | None:
    """The decimal sign and the sign between thousands, if all these are numbers."""
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
    """Whether a single value looks like a number, in whatever country."""
    return any(pattern.fullmatch(cell.strip()) for pattern in (_PLAIN, _POINT, _COMMA))


def date_format_of(present: Sequence[str]) -> str:
    """The format that all these dates have; empty if they are none."""
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
