"""Which come first: the best groups, the rows with the most of something, the newest."""

from __future__ import annotations

import re
from dataclasses import replace

from ..request import Aggregate, Request
from .shaping import Shaping
from .synonyms import is_worse_if_high, usual_aggregate
from .tokens import words_of

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
        counted = [
            column for column in reading.columns if column not in self._numbers(reading.columns)
        ]
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
        numbers = [column for column in self._numbers(reading.by) if self._is_measure(column)]
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
        texts = [
            column for column in reading.columns if column not in self._numbers(reading.columns)
        ]
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
