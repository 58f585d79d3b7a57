"""Spans of time as people name them and as ISO writes them: 2024, 2024-Q2, 2024-03, 2024-03-05."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ..request import Period

_MONTHS = (
    "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
    "august aug", "september sep sept", "october oct", "november nov", "december dec",
)  # fmt: skip
MONTHS = {word: at for at, words in enumerate(_MONTHS, 1) for word in words.split()}
# maximum span in days for each period
_PERIODS: tuple[tuple[int, Period], ...] = (
    (45, "day"), (100, "week"), (4 * 366, "month"), (10 * 366, "quarter"),
)  # fmt: skip
_SHAPES: tuple[tuple[Period, str], ...] = (
    ("year", r"\d{4}"), ("quarter", r"\d{4}-Q[1-4]"), ("month", r"\d{4}-\d\d"),
    ("day", r"\d{4}-\d\d-\d\d"),
)  # fmt: skip


def period_of(span: str) -> Period | None:
    """None if it is not a span."""
    return next((period for period, shape in _SHAPES if re.fullmatch(shape, span)), None)


def previous_span(span: str) -> str:
    year = int(span[:4])
    match period_of(span):
        case "year":
            return f"{year - 1:04d}"
        case "quarter":
            number = int(span[-1])
            return f"{year - 1:04d}-Q4" if number == 1 else f"{year:04d}-Q{number - 1}"
        case "month":
            number = int(span[-2:])
            return f"{year - 1:04d}-12" if number == 1 else f"{year:04d}-{number - 1:02d}"
    return (date.fromisoformat(span) - timedelta(days=1)).isoformat()


def span_of_day(day: str, period: Period) -> str:
    """The span of this length that contains a day."""
    match period:
        case "year":
            return day[:4]
        case "quarter":
            return f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"
        case "month":
            return day[:7]
    return day


def spans_within(number: int, period: Period, first: str, last: str) -> list[str]:
    """Such months or quarters between two days, the latest first: all of `march`."""
    years = range(int(last[:4]), int(first[:4]) - 1, -1) if first else ()
    spans = [f"{year}-{number:02d}" if period == "month" else f"{year}-Q{number}" for year in years]
    return [
        span for span in spans if span_of_day(first, period) <= span <= span_of_day(last, period)
    ]


def usual_period(first: str, last: str) -> Period:
    """A few dozen points between two days; months if they are not known."""
    if not first:
        return "month"
    days = (date.fromisoformat(last) - date.fromisoformat(first)).days
    return next((period for most, period in _PERIODS if days <= most), "year")
