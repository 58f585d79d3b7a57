"""Titles, labels and variable names for a request, and its values as code."""

from __future__ import annotations

from ..request import Filter, Period, Request
from ..tables import ColumnFacts
from .cells import literal

_HOW = {
    "sum": "Total", "mean": "Mean", "median": "Median", "min": "Smallest", "max": "Largest",
    "std": "Standard deviation of", "count": "Known values of", "distinct": "Different values of",
    "share": "Share of",
}  # fmt: skip
_NAMES: dict[Period, str] = {
    "day": "daily", "week": "weekly", "month": "monthly", "quarter": "quarterly",
    "year": "yearly", "weekday": "by_weekday", "hour": "by_hour",
}  # fmt: skip
_SIGNS = {"=": "", "!=": "not ", "contains": "with "}


def measure_of(request: Request) -> str:
    """Empty if rows are counted."""
    return request.columns[0] if request.columns else ""


def subject(request: Request) -> str:
    measure = measure_of(request)
    if not measure:
        return "Share of rows" if request.aggregate == "share" else "Number of rows"
    return f"{_HOW[request.aggregate]} {measure}"


def axis_label(request: Request) -> str:
    """The column name, which usually carries the unit."""
    if request.aggregate == "share":
        return f"share of {measure_of(request) or 'rows'}"
    if request.aggregate == "distinct":
        return f"different values of {measure_of(request)}"
    return measure_of(request) or "rows"


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


def selection_name(request: Request) -> str:
    only = request.filters[0]
    names_rows = only.operator in ("=", "in") and only.values[0][:1].isalpha()
    return only.values[0].lower() if names_rows and len(request.filters) == 1 else "selected"


def filter_values(row_filter: Filter, facts: ColumnFacts | None) -> list[str]:
    """Numbers unquoted, texts as the tidied column spells them."""
    if facts and facts.kind == "number":
        return [_number(value) for value in row_filter.values]
    values = [tidied_value(value, facts) for value in row_filter.values]
    return [literal(value) for value in dict.fromkeys(values)]


def compared_values(request: Request) -> tuple[str, str]:
    assert request.between is not None
    column = None if request.time else request.table.column(request.groups[0])
    first, second = (tidied_value(side, column) for side in request.between)
    return first, second


def tidied_value(value: str, facts: ColumnFacts | None) -> str:
    match facts and facts.wanted_case:
        case "title":
            return value.strip().title()
        case "upper":
            return value.strip().upper()
    return value.strip()


def _number(value: str) -> str:
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
