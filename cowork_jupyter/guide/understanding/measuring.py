"""Build the aggregate of a reading: its time, chart, filters, ranking and measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from ..request import Aggregate, Filter, Period, Request
from .names import Names, is_key, measures
from .reading import RequestReading, main_measure
from .synonyms import SAYS, adds_up, is_worse_if_high, usual_aggregate
from .tokens import words_of

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
        numbers = self.table.names_of("number")
        return [name for name in names if name in numbers]

    def _filters(self) -> list[Filter]:
        reading = self.reading
        found = list(reading.filters)
        time = reading.time
        timed = [row_filter for row_filter in found if row_filter.column == time]
        bounded = {value for row_filter in timed for value in row_filter.values}
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


# asks for a group without naming one
_WHAT_DOES = re.compile(r"\bwhat (?:do|does|did|sells?|costs?|brings?|earns?)\b", re.IGNORECASE)
_MANY = 10  # limit for `which customers …`


class Ranking(Shaping):
    def _ranked(self, request: Request) -> Request:
        reading = self.reading
        groups = request.groups or request.period
        ascending = self._ascending(request)
        if reading.rank is None and not reading.says:
            return replace(request, ascending=ascending)
        rank = reading.rank or 0
        asked = _WHAT_DOES.search(self.text)
        if not groups and asked and self.table.categories:
            names = [column.name for column in self.table.categories]
            group = self._label() if self._label() in names else names[0]
            request = replace(request, groups=(group,))
            groups = request.groups
        numbers = self._numbers(reading.columns)
        counted = [column for column in reading.columns if column not in numbers]
        if not groups and request.aggregate == "count" and counted:
            request = replace(request, groups=(counted[0],))  # "top 3 regions by number of orders"
            groups = request.groups
        if not groups:
            label = self._label()
            if reading.rows or rank or reading.says:
                request = replace(request, groups=(label,)) if label else request
            if reading.rank is not None and not reading.aggregates:
                request = replace(request, aggregate="min" if ascending else "max")
            if not request.groups:
                return request
        if reading.rank is not None and reading.by and not rank and not self._by_measure(request):
            extreme: Aggregate = "min" if ascending else "max"
            return replace(request, aggregate=extreme) if not reading.aggregates else request
        is_named = bool(request.groups) and request.groups[0] == self._label()
        if is_named and not reading.aggregates and request.aggregate == "mean":
            request = replace(request, aggregate="min" if ascending else "max")
        many = any(column in reading.plural for column in request.groups)
        many = many or (is_named and reading.noun.endswith("s") and not reading.which)
        limit = rank or (_MANY if many else 1)
        return replace(request, limit=limit, ascending=ascending)

    def _by_measure(self, request: Request) -> bool:
        return bool(set(self.reading.by) & set(request.columns)) or bool(self.reading.which)

    def _sorted(self) -> Request | None:
        """Rows ordered by a number, if a column names them."""
        reading = self.reading
        label = self.table.column(self._label())
        numbers = [column for column in reading.by if column in measures(self.table)]
        if not numbers or label is None or label in self.table.categories:
            return None
        request = Request("aggregate", self.table, (numbers[0],), "max", (label.name,))
        return self._filtered(replace(request, ascending=reading.ascending))

    def _newest(self) -> Request | None:
        """`The newest employee`, if a column names each row."""
        reading, label = self.reading, self.table.column(self._label())
        if not reading.newest:
            return None
        if label is None or label in self.table.categories:
            reading.blocking.append(reading.newest)
            return None
        time = reading.time or self.names.year
        newest = Request("aggregate", self.table, (time,), "max", (label.name,))
        return self._filtered(replace(newest, limit=reading.rank or reading.limit or 1))

    def _best_rows(self, measure: str) -> Request | None:
        """`Top 3 movies by votes`, if a column names each row."""
        reading, label = self.reading, self.table.column(self._label())
        more = reading.which or reading.counts or reading.period or len(reading.by) > 1
        if more or not reading.rows:
            return None
        if label is None:
            reading.wants_group = True
            reading.blocking.append(reading.noun or measure)
            return None
        is_name = bool({"name", "title"} & set(words_of(label.name)))
        is_group = label in self.table.categories and not is_name
        aggregate = usual_aggregate(measure) if is_group else "max"
        request = Request("aggregate", self.table, (measure,), aggregate, (label.name,))
        ascending = self._ascending(request)
        request = replace(request, limit=reading.rank or _MANY, ascending=ascending)
        return self._filtered(self._charted(request))

    def _most_frequent(self) -> Request | None:
        """`The busiest airport`, `the most common age`."""
        reading = self.reading
        named = list(dict.fromkeys([*reading.which, *reading.columns]))
        numbers = self._numbers(named)
        is_mixed = bool(numbers) and (len(named) > 1 or reading.counts)
        if not reading.frequent or not named or is_mixed or reading.aggregates:
            return None
        groups = tuple(dict.fromkeys([*named, *reading.by]))
        return self._with_time(Request("aggregate", self.table, (), "count", groups))

    def _most_of(self) -> Request | None:
        """`The region with the most customers` counts distinct ones."""
        reading = self.reading
        numbers = self._numbers(reading.columns)
        texts = [column for column in reading.columns if column not in numbers]
        named = list(dict.fromkeys([*reading.which, *texts]))
        more = reading.aggregates or reading.act or reading.says or reading.by or reading.period
        if reading.rank is None or more or len(named) != 2 or len(texts) != len(reading.columns):
            return None
        reading.plural.discard(named[0])
        return Request("aggregate", self.table, (named[1],), "distinct", (named[0],))

    def _ascending(self, request: Request) -> bool:
        """The best delays and costs are the lowest."""
        return self.reading.ascending != self.is_reversed(request)

    def is_reversed(self, request: Request) -> bool:
        return self.reading.judges and any(is_worse_if_high(column) for column in request.columns)


class Measuring(Ranking):
    def _aggregate(self, aggregate: Aggregate | None, measured: str = "") -> Request:
        reading = self.reading
        numbers = [measured] if measured else self._numbers(reading.columns)
        ranked_by = [column for column in reading.by if column in measures(self.table)]
        groups_named = [column for column in reading.columns if column not in numbers]
        by_is_measure = bool(ranked_by) and bool(groups_named or reading.which) and not numbers
        if by_is_measure:
            numbers = ranked_by
        measure, usual = self._measure(numbers)
        if reading.counts and reading.rows and not numbers:
            aggregate = None  # `how many sales in total`
        newest = self._newest()
        if newest:
            return newest
        if ranked_by and reading.rank is not None and not (numbers or groups_named):
            best = self._best_rows(ranked_by[0])
            if best:
                return best
        counted = self._most_frequent() or self._most_of()
        if counted:
            return self._filtered(self._ranked(counted))
        if aggregate in ("min", "max") and not numbers and reading.dates:
            measure = (reading.dates[0],)
        if aggregate is None:
            aggregate = usual
        elif aggregate not in ("distinct", "share") and not measure:
            measure = (main,) if (main := main_measure(self.names)) else ()
        groups = self._groups(measure)
        if reading.says:
            reading.ignored += [column for column in numbers if column != reading.says.value]
            measure = (reading.says.value,)
            special = SAYS[reading.says.detail][2]
            short = reading.period in ("day", "hour")
            extreme: Aggregate = "min" if reading.ascending else "max"
            aggregate = special or (extreme if short else usual_aggregate(measure[0]))
            if special:
                aggregate = reading.aggregates[0] if reading.aggregates else extreme
        measure, aggregate, groups = self._counted(measure, aggregate, groups)
        request = Request("aggregate", self.table, measure, aggregate, tuple(groups))
        request = self._with_time(request)
        request = self._ranked(request)
        return self._filtered(self._charted(request))

    def _measure(self, numbers: Sequence[str]) -> tuple[tuple[str, ...], Aggregate]:
        reading = self.reading
        if numbers:
            return (numbers[0],), self._usual(numbers[0])
        if reading.act:
            return (reading.act,), self._usual(reading.act)
        grouped = reading.by or reading.columns or reading.which or reading.period
        ranks_rows = reading.rank is not None and not grouped
        if (reading.rows and not ranks_rows) or reading.counts or self._lists():
            return (), "count"
        main = main_measure(self.names)
        if reading.judges and not grouped:
            matches = [self.names.exactly(["rating"]), *self.names.roughly("rating")]
            names = [match.name for match in matches if match]
            main = next((name for name in names if name in measures(self.table)), main)
        return ((main,), self._usual(main)) if main else ((), "count")

    def _lists(self) -> bool:
        """Only groups are named, so rows are counted."""
        reading = self.reading
        more = reading.aggregates or reading.over_time or reading.period or reading.act
        named = reading.columns if reading.draws else reading.by or reading.columns or reading.which
        compares = "compare" in reading.verbs
        return bool(named) and not more and not compares and reading.rank is None

    def _usual(self, name: str) -> Aggregate:
        return self.reading.aggregates[0] if self.reading.aggregates else usual_aggregate(name)

    def _counted(
        self, measure: tuple[str, ...], aggregate: Aggregate, groups: list[str]
    ) -> tuple[tuple[str, ...], Aggregate, list[str]]:
        """`how many …` counts rows or distinct values, or sums a number."""
        reading = self.reading
        subject = [column for column in reading.columns if column not in reading.by]
        if aggregate == "distinct" or (reading.counts and not reading.aggregates):
            texts = [column for column in subject if column not in self._numbers(subject)]
            numbers = [column for column in self._numbers(subject) if not is_key(column)]
            keys = [column for column in self._numbers(subject) if is_key(column)]
            kept = [group for group in groups if group not in texts]
            if aggregate == "distinct" and subject:
                return (subject[0],), "distinct", [group for group in groups if group != subject[0]]
            if reading.act and not subject and not reading.rows:
                return (reading.act,), usual_aggregate(reading.act), groups
            flag = self.table.column(numbers[0]) if numbers else None
            if flag and flag.values == ("0", "1"):
                self.filters.append(Filter(flag.name, "=", ("1",)))
                return (), "count", kept
            if numbers and not texts:
                return (numbers[0],), usual_aggregate(numbers[0]), kept
            if keys and not reading.rows:
                return (keys[0],), "distinct", kept
            if texts and not reading.rows and (not reading.by or texts[0] not in reading.by):
                is_value = texts[0] in [column for column, _ in reading.pairs]
                if not is_value:
                    return (texts[0],), "distinct", kept
            return (), "count", kept if texts and not reading.rows else groups
        if aggregate == "share":
            groups = groups or [column for column, _ in reading.pairs[:1]]
            named = self._numbers(reading.columns) or reading.act
            main = main_measure(self.names)
            adds = bool(main) and adds_up(main) and bool(reading.by)
            counted = reading.rows or not (named or adds)
            return (() if counted else measure or (main,)), "share", groups
        return measure, aggregate, groups

    def _groups(self, measure: tuple[str, ...]) -> list[str]:
        reading = self.reading
        numbers = self._numbers(reading.columns)
        taken = {*numbers, *measure}
        named = [column for column in reading.columns if column not in taken]
        by = [column for column in reading.by if column not in measure]
        found = [*reading.which, *([] if reading.counts else named), *by]
        return list(dict.fromkeys(column for column in found if column not in measure))
