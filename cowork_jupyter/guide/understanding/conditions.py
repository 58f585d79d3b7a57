"""Which rows count: comparisons, time spans, boolean columns and gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from ..request import Filter, Operator, Period
from ..tables import ColumnFacts
from .lexicon import PHRASES
from .names import Names, measures, other_value
from .periods import newest, season, within
from .reading import Item, RequestReading, main_measure
from .synonyms import COMPARED, MEASURED_IN, MONEY, UNITS, adds_up, is_money
from .tokens import folded, word_set, words_of

_OPENS: dict[str, Operator] = {"since": ">=", "after": ">", "before": "<", "until": "<="}
_OLDEST = 150.0
_FROM_TO = (("between", "and"), ("since", "until"), ("between", "until"))
_SPANS = ("span", "year", "month", "quarter")


class Conditions:
    """Finds row conditions; `used` holds the places of the items they consumed."""

    def __init__(self, items: Sequence[Item], names: Names) -> None:
        self.items = [item for item in items if item.kind != "stop"]
        self.raw = items
        self.names = names
        self.reading = RequestReading(names.table)
        self.used: set[int] = set()
        self.opened = ""

    def _kind(self, at: int) -> str:
        return self.items[at].kind if 0 <= at < len(self.items) else ""

    def _conditions(self) -> None:
        for at, item in enumerate(self.items):
            if item.kind == "compared" and self._kind(at + 1) == "number":
                about, operator = COMPARED[item.detail]
                column = self._about(about)
                if column:
                    self._filter(column, operator, at, at + 1)
            elif item.kind == "op" and self._kind(at + 1) in ("number", "year"):
                column_at = self._column_near(at)
                name = self.items[column_at].detail if column_at is not None else ""
                if column_at is not None:
                    self.used.add(column_at)
                if not name and self._kind(at - 1) == "act":
                    name = self.items[at - 1].detail
                    self.used.add(at - 1)
                name = name or self._of_unit(self.items[at + 1])
                name = name or self._compared_number(self.items[at + 1].detail)
                if name:
                    self._filter(name, item.detail, at, at + 1)
            elif item.kind == "op" and self._kind(at + 1) in ("text", "value", "unknown"):
                self._text_condition(at, item.detail)
            elif item.kind == "between" and self._kind(at + 1) == "number":
                self._between(at)

    def _of_unit(self, number: Item) -> str:
        """The column measured in the unit behind a number: `books over 20 euros`."""
        place = next(n for n, item in enumerate(self.raw) if item is number) + 1
        unit = folded(self.raw[place].text) if place < len(self.raw) else ""
        main = main_measure(self.names)
        if unit in MONEY and main and is_money(main):
            return main
        for word in next((words for units, words in MEASURED_IN if unit in units), ()):
            name = self._about(word)
            if self.names.table.kind_of(name) == "number":
                return name
        return ""

    def _compared_number(self, value: str) -> str:
        """What is compared without being named: `orders over 100`, `people over 30`."""
        main, age = main_measure(self.names), self._about("age")
        if not main or adds_up(main):
            return main
        if age:
            return age if float(value) < _OLDEST else main
        return main if len(measures(self.names.table)) == 1 else ""

    def _text_condition(self, at: int, operator: str) -> None:
        if self._kind(at - 1) != "column":
            return
        words = self.items[at + 1]
        if self.names.table.kind_of(self.items[at - 1].detail) == "number":
            return
        value = words.value or words.detail
        self.used |= {at - 1, at, at + 1}
        known: Operator = operator if operator in ("!=", "contains") else "="  # type: ignore[assignment]
        self.reading.filters.append(Filter(self.items[at - 1].detail, known, (value,)))

    def _between(self, at: int) -> None:
        if self._kind(at + 2) == "and" and self._kind(at + 3) == "number":
            column_at = self._column_near(at)
            if column_at is not None:
                values = (self.items[at + 1].detail, self.items[at + 3].detail)
                column = self.items[column_at].detail
                self.used |= {column_at, *range(at, at + 4)}
                self.reading.filters.append(Filter(column, "between", values))

    def _column_near(self, at: int) -> int | None:
        """The numeric column just before or just after a comparison."""
        behind = at + 3 if self._is_unit(at + 2) else at + 2
        for place in (at - 1, behind, at - 2):
            is_free = self._kind(place) == "column" and place not in self.used
            if is_free and self.names.table.kind_of(self.items[place].detail) == "number":
                return place
        return None

    def _is_unit(self, at: int) -> bool:
        """`minutes` in `60 minutes`."""
        if not 0 <= at < len(self.items) or folded(self.items[at].text) not in UNITS:
            return False
        item = self.items[at]
        return item.kind not in ("column", "flag") or item.detail == self.names.year

    def _filter(self, column: str, operator: str, *places: int) -> None:
        value = self.items[places[-1]].detail
        self.used |= set(places)
        if self._is_unit(places[-1] + 1):
            self.used.add(places[-1] + 1)
        self.reading.filters.append(Filter(column, operator, (value,)))  # type: ignore[arg-type]

    def _about(self, word: str) -> str:
        found = self.names.exactly([word]) or next(iter(self.names.roughly(word)), None)
        return found.name if found else ""

    def _spans(self) -> None:
        time = self._time_column()
        if not time:
            self._years()
            return
        last = time.last
        for at, item in enumerate(self.items):
            if at in self.used:
                continue
            span = ""
            is_number = self._kind(at - 1) == "op"
            if item.kind == "decade":
                self._decade(at, item, time.name)
            elif item.kind == "span" or (item.kind == "year" and not is_number):
                span = item.detail
            elif item.kind == "season":
                self._season(at, item, time)
            elif item.kind in ("month", "quarter") and last:
                self.used |= {at - 1} if self._kind(at - 1) == "relative" else set()
                span = newest(int(item.detail), item.kind, last)  # type: ignore[arg-type]
            elif item.kind == "relative" and self._kind(at + 1) == "period" and last:
                span = within(last, self.items[at + 1].detail)  # type: ignore[arg-type]
                self.used.add(at + 1)
            if span:
                self.used.add(at)
                self._span(at, span, time.name)

    def _decade(self, at: int, item: Item, time: str) -> None:
        self.used.add(at)
        decade = (item.detail, str(int(item.detail) + 9))
        self.reading.filters.append(Filter(time, "between", decade))

    def _years(self) -> None:
        """Years of a table with a numeric year column: `films of 1999`."""
        name, filters = self.names.year, self.reading.filters
        for at, item in enumerate(self.items if name else ()):
            if at in self.used or item.kind not in ("year", "decade"):
                continue
            if item.kind == "decade":
                self._decade(at, item, name)
                continue
            before, ends = self.items[at - 1] if at else Item(""), self._kind(at + 1)
            later = self.items[at + 2].detail if self._kind(at + 2) == "year" else ""
            self.used.add(at)
            if later and (before.kind, ends) in _FROM_TO:
                self.used |= {at - 1, at + 1, at + 2}
                filters.append(Filter(name, "between", (item.detail, later)))
            elif before.kind in _OPENS and before.text.lower() not in ("from", "von"):
                self.used.add(at - 1)
                filters.append(Filter(name, _OPENS[before.kind], (item.detail,)))
            else:
                is_name = before.kind == "column" and before.detail == name
                self.used |= {at - 1} if is_name or before.kind in _OPENS else set()
                filters.append(Filter(name, "=", (item.detail,)))

    def _season(self, at: int, item: Item, time: ColumnFacts) -> None:
        if not (time.first and time.last) or self.opened == "season":
            return
        self.opened = "season"
        self.used |= {at, *([at - 1] if self._kind(at - 1) == "relative" else [])}
        months = season(int(item.detail), item.value, time.first, time.last)
        self.reading.filters.append(Filter(time.name, "between", months))

    def _span(self, at: int, span: str, time: str) -> None:
        before = self._kind(at - 1)
        reading = self.reading
        if before in _OPENS:
            self.used.add(at - 1)
        if before == "between" and self._kind(at + 1) in ("and", "until"):
            self.used.add(at - 1)
            self.opened = span
        elif self.opened and self._kind(at - 2) in _SPANS:
            reading.filters.append(Filter(time, "between", (self.opened, span)))
        opened = reading.spans and reading.filters and reading.filters[-1].operator == ">="
        if before == "until" and opened:
            start = reading.filters.pop().values[0]
            reading.filters.append(Filter(time, "between", (start, span)))
        elif before in _OPENS:
            reading.filters.append(Filter(time, _OPENS[before], (span,)))
        elif before == "not" or (self._kind(at - 2) == "not" and before != "act"):
            reading.filters.append(Filter(time, "!=", (span,)))
        reading.spans.append(span)

    def _time_column(self) -> ColumnFacts | None:
        named = [item.detail for item in self.items if item.kind == "column"]
        dates = self.names.table.of_kind("date")
        first = dates[0] if dates else None
        return next((column for column in dates if column.name in named), first)


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
        is_number = self.names.table.kind_of(item.detail) == "number"
        is_zero = is_number and bool(_NEVER_MISSING & set(words_of(item.detail)))
        missing = Filter(item.detail, "=", ("0",)) if is_zero else Filter(item.detail, "missing")
        self.reading.filters.append(missing)
        self.reading.picks_rows = True

    def _is_source(self, at: int) -> bool:
        """Only the source of something else: `the range of prices in sales`."""
        place = next(n for n, item in enumerate(self.raw) if item is self.items[at])
        before = [item.text.lower() for item in self.raw[max(0, place - 1) : place]]
        sources = [item for item in self.items if item.kind in ("column", "time range")]
        kinds = [self.names.table.kind_of(measure.detail) for measure in sources]
        found = "number" in kinds or "date" in kinds
        is_place = bool({"in", "from", "aus"} & set(before[-1:]))
        return (found and is_place) or any(measure.kind == "time range" for measure in sources)

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
        numbers = self.names.table.names_of("number")
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
