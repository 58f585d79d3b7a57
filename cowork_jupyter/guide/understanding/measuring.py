"""Aggregates: which measure, for which groups."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Aggregate, Filter, Request
from .names import is_key
from .ranking import Ranking
from .reading import main_measure
from .synonyms import SAYS, adds_up, usual_aggregate


class Measuring(Ranking):
    def _aggregate(self, aggregate: Aggregate | None, measured: str = "") -> Request:
        reading = self.reading
        numbers = [measured] if measured else self._numbers(reading.columns)
        ranked_by = [column for column in self._numbers(reading.by) if self._is_measure(column)]
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
        exact = self.names.exactly(["rating"])
        rating = (
            [*([exact] if exact else []), *self.names.roughly("rating")]
            if reading.judges and not grouped
            else []
        )
        main = next((match.name for match in rating if self._is_measure(match.name)), "")
        main = main or main_measure(self.names)
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
        named = [
            column for column in reading.columns if column not in numbers and column not in measure
        ]
        by = [column for column in reading.by if column not in measure]
        found = [*reading.which, *([] if reading.counts else named), *by]
        return list(dict.fromkeys(column for column in found if column not in measure))
