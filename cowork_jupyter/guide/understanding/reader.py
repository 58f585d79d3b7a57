"""Fills the slots of a reading, word by word."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Filter
from .conditions import RowsReader, period_named
from .names import PLURAL, TYPO, is_key
from .reading import Item, RequestReading
from .synonyms import adds_up
from .tokens import folded, word_set

_QUIET = ("stop", "it")
_PLACES = ("country", "city", "region", "store", "place")
_BEFORE_NAMES = ("in", "for", "from", "of", "on", "at", "where", "im", "am", "aus", "für", "von")
_ROWS = ("order", "sale", "transaction", "purchase", "booking", "bestellung", "verkauf")
_PEOPLE = ("name", "customer", "employee", "person", "client")

_JUDGES = word_set("best worst beste besten bester bestes schlechteste schlechtesten schlechtester")


_FLAGS: dict[str, tuple[str, ...]] = {
    "how many": ("counts",), "over time": ("over_time",), "over years": ("over_time",),
    "ascending": ("ascending",), "rows": ("rows",), "busiest": ("counts", "rows", "frequent"),
    "sort": ("sorts",), "size": ("counts", "rows"), "when": ("asks_when",),
}  # fmt: skip


class RequestReader(RowsReader):
    after_by = False
    aggregate = ""  # the last aggregate that was mentioned

    def read(self) -> RequestReading:
        self._conditions()
        self._spans()
        for at, item in enumerate(self.items):
            if at not in self.used:
                self._take(at, item)
        self._finish_flags()
        numbers = self.names.table.names_of("number")
        texts = [column for column in self.reading.columns if column not in numbers]
        if self.reading.asks_who and not (self.reading.which or texts):
            self._missing_group(self.reading.asks_who)
        self._without_dates()
        self._unknown()
        self.reading.score += sum(item.score for item in self.items)
        return self.reading

    def _take(self, at: int, item: Item) -> None:
        reading, after = self.reading, self._kind(at + 1)
        follows_by = self.after_by
        for slot in _FLAGS.get(item.kind, ()):
            setattr(reading, slot, True)
        if item.kind not in (*_QUIET, "and", "column", "period", "rank", "which", "not"):
            self.after_by = item.kind == "by"
        match item.kind:
            case "aggregate" if follows_by and (item.detail, after) == ("count", "column"):
                self.after_by = True  # "by number of rooms" is by rooms
            case "aggregate":
                self._aggregate(item)
            case "chart":
                reading.draws = True
                if item.detail != "any":
                    reading.chart = item.detail  # type: ignore[assignment]
            case "verb":
                reading.verbs.append(item.detail)
            case "over years":
                reading.period = "year"
            case "each":
                reading.period = item.detail  # type: ignore[assignment]
            case "period":
                self._period(at, item, follows_by=follows_by)
            case "rank":
                self._rank(at, item)
            case "range":
                reading.aggregates += ["min", "max"]
            case "time range":
                reading.aggregates += ["min", "max"]
                reading.dates.append(reading.time)
            case "earliest" | "latest":
                reading.aggregates.append("min" if item.kind == "earliest" else "max")
                reading.dates.append(reading.time)
            case "number":
                self._number(at, item)
            case "events" | "stem":
                self._event(at, item, follows_by=follows_by)
            case "column":
                self._column(at, item, follows_by=follows_by)
            case "flag":
                self._flag(at, item, follows_by=follows_by)
            case "gap":
                self._gap(item)
            case "busiest":
                reading.rank = reading.rank or 0
            case "value":
                self._value(at, item)
            case "says" if self._is_first(at):
                reading.sorts, reading.ascending = True, item.plural
                reading.by = reading.by or [item.value]
                self.used.add(at + 1)
            case "says":
                reading.says = item
                reading.ascending = reading.ascending or item.plural
            case "act":
                reading.act = item.detail
                reading.verbs += ["compare"] if item.plural else []
            case "relative" if self._is_newest(at, item):
                reading.newest = item.text
            case "relative":
                reading.unknown.append(item.text)
                reading.blocking.append(item.text)
            case "who" if after in ("flag", "not", "gap") and at:
                before = self.items[at - 1]
                if reading.aggregates and before.kind == "column" and before.plural:
                    reading.columns = [name for name in reading.columns if name != before.detail]
            case "who" if not self._is_relative(at):
                self._first_known(_PEOPLE)
                reading.asks_who = item.text
            case "where" if at == 0 or any(
                raw_item.text in ("come", "from", "live") for raw_item in self.raw
            ):
                self._first_known(_PLACES)

    def _aggregate(self, item: Item) -> None:
        reading = self.reading
        if item.detail == "count":
            reading.counts = True
        elif item.detail not in reading.aggregates:
            reading.aggregates.append(item.detail)  # type: ignore[arg-type]
        self.aggregate = item.detail

    def _period(self, at: int, item: Item, *, follows_by: bool) -> None:
        near = ("rank", "which", "says", "number", "by")
        is_wanted = follows_by or self._kind(at - 1) in near or self._kind(at + 1) == "by"
        if is_wanted or not self.reading.spans:
            self.reading.period = item.detail  # type: ignore[assignment]

    def _rank(self, at: int, item: Item) -> None:
        reading = self.reading
        number = self._kind(at + 1) == "number" or self._kind(at - 1) == "number"
        place = at + 1 if self._kind(at + 1) == "number" else at - 1
        count = int(float(self.items[place].detail)) if number else 0
        if number:
            self.used.add(place)
        if item.detail == "first":
            reading.limit = count or 5
            return
        reading.rank = max(count, reading.rank or 0)
        reading.ascending = item.detail == "bottom"
        reading.frequent = item.detail == "frequent"
        reading.judges = bool(_JUDGES & set(folded(item.text).split()))

    def _number(self, at: int, item: Item) -> None:
        whole = item.detail.isdigit() and len(item.detail) < 6
        if whole and self._kind(at + 1) == "rank":
            return
        if whole and self._kind(at + 1) == "says":
            self.reading.rank = int(item.detail)
        elif whole and (self._kind(at + 1) in ("rows", "stem") or "preview" in self.reading.verbs):
            self.reading.limit = int(item.detail)
        else:
            self.reading.unknown.append(item.text)

    def _event(self, at: int, item: Item, *, follows_by: bool) -> None:
        """Rows by another name, unless a column is meant."""
        reading = self.reading
        if follows_by and "mean" in reading.aggregates and item.text.lower() in _ROWS:
            pass  # the average per order is that of all rows
        elif item.others and not (self._counting(at) or self._is_table(at) or self._is_source(at)):
            self._column(at, Item("column", item.others[0], item.text), follows_by=follows_by)
        elif follows_by:
            self._missing_group(item.text)
        else:
            reading.rows = True
            reading.noun = item.text

    def _missing_group(self, word: str) -> None:
        self.reading.unknown.append(word)
        self.reading.blocking.append(word)
        self.reading.wants_group = True

    def _is_table(self, at: int) -> bool:
        """The table by its name: `the sales data`, `rows of sales`."""
        looks = {"profile", "columns", "preview", "missing", "duplicates", "clean", "outliers"}
        other = ("by", "each", "over time", "aggregate", "chart")
        only = not any(item.kind in other for item in self.items)
        verbs = {item.detail for item in self.items if item.kind == "verb"}
        if self._kind(at - 1) == "sort":
            return True
        return self._kind(at + 1) == "it" or (only and bool(looks & verbs))

    def _counting(self, at: int) -> bool:
        """`number of orders`."""
        before = self._kind(at - 1)
        is_count = before == "aggregate" and self.items[at - 1].detail in ("count", "share")
        return before == "how many" or is_count or self.reading.counts

    def _column(self, at: int, item: Item, *, follows_by: bool) -> None:
        reading, name = self.reading, item.detail
        column = self.names.table.column(name)
        if item.others:
            reading.alternatives[name] = item.others
        if item.plural:
            reading.plural.add(name)
        if column and column.kind == "date":
            reading.dates.append(name)
            reading.rows = reading.rows or item.event
            ranks = any(other.kind in ("rank", "says", "busiest") for other in self.items)
            named = period_named(item.text)
            if named and ranks and not follows_by and not reading.period:
                reading.period = named  # `which day`, of a column that is called so
            if follows_by and not reading.period:
                reading.period = "day" if item.score >= 3 else None
                reading.over_time = reading.over_time or not reading.period
            return
        if item.event and is_key(name) and not follows_by:
            reading.rows = True
            if not self._counting(at):
                return
        before = self._kind(at - 1)
        is_number = self.names.table.kind_of(name) == "number"
        ranked = before == "rank" and self._kind(at - 2) == "which" and not is_number
        if ranked or (before == "which" and self._is_next(at)):
            reading.add(name, reading.which)
        elif follows_by:
            reading.add(name, reading.by)
            per = self.items[at - 1].text.lower() in ("per", "pro", "je")
            if per and is_number and adds_up(name) and not is_key(name):
                # A ratio, which is not a group.
                reading.unknown.append(f"{self.items[at - 1].text} {item.text}")
                reading.blocking.append(reading.unknown[-1])
        elif "model" in reading.verbs and reading.columns:
            reading.add(name, reading.features)
        else:
            reading.add(name, reading.columns)
            if self.aggregate and is_number:
                reading.measured.append((self.aggregate, name))  # type: ignore[arg-type]

    def _is_next(self, at: int) -> bool:
        """Directly adjacent: `which region`, not `what is the …`."""
        place = next(n for n, item in enumerate(self.raw) if item is self.items[at])
        return place > 0 and self.raw[place - 1] is self.items[at - 1]

    def _value(self, at: int, item: Item) -> None:
        reading = self.reading
        column = self.names.table.column(item.detail)
        same = column.same(item.value) if column else (item.value,)
        if item.others:
            reading.alternatives[f"={item.detail}"] = item.others
        before = self._kind(at - 1)
        negated = before == "not" or (before == "column" and self._kind(at - 2) == "not")
        # The column's own name beside a value says nothing more: `the sales department`.
        for place in (at - 1, at + 1):
            if self._kind(place) == "column" and self.items[place].detail == item.detail:
                is_group = place == at - 1 and self._kind(at - 2) == "by"
                if not is_group:
                    self.used.add(place)
                    if item.detail in reading.columns:
                        reading.columns.remove(item.detail)
        if negated:
            reading.filters += [Filter(item.detail, "!=", (value,)) for value in same]
            return
        reading.pairs.append((item.detail, item.value))

    def _first_known(self, words: Sequence[str]) -> None:
        found = next((name for word in words if (name := self._about(word))), "")
        if found:
            self.reading.add(found, self.reading.which)

    def _unknown(self) -> None:
        """Collect unknown words; they block if a name must stand in their place."""
        quiet = [item for item in self.raw if item.kind not in _QUIET]
        for at, item in enumerate(quiet):
            if item.kind == "text" and item not in [self.items[place] for place in self.used]:
                self.reading.unknown.append(item.detail)
                self.reading.blocking.append(item.detail)
            if item.kind != "unknown" or self.items.index(item) in self.used:
                continue
            self.reading.unknown.append(item.detail)
            before = quiet[at - 1].kind if at else ""
            after = quiet[at + 1] if at + 1 < len(quiet) else Item("")
            is_part = after.kind == "column" and TYPO < after.score < PLURAL
            if before == "by":
                self.reading.wants_group = True
            if item.value:
                self.reading.blocking.append(item.detail)
                continue
            if self._is_ranked(quiet, at):
                self.reading.wants_group = True
                self.reading.blocking.append(item.detail)
            elif before in ("by", "op", "where", "not", "which") or is_part or self._is_place(item):
                self.reading.blocking.append(item.detail)
        self._unused()
        self.reading.score -= len(self.reading.unknown) + len(self.reading.blocking)

    def _without_dates(self) -> None:
        """A period is requested, but the table has no dates."""
        reading = self.reading
        if not reading.period or reading.time or (reading.period == "year" and self.names.year):
            return
        words = [item.text for item in self.items if item.detail == reading.period]
        if words:
            self._missing_group(words[0])

    def _is_ranked(self, quiet: Sequence[Item], at: int) -> bool:
        """The noun of a ranking: `the busiest route`, `the oldest film`."""
        before = [item.kind for item in quiet[:at] if item.kind != "number"][-1:]
        after = quiet[at + 1].kind if at + 1 < len(quiet) else ""
        is_noun = after in ("", "by", "op", "over time", "where", "not", "year", "month", "chart")
        return is_noun and before in (["says"], ["busiest"], ["rank"], ["relative"])

    def _is_place(self, item: Item) -> bool:
        """Whether it follows a preposition that introduces a value or name."""
        at = self.raw.index(item)
        for earlier in reversed(self.raw[max(0, at - 2) : at]):
            word = earlier.text.lower()
            if word in _BEFORE_NAMES:
                return True
            if word not in ("the", "a", "an", "der", "die", "das", "den", "dem"):
                return False
        return False
