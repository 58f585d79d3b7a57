"""Fills the slots of a request, tag by tag."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Filter
from .conditions import RowFiller, period_named
from .names import PLURAL, TYPO, is_key
from .slots import RequestSlots, Tag
from .synonyms import is_additive
from .tokens import normalize, word_set

_QUIET = ("stop", "it")
_PLACES = ("country", "city", "region", "store", "place")
_BEFORE_NAMES = ("in", "for", "from", "of", "on", "at", "where", "im", "am", "aus", "für", "von")
_ROWS = ("order", "sale", "transaction", "purchase", "booking", "bestellung", "verkauf")
_PEOPLE = ("name", "customer", "employee", "person", "client")

_BEST_OR_WORST = word_set(
    "best worst beste besten bester bestes schlechteste schlechtesten schlechtester"
)


_FLAGS: dict[str, tuple[str, ...]] = {
    "how many": ("counts",), "over time": ("over_time",), "over years": ("over_time",),
    "ascending": ("ascending",), "rows": ("rows",), "busiest": ("counts", "rows", "frequent"),
    "sort": ("sorts",), "size": ("counts", "rows"), "when": ("asks_when",),
}  # fmt: skip


class SlotFiller(RowFiller):
    after_by = False
    aggregate = ""  # the last aggregate that was mentioned

    def read(self) -> RequestSlots:
        self._conditions()
        self._spans()
        for at, tag in enumerate(self.tags):
            if at not in self.used:
                self._take(at, tag)
        self._finish_flags()
        numbers = self.names.table.names_of("number")
        texts = [column for column in self.slots.columns if column not in numbers]
        if self.slots.asks_who and not (self.slots.which or texts):
            self._missing_group(self.slots.asks_who)
        self._without_dates()
        self._unknown()
        self.slots.score += sum(tag.score for tag in self.tags)
        return self.slots

    def _take(self, at: int, tag: Tag) -> None:
        slots, after = self.slots, self._kind(at + 1)
        follows_by = self.after_by
        for slot in _FLAGS.get(tag.kind, ()):
            setattr(slots, slot, True)
        if tag.kind not in (*_QUIET, "and", "column", "period", "rank", "which", "not"):
            self.after_by = tag.kind == "by"
        match tag.kind:
            case "aggregate" if follows_by and (tag.detail, after) == ("count", "column"):
                self.after_by = True  # "by number of rooms" is by rooms
            case "aggregate":
                self._aggregate(tag)
            case "chart":
                slots.wants_chart = True
                if tag.detail != "any":
                    slots.chart = tag.detail  # type: ignore[assignment]
            case "verb":
                slots.verbs.append(tag.detail)
            case "over years":
                slots.period = "year"
            case "each":
                slots.period = tag.detail  # type: ignore[assignment]
            case "period":
                self._period(at, tag, follows_by=follows_by)
            case "rank":
                self._rank(at, tag)
            case "range":
                slots.aggregates += ["min", "max"]
            case "time range":
                slots.aggregates += ["min", "max"]
                slots.dates.append(slots.time)
            case "earliest" | "latest":
                slots.aggregates.append("min" if tag.kind == "earliest" else "max")
                slots.dates.append(slots.time)
            case "number":
                self._number(at, tag)
            case "events" | "stem":
                self._event(at, tag, follows_by=follows_by)
            case "column":
                self._column(at, tag, follows_by=follows_by)
            case "flag":
                self._flag(at, tag, follows_by=follows_by)
            case "gap" | "no gap":
                self._gap(tag)
            case "busiest":
                slots.rank = slots.rank or 0
            case "value":
                self._value(at, tag)
            case "superlative" if self._is_first(at):
                slots.sorts, slots.ascending = True, tag.plural
                slots.by = slots.by or [tag.value]
                self.used.add(at + 1)
            case "superlative":
                is_other_end = slots.superlative is not None and tag.plural != slots.ascending
                slots.both_ends = slots.both_ends or is_other_end
                slots.superlative = tag
                slots.ascending = slots.ascending or tag.plural
            case "verb column":
                slots.verb_column = tag.detail
                slots.verbs += ["compare"] if tag.plural else []
            case "relative" if self._is_newest(at, tag):
                slots.newest = tag.text
            case "relative":
                slots.unknown.append(tag.text)
                slots.blocking.append(tag.text)
            case "who" if after in ("flag", "not", "gap", "no gap") and at:
                before = self.tags[at - 1]
                if slots.aggregates and before.kind == "column" and before.plural:
                    slots.columns = [name for name in slots.columns if name != before.detail]
            case "who" if not self._is_relative(at):
                self._first_known(_PEOPLE)
                slots.asks_who = tag.text
            case "where" if at == 0 or any(
                raw_item.text in ("come", "from", "live") for raw_item in self.raw
            ):
                self._first_known(_PLACES)

    def _aggregate(self, tag: Tag) -> None:
        slots = self.slots
        if tag.detail == "count":
            slots.counts = True
        elif tag.detail not in slots.aggregates:
            slots.aggregates.append(tag.detail)  # type: ignore[arg-type]
        self.aggregate = tag.detail

    def _period(self, at: int, tag: Tag, *, follows_by: bool) -> None:
        near = ("rank", "which", "superlative", "number", "by")
        is_wanted = follows_by or self._kind(at - 1) in near or self._kind(at + 1) == "by"
        if is_wanted or not self.slots.spans:
            self.slots.period = tag.detail  # type: ignore[assignment]

    def _rank(self, at: int, tag: Tag) -> None:
        slots = self.slots
        number = self._kind(at + 1) == "number" or self._kind(at - 1) == "number"
        place = at + 1 if self._kind(at + 1) == "number" else at - 1
        count = int(float(self.tags[place].detail)) if number else 0
        if number:
            self.used.add(place)
        if tag.detail == "first" and not number and self._is_newest(at, tag):
            slots.newest, slots.ascending = tag.text, True
            return
        if tag.detail == "first":
            slots.limit = count or 5
            return
        is_bottom = tag.detail == "bottom"
        slots.both_ends = slots.both_ends or (
            slots.rank is not None and slots.ascending != is_bottom
        )
        slots.rank = max(count, slots.rank or 0)
        slots.ascending = is_bottom
        slots.frequent = tag.detail == "frequent"
        slots.by_quality = bool(_BEST_OR_WORST & set(normalize(tag.text).split()))

    def _number(self, at: int, tag: Tag) -> None:
        whole = tag.detail.isdigit() and len(tag.detail) < 6
        if whole and self._kind(at + 1) == "rank":
            return
        if whole and (self._kind(at + 1) == "superlative" or self._kind(at - 1) == "which"):
            self.slots.rank = int(tag.detail)
        elif whole and (self._kind(at + 1) in ("rows", "stem") or "preview" in self.slots.verbs):
            self.slots.limit = int(tag.detail)
        else:
            self.slots.unknown.append(tag.text)

    def _event(self, at: int, tag: Tag, *, follows_by: bool) -> None:
        """Rows by another name, unless a column is meant."""
        slots = self.slots
        is_row = tag.kind == "stem" or tag.text.lower() in _ROWS
        if follows_by and "mean" in slots.aggregates and is_row:
            pass  # the average per order is that of all rows
        elif tag.others and not (
            self._counting(at) or self._is_table(at) or self._is_source(at) or self._is_listed(at)
        ):
            self._column(at, Tag("column", tag.others[0], tag.text), follows_by=follows_by)
        elif follows_by:
            self._missing_group(tag.text)
        else:
            slots.rows = True
            slots.row_noun = tag.text

    def _is_listed(self, at: int) -> bool:
        """`The first 10 orders` are rows."""
        first, number = self.tags[max(0, at - 2)], self._kind(at - 1)
        return number == "number" and (first.kind, first.detail) == ("rank", "first")

    def _missing_group(self, word: str) -> None:
        self.slots.unknown.append(word)
        self.slots.blocking.append(word)
        self.slots.wants_group = True

    def _is_table(self, at: int) -> bool:
        """The table by its name: `the sales data`, `rows of sales`."""
        looks = {"profile", "columns", "preview", "missing", "duplicates", "clean", "outliers"}
        other = ("by", "each", "over time", "aggregate", "chart")
        only = not any(tag.kind in other for tag in self.tags)
        verbs = {tag.detail for tag in self.tags if tag.kind == "verb"}
        if self._kind(at - 1) == "sort":
            return True
        return self._kind(at + 1) == "it" or (only and bool(looks & verbs))

    def _counting(self, at: int) -> bool:
        """`number of orders`."""
        is_share = self._kind(at - 1) == "aggregate" and self.tags[at - 1].detail == "share"
        return self._is_counted(at) or is_share or self.slots.counts

    def _is_counted(self, at: int) -> bool:
        before = self._kind(at - 1)
        is_count = before == "aggregate" and self.tags[at - 1].detail == "count"
        return before == "how many" or is_count

    def _column(self, at: int, tag: Tag, *, follows_by: bool) -> None:
        slots, name = self.slots, tag.detail
        column = self.names.table.column(name)
        if tag.others:
            slots.alternatives[name] = tag.others
        if tag.plural:
            slots.plural.add(name)
        if column and column.kind == "date":
            slots.dates.append(name)
            slots.rows = slots.rows or tag.event
            ranks = any(other.kind in ("rank", "superlative", "busiest") for other in self.tags)
            named = period_named(tag.text)
            if named and ranks and not follows_by and not slots.period:
                slots.period = named  # `which day`, of a column that is called so
            if follows_by and not slots.period:
                slots.period = "day" if tag.score >= 3 else None
                slots.over_time = slots.over_time or not slots.period
            return
        if self._is_row_noun(at) and not follows_by:
            slots.rows = True
            if not self._counting(at):
                return
        before = self._kind(at - 1)
        is_entity = is_key(name) and not self.names.is_row_key(name) and tag.score < PLURAL
        if is_entity:
            slots.entities.add(name)
        if is_entity and self._is_counted(at):
            # `how many customers bought` counts each of them once
            slots.counts = False
            slots.aggregates.append("distinct")
        is_number = self.names.table.kind_of(name) == "number" and not is_entity
        ranked = before == "rank" and self._kind(at - 2) == "which" and not is_number
        if ranked or (before == "which" and self._is_next(at)):
            slots.add(name, slots.which)
        elif follows_by:
            slots.add(name, slots.by)
            per = self.tags[at - 1].text.lower() in ("per", "pro", "je")
            if per and is_number and is_additive(name) and not is_key(name):
                # A ratio, which is not a group.
                slots.unknown.append(f"{self.tags[at - 1].text} {tag.text}")
                slots.blocking.append(slots.unknown[-1])
        elif "model" in slots.verbs and slots.columns:
            slots.add(name, slots.features)
        else:
            slots.add(name, slots.columns)
            if self.aggregate and is_number:
                slots.aggregated.append((self.aggregate, name))  # type: ignore[arg-type]

    def _is_next(self, at: int) -> bool:
        """Directly adjacent: `which region`, not `what is the …`."""
        place = next(n for n, tag in enumerate(self.raw) if tag is self.tags[at])
        return place > 0 and self.raw[place - 1] is self.tags[at - 1]

    def _value(self, at: int, tag: Tag) -> None:
        slots = self.slots
        column = self.names.table.column(tag.detail)
        same = column.same(tag.value) if column else (tag.value,)
        if tag.others:
            slots.alternatives[f"={tag.detail}"] = tag.others
        before = self._kind(at - 1)
        negated = before == "not" or (before == "column" and self._kind(at - 2) == "not")
        # The column's own name beside a value says nothing more: `the sales department`.
        for place in (at - 1, at + 1):
            if self._kind(place) == "column" and self.tags[place].detail == tag.detail:
                is_group = place == at - 1 and self._kind(at - 2) == "by"
                if not is_group:
                    self.used.add(place)
                    if tag.detail in slots.columns:
                        slots.columns.remove(tag.detail)
        if negated:
            slots.filters += [Filter(tag.detail, "!=", (value,)) for value in same]
            return
        slots.pairs.append((tag.detail, tag.value))

    def _first_known(self, words: Sequence[str]) -> None:
        found = next((name for word in words if (name := self._column_about(word))), "")
        if found:
            self.slots.add(found, self.slots.which)

    def _unknown(self) -> None:
        """Collect unknown words; they block if a name must stand in their place."""
        quiet = [tag for tag in self.raw if tag.kind not in _QUIET]
        for at, tag in enumerate(quiet):
            if tag.kind == "text" and tag not in [self.tags[place] for place in self.used]:
                self.slots.unknown.append(tag.detail)
                self.slots.blocking.append(tag.detail)
            if tag.kind != "unknown" or self.tags.index(tag) in self.used:
                continue
            self.slots.unknown.append(tag.detail)
            before = quiet[at - 1].kind if at else ""
            after = quiet[at + 1] if at + 1 < len(quiet) else Tag("")
            is_part = after.kind == "column" and TYPO < after.score < PLURAL
            if before == "by":
                self.slots.wants_group = True
            if tag.value:
                self.slots.blocking.append(tag.detail)
                continue
            if self._is_ranked(quiet, at):
                self.slots.wants_group = True
                self.slots.blocking.append(tag.detail)
            elif before in ("by", "op", "where", "not", "which") or is_part or self._is_place(tag):
                self.slots.blocking.append(tag.detail)
        self._unused()
        self.slots.score -= len(self.slots.unknown) + len(self.slots.blocking)

    def _without_dates(self) -> None:
        """A period is requested, but the table has no dates."""
        slots = self.slots
        if not slots.period or slots.time or (slots.period == "year" and self.names.year):
            return
        words = [tag.text for tag in self.tags if tag.detail == slots.period]
        if words:
            self._missing_group(words[0])

    def _is_ranked(self, quiet: Sequence[Tag], at: int) -> bool:
        """The noun of a ranking: `the busiest route`, `the oldest film`."""
        before = [tag.kind for tag in quiet[:at] if tag.kind != "number"][-1:]
        after = quiet[at + 1].kind if at + 1 < len(quiet) else ""
        is_noun = after in ("", "by", "op", "over time", "where", "not", "year", "month", "chart")
        return is_noun and before in (["superlative"], ["busiest"], ["rank"], ["relative"])

    def _is_place(self, tag: Tag) -> bool:
        """Whether it follows a preposition that introduces a value or name."""
        at = self.raw.index(tag)
        for earlier in reversed(self.raw[max(0, at - 2) : at]):
            word = earlier.text.lower()
            if word in _BEFORE_NAMES:
                return True
            if word not in ("the", "a", "an", "der", "die", "das", "den", "dem"):
                return False
        return False
