"""Build the aggregate for the slots: its time, chart, filters, ranking and measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from ..request import Aggregate, Filter, Period, Request
from .names import TableNames, is_key, measures
from .slots import RequestSlots, main_measure
from .synonyms import SUPERLATIVES, is_additive, is_worse_if_high, usual_aggregate
from .tokens import words_of

_FEW_MONTHS = 100
# maximum span in days for each period
_PERIODS: tuple[tuple[int, Period], ...] = (
    (45, "day"),
    (_FEW_MONTHS, "week"),
    (4 * 366, "month"),
    (10 * 366, "quarter"),
)


class RequestShaper:
    def __init__(
        self, slots: RequestSlots, names: TableNames, text: str, *, is_question: bool
    ) -> None:
        self.slots = slots
        self.names = names
        self.table = slots.table
        self.text = text
        self.is_question = is_question  # a question is better answered by a table than by a chart
        self.filters = self._filters()

    def _with_time(self, request: Request) -> Request:
        slots = self.slots
        year = self.names.year
        if year and (slots.over_time or slots.period == "year") and year not in request.groups:
            return replace(request, groups=(year, *request.groups))
        if not slots.time:
            return request
        period: Period | None = slots.period
        is_line = slots.chart == "line" and not request.groups
        asked = slots.asks_when and slots.rank is not None and not request.groups
        if period is None and (slots.over_time or is_line or asked):
            period = self._usual_period()
        return replace(request, time=slots.time, period=period) if period else request

    def _usual_period(self) -> Period:
        """A few dozen points; months if the range is unknown."""
        column = self.table.column(self.slots.time)
        if column is None or not column.first:
            return "month"
        days = (date.fromisoformat(column.last) - date.fromisoformat(column.first)).days
        found: Period = next((period for most, period in _PERIODS if days <= most), "year")
        # What is read of a long file may be its first days only.
        return found if self.names.is_whole or days > _FEW_MONTHS else "month"

    def _charted(self, request: Request) -> Request:
        slots = self.slots
        line = slots.over_time or request.period is not None
        if slots.chart in ("bar", "line", "pie"):
            request = replace(request, chart=slots.chart)
        elif slots.wants_chart or (request.period and slots.over_time and slots.rank is None):
            request = replace(request, chart="line" if line else "bar")
        if request.chart and not request.groups and not request.period:
            group = next((column.name for column in self.table.categories), "")
            if group:
                return replace(request, groups=(group,))
        return request

    def _label(self) -> str:
        """The column that names the rows."""
        keys = [column.name for column in self.table.columns if is_key(column.name)]
        own = [key for key in keys if key.lower().startswith(self.table.stem[:4].lower())]
        has_row_key = any(map(self.names.is_row_key, own))
        for word in ("name", self.table.stem, "title", *([] if has_row_key else ["product"])):
            found = self.names.exact([word.lower()])
            if found:
                return found.name
        first = self.table.columns[:1]
        texts = [column.name for column in first if column.kind == "text"]
        apart = [text for text in texts if first[0] not in self.table.categories]
        return next(iter([*own, *keys, *apart]), "")

    def _numbers(self, names: Sequence[str]) -> list[str]:
        numbers = self.table.names_of("number")
        return [name for name in names if name in numbers and name not in self.slots.entities]

    def _filters(self) -> list[Filter]:
        slots = self.slots
        found = list(slots.filters)
        time = slots.time
        timed = [row_filter for row_filter in found if row_filter.column == time]
        bounded = {value for row_filter in timed for value in row_filter.values}
        free = [span for span in dict.fromkeys(slots.spans) if span not in bounded]
        if time and len(free) == 1:
            found.append(Filter(time, "=", (free[0],)))
        elif time and free:
            found.append(Filter(time, "in", tuple(free)))
        by_column: dict[str, list[str]] = {}
        for name, value in slots.pairs:
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
        dates = [row_filter.column for row_filter in kept if row_filter.column == self.slots.time]
        time = request.time or (dates[0] if dates else "")
        return replace(request, filters=tuple(kept), time=time)


# asks for a group without naming one
_WHAT_DOES = re.compile(r"\bwhat (?:do|does|did|sells?|costs?|brings?|earns?)\b", re.IGNORECASE)
_MANY = 10  # limit for `which customers …`


class RankingBuilder(RequestShaper):
    def _ranked(self, request: Request) -> Request:
        slots = self.slots
        groups = request.groups or request.period
        ascending = self._ascending(request)
        if slots.rank is None and not slots.superlative:
            return replace(request, ascending=ascending)
        rank = slots.rank or 0
        asked = _WHAT_DOES.search(self.text)
        if not groups and asked and self.table.categories:
            names = [column.name for column in self.table.categories]
            group = self._label() if self._label() in names else names[0]
            request = replace(request, groups=(group,))
            groups = request.groups
        numbers = self._numbers(slots.columns)
        counted = [column for column in slots.columns if column not in numbers]
        if not groups and request.aggregate == "count" and counted:
            request = replace(request, groups=(counted[0],))  # "top 3 regions by number of orders"
            groups = request.groups
        if not groups:
            label = self._label()
            if slots.rows or rank or slots.superlative:
                request = replace(request, groups=(label,)) if label else request
            if slots.rank is not None and not slots.aggregates:
                request = replace(request, aggregate="min" if ascending else "max")
            if not request.groups:
                return request
        request, is_within = self._within_groups(request)
        is_extreme = slots.by and not rank and not is_within
        if is_extreme and not self._by_measure(request):
            extreme: Aggregate = "min" if ascending else "max"
            is_free = bool(request.columns) and not slots.aggregates
            return replace(request, aggregate=extreme) if is_free else request
        ranked = request.groups[-1 if is_within else 0] if request.groups else ""
        is_named = bool(ranked) and ranked == self._label()
        if is_named and not slots.aggregates and request.aggregate == "mean":
            request = replace(request, aggregate="min" if ascending else "max")
        many = any(column in slots.plural for column in request.groups)
        many = many or (is_named and slots.row_noun.endswith("s") and not slots.which)
        limit = rank or (_MANY if many else 1)
        return replace(request, limit=limit, limit_per_group=is_within, ascending=ascending)

    def _within_groups(self, request: Request) -> tuple[Request, bool]:
        """`The best product of each region`: the region comes first."""
        outer = tuple(group for group in request.groups if group in self.slots.by)
        inner = tuple(group for group in request.groups if group not in self.slots.by)
        inner = inner or self._row_names(request)
        if not inner or len(outer) + bool(request.period) != 1:
            return request, False
        return replace(request, groups=(*outer, *inner)), True

    def _row_names(self, request: Request) -> tuple[str, ...]:
        """The column that names each row, where rows are ranked: `the best paid employee`."""
        slots, label = self.slots, self.table.column(self._label())
        is_ranked = bool(slots.rank) and not slots.columns
        if label is None or label in self.table.categories or request.aggregate == "count":
            return ()
        is_free = label.name not in (*request.groups, *request.columns)
        return (label.name,) if is_free and (slots.is_one_row or is_ranked) else ()

    def _by_measure(self, request: Request) -> bool:
        return bool(set(self.slots.by) & set(request.columns)) or bool(self.slots.which)

    def _sorted(self) -> Request | None:
        """Rows ordered by a number, if a column names them."""
        slots = self.slots
        label = self.table.column(self._label())
        numbers = [column for column in slots.by if column in measures(self.table)]
        if not numbers or label is None or label in self.table.categories:
            return None
        request = Request("aggregate", self.table, (numbers[0],), "max", (label.name,))
        return self._filtered(replace(request, ascending=slots.ascending))

    def _newest(self) -> Request | None:
        """`The newest employee`, if a column names each row; else only when that was."""
        slots, label = self.slots, self.table.column(self._label())
        if not slots.newest:
            return None
        time, outer = slots.time or self.names.year, tuple(slots.by[:1])
        how: Aggregate = "min" if slots.ascending else "max"
        newest = Request("aggregate", self.table, (time,), how, outer)
        if slots.asks_when:
            return self._filtered(newest)
        if label is None or label in self.table.categories:
            if outer:
                return self._filtered(newest)
            slots.blocking.append(slots.newest)
            return None
        limit = slots.rank or slots.limit or 1
        newest = replace(newest, groups=(*outer, label.name), ascending=slots.ascending)
        return self._filtered(replace(newest, limit=limit, limit_per_group=bool(outer)))

    def _best_rows(self, measure: str) -> Request | None:
        """`Top 3 movies by votes`, if a column names each row."""
        slots, label = self.slots, self.table.column(self._label())
        outer = tuple(column for column in slots.by if column != measure)
        if slots.which or slots.counts or slots.period or len(outer) > 1 or not slots.rows:
            return None
        if label is None:
            slots.wants_group = True
            slots.blocking.append(slots.row_noun or measure)
            return None
        is_name = bool({"name", "title"} & set(words_of(label.name)))
        is_group = label in self.table.categories and not is_name
        aggregate = usual_aggregate(measure) if is_group else "max"
        groups = (*outer, label.name)
        request = Request("aggregate", self.table, (measure,), aggregate, groups)
        ascending = self._ascending(request)
        limit = slots.rank or _MANY
        request = replace(request, limit=limit, limit_per_group=bool(outer), ascending=ascending)
        return self._filtered(self._charted(request))

    def _most_frequent(self) -> Request | None:
        """`The busiest airport`, `the most common age`."""
        slots = self.slots
        named = list(dict.fromkeys([*slots.which, *slots.columns]))
        numbers = self._numbers(named)
        is_mixed = bool(numbers) and (len(named) > 1 or slots.counts)
        if not slots.frequent or not named or is_mixed or slots.aggregates:
            return None
        groups = tuple(dict.fromkeys([*named, *slots.by]))
        return self._with_time(Request("aggregate", self.table, (), "count", groups))

    def _most_of(self) -> Request | None:
        """`The region with the most customers` counts distinct ones."""
        slots = self.slots
        numbers = self._numbers(slots.columns)
        texts = [column for column in slots.columns if column not in numbers]
        named = list(dict.fromkeys([*slots.which, *texts]))
        more = (
            slots.aggregates or slots.verb_column or slots.superlative or slots.by or slots.period
        )
        if slots.rank is None or more or len(named) != 2 or len(texts) != len(slots.columns):
            return None
        slots.plural.discard(named[0])
        return Request("aggregate", self.table, (named[1],), "distinct", (named[0],))

    def _ascending(self, request: Request) -> bool:
        """The best delays and costs are the lowest."""
        return self.slots.ascending != self.is_reversed(request)

    def is_reversed(self, request: Request) -> bool:
        return self.slots.by_quality and any(is_worse_if_high(column) for column in request.columns)


class AggregateBuilder(RankingBuilder):
    def _aggregate(self, aggregate: Aggregate | None, measured: str = "") -> Request:
        slots = self.slots
        numbers = [measured] if measured else self._numbers(slots.columns)
        ranked_by = [column for column in slots.by if column in measures(self.table)]
        groups_named = [column for column in slots.columns if column not in numbers]
        by_is_measure = bool(ranked_by) and bool(groups_named or slots.which) and not numbers
        if by_is_measure:
            numbers = ranked_by
        measure, usual = self._measure(numbers)
        if slots.counts and slots.rows and not numbers:
            aggregate = None  # `how many sales in total`
        newest = self._newest()
        if newest:
            return newest
        if ranked_by and slots.rank is not None and not (numbers or groups_named):
            best = self._best_rows(ranked_by[0])
            if best:
                return best
        counted = self._most_frequent() or self._most_of()
        if counted:
            return self._filtered(self._ranked(counted))
        if aggregate in ("min", "max") and not numbers and slots.dates:
            measure = (slots.dates[0],)
        if aggregate is None:
            aggregate = usual
        elif aggregate not in ("distinct", "share") and not measure:
            measure = (main,) if (main := main_measure(self.names)) else ()
        groups = self._groups(measure)
        if slots.superlative:
            slots.ignored += [column for column in numbers if column != slots.superlative.value]
            measure = (slots.superlative.value,)
            special = SUPERLATIVES[slots.superlative.detail][2]
            short = slots.period in ("day", "hour")
            extreme: Aggregate = "min" if slots.ascending else "max"
            aggregate = special or (extreme if short else usual_aggregate(measure[0]))
            if special:
                aggregate = slots.aggregates[0] if slots.aggregates else extreme
        measure, aggregate, groups = self._counted(measure, aggregate, groups)
        request = Request("aggregate", self.table, measure, aggregate, tuple(groups))
        request = self._with_time(request)
        request = self._ranked(request)
        return self._filtered(self._charted(request))

    def _measure(self, numbers: Sequence[str]) -> tuple[tuple[str, ...], Aggregate]:
        slots = self.slots
        if numbers:
            return (numbers[0],), self._usual(numbers[0])
        if slots.verb_column:
            return (slots.verb_column,), self._usual(slots.verb_column)
        grouped = slots.by or slots.columns or slots.which or slots.period
        ranks_rows = slots.rank is not None and (not grouped or slots.is_one_row)
        if (slots.rows and not ranks_rows) or slots.counts or self._lists():
            return (), "count"
        main = main_measure(self.names)
        if slots.by_quality and not grouped:
            matches = [self.names.exact(["rating"]), *self.names.similar("rating")]
            names = [match.name for match in matches if match]
            main = next((name for name in names if name in measures(self.table)), main)
        return ((main,), self._usual(main)) if main else ((), "count")

    def _lists(self) -> bool:
        """Only groups are named, so rows are counted."""
        slots = self.slots
        more = slots.aggregates or slots.over_time or slots.period or slots.verb_column
        named = slots.columns if slots.wants_chart else slots.by or slots.columns or slots.which
        compares = "compare" in slots.verbs
        return bool(named) and not more and not compares and slots.rank is None

    def _usual(self, name: str) -> Aggregate:
        return self.slots.aggregates[0] if self.slots.aggregates else usual_aggregate(name)

    def _counted(
        self, measure: tuple[str, ...], aggregate: Aggregate, groups: list[str]
    ) -> tuple[tuple[str, ...], Aggregate, list[str]]:
        """`how many …` counts rows or distinct values, or sums a number."""
        slots = self.slots
        subject = [column for column in slots.columns if column not in slots.by]
        if aggregate == "distinct" or (slots.counts and not slots.aggregates):
            texts = [column for column in subject if column not in self._numbers(subject)]
            numbers = [column for column in self._numbers(subject) if not is_key(column)]
            keys = [column for column in self._numbers(subject) if is_key(column)]
            kept = [group for group in groups if group not in texts]
            if aggregate == "distinct" and subject:
                return (subject[0],), "distinct", [group for group in groups if group != subject[0]]
            if slots.verb_column and not subject and not slots.rows:
                return (slots.verb_column,), usual_aggregate(slots.verb_column), groups
            flag = self.table.column(numbers[0]) if numbers else None
            if flag and flag.values == ("0", "1"):
                self.filters.append(Filter(flag.name, "=", ("1",)))
                return (), "count", kept
            if numbers and not texts:
                return (numbers[0],), usual_aggregate(numbers[0]), kept
            if keys and not slots.rows:
                return (keys[0],), "distinct", kept
            if texts and not slots.rows and (not slots.by or texts[0] not in slots.by):
                is_value = texts[0] in [column for column, _ in slots.pairs]
                if not is_value:
                    return (texts[0],), "distinct", kept
            return (), "count", kept if texts and not slots.rows else groups
        if aggregate == "share":
            groups = groups or [column for column, _ in slots.pairs[:1]]
            named = self._numbers(slots.columns) or slots.verb_column
            main = main_measure(self.names)
            adds = bool(main) and is_additive(main) and bool(slots.by)
            counted = slots.rows or not (named or adds)
            return (() if counted else measure or (main,)), "share", groups
        return measure, aggregate, groups

    def _groups(self, measure: tuple[str, ...]) -> list[str]:
        slots = self.slots
        numbers = self._numbers(slots.columns)
        taken = {*numbers, *measure}
        named = [column for column in slots.columns if column not in taken]
        by = [column for column in slots.by if column not in measure]
        found = [*slots.which, *([] if slots.counts else named), *by]
        return list(dict.fromkeys(column for column in found if column not in measure))
