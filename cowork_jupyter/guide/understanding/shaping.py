"""What every aggregate takes: its time, its chart, which rows count, what names a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from ..request import Filter, Period, Request
from .names import Names, is_key
from .reading import RequestReading

_FEW_MONTHS = 100
# maximum span in days for each period
_PERIODS: tuple[tuple[int, Period], ...] = (
    (45, "day"),
    (_FEW_MONTHS, "week"),
    (4 * 366, "month"),
    (10 * 366, "quarter"),
)


class Shaping:
    def __init__(self, reading: RequestReading, names: Names, text: str, *, asks: bool) -> None:
        self.reading = reading
        self.names = names
        self.table = reading.table
        self.text = text
        self.asks = asks  # a question is better answered by a table than by a chart
        self.filters = self._filters()

    def _with_time(self, request: Request) -> Request:
        reading = self.reading
        year = self.names.year
        if year and (reading.over_time or reading.period == "year") and year not in request.groups:
            return replace(request, groups=(year, *request.groups))
        if not reading.time:
            return request
        period: Period | None = reading.period
        is_line = reading.chart == "line" and not request.groups
        asked = reading.asks_when and reading.rank is not None and not request.groups
        if period is None and (reading.over_time or is_line or asked):
            period = self._usual_period()
        return replace(request, time=reading.time, period=period) if period else request

    def _usual_period(self) -> Period:
        """A few dozen points; months if the range is unknown."""
        column = self.table.column(self.reading.time)
        if column is None or not column.first:
            return "month"
        days = (date.fromisoformat(column.last) - date.fromisoformat(column.first)).days
        found: Period = next((period for most, period in _PERIODS if days <= most), "year")
        # What is read of a long file may be its first days only.
        return found if self.names.is_whole or days > _FEW_MONTHS else "month"

    def _charted(self, request: Request) -> Request:
        reading = self.reading
        line = reading.over_time or request.period is not None
        if reading.chart in ("bar", "line", "pie"):
            request = replace(request, chart=reading.chart)
        elif reading.draws or (request.period and reading.over_time and reading.rank is None):
            request = replace(request, chart="line" if line else "bar")
        if request.chart and not request.groups and not request.period:
            group = next((column.name for column in self.table.categories), "")
            if group:
                return replace(request, groups=(group,))
        return request

    def _label(self) -> str:
        """The column that names the rows."""
        for word in ("name", self.table.stem, "title", "product"):
            found = self.names.exactly([word.lower()])
            if found:
                return found.name
        keys = [column.name for column in self.table.columns if is_key(column.name)]
        own = [key for key in keys if key.lower().startswith(self.table.stem[:4].lower())]
        first = self.table.columns[:1]
        texts = [column.name for column in first if column.kind == "text"]
        apart = [text for text in texts if first[0] not in self.table.categories]
        return next(iter([*own, *keys, *apart]), "")

    def _numbers(self, names: Sequence[str]) -> list[str]:
        numbers = [column.name for column in self.table.of_kind("number")]
        return [name for name in names if name in numbers]

    def _is_measure(self, name: str) -> bool:
        column = self.table.column(name)
        return column is not None and column.kind == "number" and not is_key(name)

    def _filters(self) -> list[Filter]:
        reading = self.reading
        found = list(reading.filters)
        time = reading.time
        bounded = {
            value
            for row_filter in found
            if row_filter.column == time
            for value in row_filter.values
        }
        free = [span for span in dict.fromkeys(reading.spans) if span not in bounded]
        if time and len(free) == 1:
            found.append(Filter(time, "=", (free[0],)))
        elif time and free:
            found.append(Filter(time, "in", tuple(free)))
        by_column: dict[str, list[str]] = {}
        for name, value in reading.pairs:
            column = self.table.column(name)
            by_column.setdefault(name, []).extend(column.same(value) if column else (value,))
        for name, values in by_column.items():
            different = tuple(dict.fromkeys(values))
            operator = "=" if len(different) == 1 else "in"
            found.append(Filter(name, operator, different))  # type: ignore[arg-type]
        return found

    def _filtered(self, request: Request, filters: Sequence[Filter] | None = None) -> Request:
        kept = list(self.filters if filters is None else filters)
        if request.aggregate == "share" and request.verb == "aggregate":
            # The share of one value is seen beside those of the others.
            kept = [row_filter for row_filter in kept if row_filter.column not in request.groups]
        dates = [row_filter.column for row_filter in kept if row_filter.column == self.reading.time]
        time = request.time or (dates[0] if dates else "")
        return replace(request, filters=tuple(kept), time=time)
