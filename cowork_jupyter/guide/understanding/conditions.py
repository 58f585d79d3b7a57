"""Which rows count: comparisons, time spans, boolean columns and gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from ..request import Filter, Operator, Period
from ..tables import ColumnFacts
from .lexicon import PHRASES
from .names import PLURAL, TableNames, measures, other_value
from .periods import latest_span, previous_span, season_months, span_of_day
from .slots import RequestSlots, Tag, main_measure
from .synonyms import (
    COMPARISONS,
    MEASURES_BY_UNIT,
    MONEY_UNITS,
    UNITS,
    is_additive,
    is_money,
)
from .tokens import normalize, word_set, words_of

_OPENS: dict[str, Operator] = {"since": ">=", "after": ">", "before": "<", "until": "<="}
_OLDEST = 150.0
_FIRST_YEAR, _MAX_PERIODS = "1000", 400
_FROM_TO = (("between", "and"), ("since", "until"), ("between", "until"))
_SPANS = ("span", "year", "month", "quarter")


class ConditionFiller:
    """Finds row conditions; `used` holds the places of the tags they consumed."""

    def __init__(self, tags: Sequence[Tag], names: TableNames) -> None:
        self.tags = [tag for tag in tags if tag.kind != "stop"]
        self.raw = tags
        self.names = names
        self.slots = RequestSlots(names.table)
        self.used: set[int] = set()
        self.span_start = ""

    def _kind(self, at: int) -> str:
        return self.tags[at].kind if 0 <= at < len(self.tags) else ""

    def _conditions(self) -> None:
        for at, tag in enumerate(self.tags):
            if tag.kind == "comparative" and self._kind(at + 1) == "number":
                about, operator = COMPARISONS[tag.detail]
                column = self._column_about(about)
                if column:
                    self._filter(column, operator, at, at + 1)
            elif tag.kind == "op" and self._kind(at + 1) in ("number", "year"):
                column_at = self._column_near(at)
                name = self.tags[column_at].detail if column_at is not None else ""
                if column_at is not None:
                    self.used.add(column_at)
                if not name and self._kind(at - 1) == "verb column":
                    name = self.tags[at - 1].detail
                    self.used.add(at - 1)
                name = name or self._column_with_unit(self.tags[at + 1])
                name = name or self._compared_number(self.tags[at + 1].detail)
                if name:
                    self._filter(name, tag.detail, at, at + 1)
            elif tag.kind == "op" and self._kind(at + 1) in ("text", "value", "unknown"):
                self._text_condition(at, tag.detail)
            elif tag.kind == "between" and self._kind(at + 1) == "number":
                self._between(at)

    def _column_with_unit(self, number: Tag) -> str:
        """The column measured in the unit behind a number: `books over 20 euros`."""
        place = next(n for n, tag in enumerate(self.raw) if tag is number) + 1
        unit = normalize(self.raw[place].text) if place < len(self.raw) else ""
        main = main_measure(self.names)
        if unit in MONEY_UNITS and main and is_money(main):
            return main
        for word in next((words for units, words in MEASURES_BY_UNIT if unit in units), ()):
            name = self._column_about(word)
            if self.names.table.kind_of(name) == "number":
                return name
        return ""

    def _compared_number(self, value: str) -> str:
        """What is compared without being named: `orders over 100`, `people over 30`."""
        main, age = main_measure(self.names), self._column_about("age")
        if not main or is_additive(main):
            return main
        if age:
            return age if float(value) < _OLDEST else main
        return main if len(measures(self.names.table)) == 1 else ""

    def _text_condition(self, at: int, operator: str) -> None:
        if self._kind(at - 1) != "column":
            return
        words = self.tags[at + 1]
        if self.names.table.kind_of(self.tags[at - 1].detail) == "number":
            return
        value = words.value or words.detail
        self.used |= {at - 1, at, at + 1}
        known: Operator = operator if operator in ("!=", "contains") else "="  # type: ignore[assignment]
        self.slots.filters.append(Filter(self.tags[at - 1].detail, known, (value,)))

    def _between(self, at: int) -> None:
        if self._kind(at + 2) == "and" and self._kind(at + 3) == "number":
            column_at = self._column_near(at)
            if column_at is not None:
                values = (self.tags[at + 1].detail, self.tags[at + 3].detail)
                column = self.tags[column_at].detail
                self.used |= {column_at, *range(at, at + 4)}
                self.slots.filters.append(Filter(column, "between", values))

    def _column_near(self, at: int) -> int | None:
        """The numeric column just before or just after a comparison."""
        behind = at + 3 if self._is_unit(at + 2) else at + 2
        for place in (at - 1, behind, at - 2):
            is_free = self._kind(place) == "column" and place not in self.used
            if is_free and self.names.table.kind_of(self.tags[place].detail) == "number":
                return place
        return None

    def _is_unit(self, at: int) -> bool:
        """`minutes` in `60 minutes`."""
        if not 0 <= at < len(self.tags) or normalize(self.tags[at].text) not in UNITS:
            return False
        tag = self.tags[at]
        return tag.kind not in ("column", "flag") or tag.detail == self.names.year

    def _filter(self, column: str, operator: str, *places: int) -> None:
        value = self.tags[places[-1]].detail
        self.used |= set(places)
        if self._is_unit(places[-1] + 1):
            self.used.add(places[-1] + 1)
        self.slots.filters.append(Filter(column, operator, (value,)))  # type: ignore[arg-type]

    def _column_about(self, word: str) -> str:
        found = self.names.exact([word]) or next(iter(self.names.similar(word)), None)
        return found.name if found else ""

    def _spans(self) -> None:
        time = self._time_column()
        if not time:
            self._years()
            return
        last = time.last
        for at, tag in enumerate(self.tags):
            if at in self.used:
                continue
            span = ""
            is_number = self._kind(at - 1) == "op"
            if tag.kind == "decade":
                self._decade(at, tag, time.name)
            elif tag.kind == "span" or (tag.kind == "year" and not is_number):
                span = tag.detail
            elif tag.kind == "season":
                self._season(at, tag, time)
            elif tag.kind in ("month", "quarter") and last:
                self.used |= {at - 1} if self._kind(at - 1) == "relative" else set()
                span = latest_span(int(tag.detail), tag.kind, last)  # type: ignore[arg-type]
            elif tag.kind == "relative" and last:
                span = self._latest(at, last, time.name)
            if span:
                self.used.add(at)
                self._span(at, span, time.name)

    def _latest(self, at: int, last: str, time: str) -> str:
        """`last month` is a span; `the last 3 weeks` becomes a filter."""
        has_number = self._kind(at + 1) == "number" and self.tags[at + 1].detail.isdigit()
        count = int(self.tags[at + 1].detail) if has_number else 1
        place = at + 1 + has_number
        has_room = last > _FIRST_YEAR and 0 < count <= _MAX_PERIODS
        if self._kind(place) != "period" or not has_room:
            return ""
        period: Period = self.tags[place].detail  # type: ignore[assignment]
        if period == "week":
            period, count = "day", 7 * count
        self.used |= {at, place, place - 1}
        if self._kind(at - 1) == "op" and self.tags[at - 1].text.lower() == "over":
            self.used.add(at - 1)
        start = end = span_of_day(last, period)
        if count == 1:
            return end
        for _ in range(count - 1):
            start = previous_span(start)
        self.slots.filters.append(Filter(time, "between", (start, end)))
        return ""

    def _decade(self, at: int, tag: Tag, time: str) -> None:
        self.used.add(at)
        decade = (tag.detail, str(int(tag.detail) + 9))
        self.slots.filters.append(Filter(time, "between", decade))

    def _years(self) -> None:
        """Years of a table with a numeric year column: `films of 1999`."""
        name, filters = self.names.year, self.slots.filters
        for at, tag in enumerate(self.tags if name else ()):
            if at in self.used or tag.kind not in ("year", "decade"):
                continue
            if tag.kind == "decade":
                self._decade(at, tag, name)
                continue
            before, ends = self.tags[at - 1] if at else Tag(""), self._kind(at + 1)
            later = self.tags[at + 2].detail if self._kind(at + 2) == "year" else ""
            self.used.add(at)
            if later and (before.kind, ends) in _FROM_TO:
                self.used |= {at - 1, at + 1, at + 2}
                filters.append(Filter(name, "between", (tag.detail, later)))
            elif before.kind in _OPENS and before.text.lower() not in ("from", "von"):
                self.used.add(at - 1)
                filters.append(Filter(name, _OPENS[before.kind], (tag.detail,)))
            else:
                is_name = before.kind == "column" and before.detail == name
                self.used |= {at - 1} if is_name or before.kind in _OPENS else set()
                filters.append(Filter(name, "=", (tag.detail,)))

    def _season(self, at: int, tag: Tag, time: ColumnFacts) -> None:
        if not (time.first and time.last) or self.span_start == "season":
            return
        self.span_start = "season"
        self.used |= {at, *([at - 1] if self._kind(at - 1) == "relative" else [])}
        months = season_months(int(tag.detail), tag.value, time.first, time.last)
        self.slots.filters.append(Filter(time.name, "between", months))

    def _span(self, at: int, span: str, time: str) -> None:
        before = self._kind(at - 1)
        slots = self.slots
        if before in _OPENS:
            self.used.add(at - 1)
        if before == "between" and self._kind(at + 1) in ("and", "until"):
            self.used.add(at - 1)
            self.span_start = span
        elif self.span_start and self._kind(at - 2) in _SPANS:
            slots.filters.append(Filter(time, "between", (self.span_start, span)))
        opened = slots.spans and slots.filters and slots.filters[-1].operator == ">="
        if before == "until" and opened:
            start = slots.filters.pop().values[0]
            slots.filters.append(Filter(time, "between", (start, span)))
        elif before in _OPENS:
            slots.filters.append(Filter(time, _OPENS[before], (span,)))
        elif before == "not" or (self._kind(at - 2) == "not" and before != "verb column"):
            slots.filters.append(Filter(time, "!=", (span,)))
        slots.spans.append(span)

    def _time_column(self) -> ColumnFacts | None:
        named = [tag.detail for tag in self.tags if tag.kind == "column"]
        dates = self.names.table.of_kind("date")
        first = dates[0] if dates else None
        return next((column for column in dates if column.name in named), first)


_RATES = ("rate", "rates", "quote")
_LOOKS = {"relate", "distribution", "missing", "model", "duplicates", "outliers", "columns"}
_NOUNS = ("column", "stem", "events", "rows", "flag")
# measures where nothing means zero, not missing
_NEVER_MISSING = word_set("rain rainfall precipitation regen niederschlag discount rabatt delay")


class RowFiller(ConditionFiller):
    def _flag(self, at: int, tag: Tag, *, follows_by: bool) -> None:
        """A boolean column filters rows, unless it is itself analysed."""
        slots, column = self.slots, self.names.table.column(tag.detail)
        looked_at = _LOOKS & {other.detail for other in self.tags if other.kind == "verb"}
        drawn = any(other.kind == "chart" for other in self.tags)
        is_number = column is not None and column.kind == "number"
        if follows_by:
            slots.add(tag.detail, slots.by)
        elif self._wants_rate() and not is_number:
            slots.rate_column = tag.detail
        elif (tag.plural and (looked_at or drawn)) or (is_number and self._wants_rate()):
            slots.add(tag.detail, slots.columns)
            slots.aggregated += [("mean", tag.detail)] if self._wants_rate() else []
        elif column is not None:
            negated = self._kind(at - 1) == "not"
            value = other_value(column, tag.value) if negated else tag.value
            self.used |= {at - 1} if negated else set()
            slots.pairs.append((tag.detail, value))
            slots.picks_rows = True

    def _wants_rate(self) -> bool:
        wanted = [tag for tag in self.tags if tag.kind == "aggregate"]
        return any(tag.detail == "share" or tag.text.lower() in _RATES for tag in wanted)

    def _gap(self, tag: Tag) -> None:
        is_number = self.names.table.kind_of(tag.detail) == "number"
        is_zero = is_number and bool(_NEVER_MISSING & set(words_of(tag.detail)))
        is_gap = tag.kind == "gap"
        if is_zero:
            found = Filter(tag.detail, "=" if is_gap else ">", ("0",))
        else:
            found = Filter(tag.detail, "missing" if is_gap else "known")
        self.slots.filters.append(found)
        self.slots.picks_rows = True

    def _is_source(self, at: int) -> bool:
        """Only the source of something else: `the range of prices in sales`."""
        place = next(n for n, tag in enumerate(self.raw) if tag is self.tags[at])
        before = [tag.text.lower() for tag in self.raw[max(0, place - 1) : place]]
        sources = [tag for tag in self.tags if tag.kind in ("column", "time range")]
        kinds = [self.names.table.kind_of(measure.detail) for measure in sources]
        found = "number" in kinds or "date" in kinds
        is_place = bool({"in", "from", "aus"} & set(before[-1:]))
        return (found and is_place) or any(measure.kind == "time range" for measure in sources)

    def _is_newest(self, at: int, tag: Tag) -> bool:
        """`The latest hire`, `the first order`, `who came last`, in a table with dates."""
        is_row = self._kind(at + 1) in ("stem", "events") or "recently" in tag.text.lower()
        if tag.kind == "rank" and is_row:
            is_row = not self.tags[at + 1].text.lower().endswith("s")
        asks = any(other.kind in ("who", "when") for other in self.tags)
        return (is_row or asks) and bool(self.slots.time or self.names.year)

    def _is_first(self, at: int) -> bool:
        """`Youngest first` is a sort order."""
        return self._kind(at + 1) == "rank" and self.tags[at + 1].detail == "first"

    def _is_relative(self, at: int) -> bool:
        """`Those who passed` does not ask for names."""
        place = next(n for n, tag in enumerate(self.raw) if tag is self.tags[at])
        before = self.raw[place - 1] if place else Tag("")
        people = ("those", "everyone", "anyone", "all", "people", "persons")
        return before.kind in ("stem", "events", "rows") or before.text.lower() in people

    def _finish_flags(self) -> None:
        """A rate is a share of rows within each group; shares of all groups are shown."""
        slots = self.slots
        measured = set(self.names.table.names_of("number")) & set(slots.columns)
        if slots.aggregates == ["mean"] and slots.pairs and self._wants_rate() and not measured:
            slots.rate_column = slots.pairs.pop(0)[0]  # `return rate` of a status
        names = [name for name, _value in slots.pairs if name in dict(self.names.flags.values())]
        both = [name for name in names if len(dict.fromkeys(slots.pairs)) > names.count(name) > 1]
        both += [name for name in names if names.count(name) == len(set(slots.pairs)) > 1]
        if both and "compare" not in slots.verbs and not slots.rate_column:
            slots.pairs = [pair for pair in slots.pairs if pair[0] != both[0]]
            slots.add(both[0], slots.by)
        if not slots.rate_column:
            return
        numbers = self.names.table.names_of("number")
        slots.columns = [column for column in slots.columns if column in numbers]
        slots.rows = True
        if slots.rank is not None and (slots.by or slots.which or slots.period):
            slots.rank = None
            slots.ignored += [tag.text for tag in self.tags if tag.kind == "rank"]
        slots.aggregates, slots.counts = ["share"], False
        slots.add(slots.rate_column, slots.by)

    def _unused(self) -> None:
        spans = ("month", "quarter", "span", "year", "season", "decade")
        for at, tag in enumerate(self.tags):
            if at in self.used:
                continue
            if tag.kind in spans:
                self.slots.unknown.append(tag.text)
            elif tag.kind in ("op", "comparative") or (
                tag.kind == "vague" and self._kind(at + 1) in _NOUNS
            ):
                self.slots.ignored.append(tag.text)
            elif tag.kind == "not" and self._is_event(at + 1):
                self.slots.absent = f"{tag.text} {self.tags[at + 1].text}"
                self.slots.blocking.append(self.slots.absent)

    def _is_event(self, at: int) -> bool:
        """Something that rows tell, such as `visited` or `orders`."""
        kinds = ("verb column", "events", "stem", "rows")
        return self._kind(at) in kinds or self._is_row_noun(at)

    def _is_row_noun(self, at: int) -> bool:
        """A word for the rows that only resembles the name of their key."""
        if self._kind(at) != "column":
            return False
        tag = self.tags[at]
        return self.names.is_row_key(tag.detail) and (tag.event or tag.score < PLURAL)


def period_named(text: str) -> Period | None:
    tags = [tag for words, tag in PHRASES.get(normalize(text), ()) if len(words) == 1]
    named = [period for period in get_args(Period) if f"period:{period}" in tags]
    return named[0] if named else None
