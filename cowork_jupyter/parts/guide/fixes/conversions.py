"""Code that reads texts as numbers or dates, if the known values say that they are some."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ..tables import MISSING, column_of, date_format_of, fits_date_format, is_number
from .cell import FailingCell, Fix, KnownColumn

_SIGNS = re.compile(r"[$€£¥%\s]")
_PARTS = {"%d": "%m", "%m": "%d"}


def _present(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if text.strip() not in MISSING]


def are_mostly(found: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether few of the known texts would become missing."""
    return bool(found) and 2 * len(found) >= len(_present(texts))


def as_numbers(
    cell: FailingCell, expression: str, column: KnownColumn, *, whole: bool = False
) -> str:
    """Code that parses a column of texts; empty if most of them are no numbers."""
    texts = column.texts
    numbers = [bare for text in _present(texts) if is_number(bare := _SIGNS.sub("", text))]
    facts = column_of("", numbers)
    if facts.kind != "number" or not are_mostly(numbers, texts):
        return ""
    written = "".join(text.strip() for text in texts if any(map(str.isdigit, text)))
    signs = "".join(sorted({r"\s" if sign.isspace() else sign for sign in _SIGNS.findall(written)}))
    steps = f'.str.replace(r"[{signs}]", "", regex=True)' if signs else ""
    steps += f'.str.replace("{facts.thousands}", "")' if facts.thousands else ""
    steps += '.str.replace(",", ".")' if facts.decimal == "," else ""
    if steps and column.dtype == "object":  # `.str` would lose numbers among the texts
        steps = f'.astype("string"){steps}'
    are_whole = whole and not any(facts.decimal in number for number in numbers)
    ending = '.astype("Int64")' if are_whole else ""
    return f'{cell.pandas}.to_numeric({expression}{steps}, errors="coerce"){ending}'


def as_dates(cell: FailingCell, node: ast.AST) -> str:
    """Code that parses a column as dates; empty if what is known of it is something else."""
    column = cell.column(node)
    options = "" if column is None else _date_options(column)
    parse = f"{cell.pandas}.to_datetime({cell.code.source(node)}"
    return "" if options is None else f"{parse}{options})"


def _date_options(column: KnownColumn) -> str | None:
    """Arguments with which `to_datetime` reads a column; None if it has no clear dates."""
    dates = [text for text in _present(column.texts) if date_format_of([text])]
    form = date_format_of(dates)
    if not (column.is_text and form and are_mostly(dates, column.texts)):
        return None
    if not form.startswith("%Y") and "." not in form and fits_date_format(dates, swapped(form)):
        return None  # nobody can tell the day from the month
    options = "" if form.startswith("%Y") else f', format="{form}"'
    is_all = len(dates) == len(_present(column.texts))
    return options if is_all else f'{options}, errors="coerce"'


def swapped(form: str) -> str:
    """With day and month in each other's place; no format if the month is written as a word."""
    return re.sub("%[dm]", lambda part: _PARTS[part[0]], form) if "%m" in form else "-"


def _example(column: KnownColumn) -> str:
    return f"text such as `{column.texts[0]}`" if column.texts else f"`{column.dtype}` values"


def not_numbers(column: KnownColumn) -> Fix:
    return Fix(
        f"`{column.name}` has {_example(column)}, which I cannot read as numbers. Choose a column "
        "of numbers, or clean its text first."
    )


def not_dates(column: KnownColumn) -> Fix:
    if column.is_number:
        return Fix(
            "The column contains numbers, not dates. `pd.to_datetime(column, unit=…)` converts "
            "them, if you know their unit."
        )
    return Fix(
        f"`{column.name}` has {_example(column)}, which I cannot surely read as dates. If they "
        "are, name their format: `pd.to_datetime(column, format=…)`."
    )
