"""Dates: as text, in another format than pandas expects, or in several."""

from __future__ import annotations

import ast
import re

from ..tables import date_format_of, fits_date_format
from .cell import FailingCell, Fix
from .conversions import are_mostly, as_dates, not_dates, swapped

_MISMATCH = re.compile(r'time data "(.{0,80}?)" doesn\'t match format "(.{0,80}?)"')
_DAY_FIRST = re.compile(r"\d{1,2}\.|(?:1[3-9]|[23]\d)[/-]")
_NO_DATES = Fix(
    'Some values are not dates. Look at them first; `errors="coerce"` makes them missing (NaT).'
)


def date_format(cell: FailingCell) -> Fix | None:
    if "not likely a datetime" in cell.message or "Unknown datetime string" in cell.message:
        return _NO_DATES
    found = _MISMATCH.search(cell.message)
    calls = [call for call in cell.calls("to_datetime") if not cell.code.keyword(call, "errors")]
    return _with_format(cell, calls[0], *found.groups()) if found and len(calls) == 1 else None


def _with_format(cell: FailingCell, call: ast.Call, text: str, expected: str) -> Fix:
    """`expected` was given, or is what pandas guessed from the first value."""
    code, given = cell.code, cell.code.keyword(call, "format")
    guess = expected.replace("%m.%d.", "%d.%m.")  # with dots, nobody writes the month first
    texts = _texts_in(cell, call)
    others = [other for other in texts if _is_date(other, guess)]
    known = [*others, text] if _is_date(text, guess) else others
    if not are_mostly(known, texts):
        return _NO_DATES
    form = guess if fits_date_format(known, guess) else date_format_of(known)
    if not (others or given or form in (guess, swapped(guess))):
        form = ""  # the values before fit what was expected, and this one does not
    why, options = [], ""
    if form and form != expected:
        why.append(f"The known dates fit `{form}`, not `{expected}`.")
    elif not form:
        why.append("Not all dates have the same format.")
        is_day_first = guess.startswith("%d") or any(map(_DAY_FIRST.match, known))
        if is_day_first and not code.keyword(call, "dayfirst"):
            options += ", dayfirst=True"
    wanted = f'"{form or "mixed"}"'
    if not given:
        options += f", format={wanted}"
    if text not in known:
        why.append(f"`{text}` is not a date. What is not a date becomes missing (NaT).")
        options += ', errors="coerce"'
    edits = [code.replacement(given.value, wanted)] if given and form != expected else []
    edits += [code.append_argument(call, options.strip(", "))] if options else []
    return cell.edit(" ".join(why), *edits)


def _is_date(text: str, guess: str) -> bool:
    return bool(date_format_of([text])) or fits_date_format([text], guess)


def _texts_in(cell: FailingCell, call: ast.Call) -> list[str]:
    """What is parsed, as far as it is known: a list in the code, or the first rows of a column."""
    match call.args[:1]:
        case [ast.List(elts=items)]:
            return [str(item.value) for item in items if isinstance(item, ast.Constant)]
        case [node]:
            column = cell.column(node)
            return list(column.texts) if column else []
    return []


def text_for_dates(cell: FailingCell) -> Fix | None:
    """`.dt` on text."""
    for node in cell.find(ast.Attribute) if "Can only use .dt accessor" in cell.message else ():
        column = cell.column(node.value)
        if node.attr == "dt" and not (column and column.is_date):
            new = as_dates(cell, node.value)
            if not new:
                return not_dates(column) if column else _NO_DATES
            why = "The column does not contain dates yet: convert it first."
            return cell.replace(why, node.value, new)
    return None
