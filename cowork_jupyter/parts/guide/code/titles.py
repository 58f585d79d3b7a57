"""Titles, labels and variable names for a request, and its values as code."""

from __future__ import annotations

from ..request import Filter, Period, Request
from ..tables import ColumnFacts
from .cells import literal

_HOW = {
    "sum": "Total", "mean": "Mean", "median": "Median", "min": "Smallest", "max": "Largest",
    "std": "Standard deviation of", "distinct": "Different values of",
    "share": "Share of",
}  # fmt: skip
_NAMES: dict[Period, str] = {
    "day": "daily", "week": "weekly", "month": "monthly", "quarter": "quarterly",
    "year": "yearly", "weekday": "by_weekday", "hour": "by_hour",
}  # fmt: skip
_SIGNS = {"=": "", "!=": "not ", "contains": "with "}


def subject(request: Request) -> str:
    if not request.columns:
        return "Share of rows" if request.aggregate == "share" else "Number of rows"
    return f"{_HOW[request.aggregate]} {request.columns[0]}"


def axis_label(request: Request) -> str:
    """The column name, which usually carries the unit."""
    what = request.columns[0] if request.columns else "rows"
    if request.aggregate in ("share", "distinct"):
        return f"{_HOW[request.aggregate].lower()} {what}"
    return what


def title(request: Request) -> str:
    by = [*([request.period] if request.period else []), *request.groups]
    words = f"{subject(request)} by {' and '.join(by)}" if by else subject(request)
    return f"{words}{filter_text(request)}"


def filter_text(request: Request) -> str:
    return f" ({', '.join(map(_condition, request.filters))})" if request.filters else ""


def _condition(row_filter: Filter) -> str:
    values = [" ".join(value.split()) for value in row_filter.values]
    if row_filter.operator in ("missing", "known"):
        return f"{row_filter.column} {row_filter.operator}"
    if row_filter.operator == "between":
        return f"{row_filter.column} {'–'.join(values)}"
    if row_filter.operator in (">", ">=", "<", "<="):
        return f"{row_filter.column} {row_filter.operator} {values[0]}"
    distinct = dict.fromkeys(value.casefold() for value in values)
    return _SIGNS.get(row_filter.operator, "") + " or ".join(distinct)


def result_names(request: Request) -> tuple[str, ...]:
    """`by_region`, or something longer if that is taken."""
    groups = f"by_{'_and_'.join(request.groups)}"
    short = _NAMES[request.period] if request.period else groups
    return short.lower(), f"{axis_label(request)}_{short}".lower()


def filter_values(row_filter: Filter, facts: ColumnFacts | None) -> list[str]:
    return list(dict.fromkeys(_in_code(value, facts) for value in row_filter.values))


def compared_values(request: Request) -> tuple[str, str]:
    """Both sides as they are in the data, in code."""
    assert request.between is not None
    if request.time:
        first, second = (literal(pandas_period(side)) for side in request.between)
    else:
        facts = request.table.column(request.groups[0])
        first, second = (_in_code(side, facts) for side in request.between)
    return first, second


def _in_code(value: str, facts: ColumnFacts | None) -> str:
    """A number without quotes, a text as the tidied column spells it."""
    if facts and facts.kind == "number":
        return number_code(value)
    if facts and facts.is_boolean:
        return value.capitalize()
    cased = {"title": str.title, "upper": str.upper}.get(facts.wanted_case if facts else "", str)
    return literal(cased(value.strip()))


def number_code(value: str) -> str:
    try:
        number = float(value.replace(",", ""))
    except ValueError:
        return literal(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def frequency(value: str) -> str:
    """The pandas frequency of a shortened ISO date."""
    if "Q" in value:
        return "Q"
    return {4: "Y", 7: "M"}.get(len(value), "D")


def pandas_period(value: str) -> str:
    """A period as pandas writes it: `2024Q1`."""
    return value.replace("-Q", "Q")
