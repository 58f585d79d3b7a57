"""Which rows are meant by what is said of them: those that passed, those without a score."""

from __future__ import annotations

from typing import get_args

from ..request import Filter, Period
from .conditions import Conditions
from .flags import other_value
from .item import Item
from .lexicon import PHRASES
from .tokens import folded, word_set, words_of

_RATES = ("rate", "rates", "quote")
_LOOKS = {"relate", "distribution", "missing", "model", "duplicates", "outliers", "columns"}
_NOUNS = ("column", "stem", "events", "rows", "flag")
# measures where nothing means zero, not missing
_NEVER_MISSING = word_set("rain rainfall precipitation regen niederschlag discount rabatt delay")


class RowsReader(Conditions):
    def _flag(self, at: int, item: Item, *, follows_by: bool) -> None:
        """A boolean column filters rows, unless it is itself analysed."""
        reading, column = self.reading, self.names.table.column(item.detail)
        looked_at = _LOOKS & {other.detail for other in self.items if other.kind == "verb"}
        drawn = any(other.kind == "chart" for other in self.items)
        is_number = column is not None and column.kind == "number"
        if follows_by:
            reading.add(item.detail, reading.by)
        elif self._wants_rate() and not is_number:
            reading.rated = item.detail
        elif (item.plural and (looked_at or drawn)) or (is_number and self._wants_rate()):
            reading.add(item.detail, reading.columns)
            reading.measured += [("mean", item.detail)] if self._wants_rate() else []
        elif column is not None:
            negated = self._kind(at - 1) == "not"
            value = other_value(column, item.value) if negated else item.value
            self.used |= {at - 1} if negated else set()
            reading.pairs.append((item.detail, value))
            reading.picks_rows = True

    def _wants_rate(self) -> bool:
        wanted = [item for item in self.items if item.kind == "aggregate"]
        return any(item.detail == "share" or item.text.lower() in _RATES for item in wanted)

    def _gap(self, item: Item) -> None:
        column = self.names.table.column(item.detail)
        none = bool(_NEVER_MISSING & set(words_of(item.detail)))
        is_zero = column is not None and column.kind == "number" and none
        missing = Filter(item.detail, "=", ("0",)) if is_zero else Filter(item.detail, "missing")
        self.reading.filters.append(missing)
        self.reading.picks_rows = True

    def _is_source(self, at: int) -> bool:
        """Only the source of something else: `the range of prices in sales`."""
        place = next(n for n, item in enumerate(self.raw) if item is self.items[at])
        before = [item.text.lower() for item in self.raw[max(0, place - 1) : place]]
        measures = [item for item in self.items if item.kind in ("column", "time range")]
        found = any(self._measures(measure.detail) for measure in measures)
        is_place = bool({"in", "from", "aus"} & set(before[-1:]))
        return (found and is_place) or any(measure.kind == "time range" for measure in measures)

    def _measures(self, name: str) -> bool:
        column = self.names.table.column(name)
        return column is not None and column.kind in ("number", "date")

    def _is_newest(self, at: int, item: Item) -> bool:
        """`The latest hire`, in a table with dates."""
        is_row = self._kind(at + 1) in ("stem", "events") or "recently" in item.text.lower()
        return is_row and bool(self.reading.time or self.names.year)

    def _is_first(self, at: int) -> bool:
        """`Youngest first` is a sort order."""
        return self._kind(at + 1) == "rank" and self.items[at + 1].detail == "first"

    def _is_relative(self, at: int) -> bool:
        """`Those who passed` does not ask for names."""
        place = next(n for n, item in enumerate(self.raw) if item is self.items[at])
        before = self.raw[place - 1] if place else Item("")
        people = ("those", "everyone", "anyone", "all", "people", "persons")
        return before.kind in ("stem", "events", "rows") or before.text.lower() in people

    def _finish_flags(self) -> None:
        """A rate is a share of rows; within groups, rows can only be counted."""
        reading = self.reading
        names = [name for name, _value in reading.pairs if name in dict(self.names.flags.values())]
        both = [name for name in names if len(dict.fromkeys(reading.pairs)) > names.count(name) > 1]
        both += [name for name in names if names.count(name) == len(set(reading.pairs)) > 1]
        if both and "compare" not in reading.verbs and not reading.rated:
            reading.pairs = [pair for pair in reading.pairs if pair[0] != both[0]]
            reading.add(both[0], reading.by)
        if not reading.rated:
            return
        numbers = [column.name for column in self.names.table.of_kind("number")]
        reading.columns = [column for column in reading.columns if column in numbers]
        reading.rows = True
        if reading.by or reading.which or reading.period:
            reading.aggregates, reading.counts = [], True
            reading.ignored += [item.text for item in self.items if item.kind == "aggregate"]
        else:
            reading.aggregates, reading.counts = ["share"], False
        reading.add(reading.rated, reading.by)

    def _unused(self) -> None:
        spans = ("month", "quarter", "span", "year", "season", "decade")
        for at, item in enumerate(self.items):
            if at in self.used:
                continue
            if item.kind in spans:
                self.reading.unknown.append(item.text)
            elif item.kind in ("op", "compared") or (
                item.kind == "vague" and self._kind(at + 1) in _NOUNS
            ):
                self.reading.ignored.append(item.text)
            elif item.kind == "not" and self._kind(at + 1) in ("act", "events", "stem", "rows"):
                self.reading.ignored.append(f"{item.text} {self.items[at + 1].text}")


def period_named(text: str) -> Period | None:
    tags = [tag for words, tag in PHRASES.get(folded(text), ()) if len(words) == 1]
    named = [period for period in get_args(Period) if f"period:{period}" in tags]
    return named[0] if named else None
