"""Spans of time as people name them and as ISO writes them: 2024, 2024-Q2, 2024-03, 2024-03-05."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ..request import Period

_MONTHS = (
    "january jan januar janner", "february feb februar", "march mar marz maerz", "april apr",
    "may mai", "june jun juni", "july jul juli", "august aug", "september sep sept",
    "october oct oktober okt", "november nov", "december dec dezember dez",
)  # fmt: skip
# without accents
MONTHS = {word: at for at, words in enumerate(_MONTHS, 1) for word in words.split()}
_SEASONS = {
    3: "spring springtime fruhling fruhjahr",
    6: "summer summertime sommer",
    9: "autumn fall herbst",
    12: "winter wintertime",
}
# first month of each season
SEASONS = {word: month for month, words in _SEASONS.items() for word in words.split()}
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


def latest_span(number: int, period: Period, last: str) -> str:
    """The latest such month or quarter before the day `last`."""
    year = int(last[:4])
    at_end = int(last[5:7]) if period == "month" else (int(last[5:7]) + 2) // 3
    year -= number > at_end
    return f"{year:04d}-{number:02d}" if period == "month" else f"{year:04d}-Q{number}"


def season_months(month: int, year: str, first: str, last: str) -> tuple[str, str]:
    """The months of a season: of that year, else the latest with the most data.

    A winter belongs to the year in which it ends.
    """
    starts = int(year) - (month == 12) if year else 0
    years = [starts] if year else range(int(last[:4]), int(first[:4]) - 2, -1)
    spans = [[_month(start_year, month + n) for n in range(3)] for start_year in years]
    months = max(spans, key=lambda span: sum(first[:7] <= moment <= last[:7] for moment in span))
    return months[0], months[-1]


def _month(year: int, number: int) -> str:
    return f"{year + (number > 12):04d}-{(number - 1) % 12 + 1:02d}"
