"""Which rows count: the parts of a request that name values, comparisons and spans of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from ..request import Filter, Operator
from ..tables import is_key
from .forms import Match, Tags, begins
from .tags import TableNames, Tag, measures, no_of, yes_of
from .tokens import words_of


@dataclass(frozen=True)
class Selection:
    filters: tuple[Filter, ...]
    rest: tuple[Tag, ...]  # what is no condition
    time: str = ""  # the date column of the filters


@dataclass
class _Finder:
    """Collects filters; each rule says whether a match is a condition of this table."""

    names: TableNames
    time: str  # where spans of time are looked for, if no column is named
    filters: list[Filter] = field(default_factory=list)
    used_time: str = ""

    def add(self, column: str, operator: str, *values: str) -> bool:
        kept = Filter(column, cast("Operator", operator), values)
        if not column or any(_excludes(kept, each) for each in self.filters):
            return False
        if kept not in self.filters:
            self.filters.append(kept)
        return True

    def add_any_of(self, column: str, values: Sequence[str]) -> bool:
        return bool(values) and self.add(column, "=" if len(values) == 1 else "in", *values)

    def values(self, match: Match) -> bool:
        values = match.all("values", "value")
        columns = {value.name for value in values}
        if len(columns) != 1 or {*match.names("column"), *match.names("behind")} - columns:
            return False
        return self._in_every_spelling(values[0].name, [value.value for value in values], match)

    def quoted(self, match: Match) -> bool:
        column = match.tag("column").name
        if any(tag.name != column for tag in match.all("values", "value")):
            return False
        values = [tag.value or tag.name for tag in match.all("values", "quoted", "value", "num")]
        if match.first("contains"):
            return len(values) == 1 and self.add(column, "contains", values[0])
        spelled = [self.names.value_of(column, value) or value for value in values]
        return self._in_every_spelling(column, spelled, match)

    def _in_every_spelling(self, name: str, values: list[str], match: Match) -> bool:
        column = self.names.table.column(name)
        spellings = dict.fromkeys(
            same
            for value in values
            for alike in self.names.alike(name, value)
            for same in (column.same(alike) if column else (alike,))
        )
        if match.first("not"):
            return all(self.add(name, "!=", spelling) for spelling in spellings)
        return self.add_any_of(name, list(spellings))

    def compared(self, match: Match) -> bool:
        number, operators = match.tag("num").name, match.names("op")
        if than := match.first("than"):
            about, operator = than.name.split()
            columns, operators = [each.name for each in self.names.columns([about])], [operator]
        else:
            named = match.names("column") + match.names("behind")
            columns = named[:1] or measures(self.names.table)
        return len(columns) == 1 and self.add(columns[0], *(operators or ["="]), number)

    def between(self, match: Match) -> bool:
        column = next(iter(match.names("column") + match.names("behind")), "")
        return self.add(column, "between", *match.names("low"), *match.names("high"))

    def dated(self, match: Match) -> bool:
        column = next(iter(match.names("column")), "") or self.time
        spans, signs = match.names("spans", "span"), match.names("bound") + match.names("op")
        if not column or not self._takes(column, spans):
            return False
        if match.first("high"):
            is_added = self.add(column, "between", *spans, *match.names("high", "span"))
        elif signs in ([], ["="]):
            is_added = self.add_any_of(column, spans)
        else:  # `since 2023 or 2024` may be either
            is_added = len(signs) == len(spans) == 1 and self.add(column, signs[0], spans[0])
        if self.names.table.kind_of(column) == "date":
            self.used_time = column
        return is_added

    def _takes(self, column: str, spans: Sequence[str]) -> bool:
        """A column of years knows no months."""
        kind = self.names.table.kind_of(column)
        is_year = kind == "number" and "year" in words_of(column)
        return kind == "date" or (is_year and all(len(span) == 4 for span in spans))

    def affirmed(self, match: Match) -> bool:
        """`students passed`"""
        column = match.tag("column").name
        return self.add_any_of(column, yes_of(self.names.table, column))

    def numbered(self, match: Match) -> bool:
        """`customer 7`"""
        name = match.tag("column").name
        column = self.names.table.column(name)
        is_number = is_key(name) or (column is not None and column.is_code)
        return is_number and self.add(name, "=", *match.names("num"))

    def gaps(self, match: Match) -> bool:
        column = match.tag("column").name
        if match.first("negated") and (no := no_of(self.names.table, column)):
            return self.add_any_of(column, no)
        return self.add(column, "known" if match.first("known") else "missing")


def _is_beside_rows(tags: Tags, at: int) -> bool:
    """`passed students`, `students passed`"""
    return any(tag.kind == "rows" for tag in (*tags[max(at - 1, 0) : at], *tags[at + 1 : at + 2]))


def _excludes(one_filter: Filter, other: Filter) -> bool:
    """No row is both `in 2024` and `in 2025`."""
    if one_filter.column != other.column or (one_filter.operator, other.operator) != ("=", "="):
        return False
    first, second = one_filter.values[0], other.values[0]
    return not first.startswith(second) and not second.startswith(first)


_COUNTED = ("first", "most", "least")
_FIGURES = {("number", "op"), ("number", "between"), *((kind, "span") for kind in _COUNTED)}
"""Before a number that is no year: `price below 2000`, `first 2000 rows`."""
_LINK = "(where|with|from|on)?"
_RULES: tuple[tuple[str, Callable[[_Finder, Match], bool]], ...] = (
    (f"{_LINK}<column date|number>(between|from)<spans span>(to|and|bound)<high span>",
     _Finder.dated),
    (f"{_LINK}(between|from)<spans span>(to|and|bound)<high span>", _Finder.dated),
    (f"{_LINK}<column date|number><bound bound>?<op op>?oneof?<spans span((and|or)?span)*>",
     _Finder.dated),
    (f"{_LINK}<bound bound>?<op op>?oneof?<spans span((and|or)?span)*>", _Finder.dated),
    (f"{_LINK}<column number>?between<low num>and<high num><behind number>?", _Finder.between),
    (f"{_LINK}<column number><op op><num num>", _Finder.compared),
    (f"{_LINK}<op op><num num><behind number>?", _Finder.compared),
    (f"{_LINK}<than than><num num>", _Finder.compared),
    ("(where|with)<column number><num num>", _Finder.compared),
    (f"{_LINK}<column text>?<not not>?oneof?<values value((and|or)?value)*><behind text>?",
     _Finder.values),
    (f"{_LINK}<column text>?<not not>?oneof?<values value((and|or)?value)*>", _Finder.values),
    (f"{_LINK}<column text>?<not not>?oneof?<values value><behind text>?", _Finder.values),
    (f"{_LINK}<not not>?<values value>", _Finder.values),
    ("(where|with)?<column text><not not>?(oneof|<contains contains>)?"
     "<values (quoted|value)((and|or)?(quoted|value))*>", _Finder.quoted),
    ("(where|with)<column text><not not>?<values num((and|or)?num)*>", _Finder.quoted),
    ("<column text><num num>", _Finder.numbered),
    ("<column text|number>", _Finder.affirmed),
    ("(where|with)(<negated not>|missing)<column COLUMN>", _Finder.gaps),
    ("<negated not><column COLUMN>", _Finder.gaps),
    ("where<column COLUMN>(missing|<known known>)", _Finder.gaps),
)  # fmt: skip


def selections(tags: Tags, names: TableNames, kept: range) -> Iterator[Selection]:
    """With the conditions taken out; once for each column that could hold the time.

    `kept`: places of tags that are no conditions.
    """
    needs_time = any(tag.kind in ("span", "bound", "period", "overtime", "each") for tag in tags)
    dates = names.table.names_of("date")
    if not dates or any(tag.kind == "span" and len(tag.name) == len("2024") for tag in tags):
        # beside dates, `in 2024` may be of either
        dates += [name for name in names.table.names_of("number") if name.lower() == "year"]
    named = {tag.name for tag in tags if tag.kind == "date"}
    if len(named) == 1:
        dates = list(named)
    for time in dates if needs_time and dates else [""]:
        yield _selected(tags, names, time, kept)


def _selected(tags: Tags, names: TableNames, time: str, kept: range) -> Selection:
    finder = _Finder(names, time)
    ahead = Tags(tags[: kept.start])
    rest: list[Tag] = []
    at = 0
    was_condition = False
    while at < len(tags):
        if at in kept:
            rest.append(tags[at])
            at, was_condition = at + 1, False
            continue
        before = ahead if at < kept.start else tags
        end = _condition(finder, before, at, is_next=was_condition)
        if not end and was_condition and tags[at].kind == "and":
            end = _condition(finder, before, at + 1, is_next=True)
        was_condition = bool(end)
        if not end:
            rest.append(tags[at])
        at = end or at + 1
    used = finder.used_time or (time if names.table.kind_of(time) == "date" else "")
    return Selection(tuple(finder.filters), tuple(rest), used)


def _condition(finder: _Finder, tags: Tags, at: int, *, is_next: bool) -> int:
    """Where the condition ends that begins here; 0 if none does."""
    if at >= len(tags):
        return 0
    is_group = at > 0 and tags[at - 1].kind in ("by", "which", "how")
    is_figure = at > 0 and (tags[at - 1].kind, tags[at].kind) in _FIGURES
    led = Tags([Tag("where"), *tags[at:]])
    for form, rule in _RULES:
        if match := begins(form, tags, at):
            if is_group and match.all("column"):
                continue
            if is_figure and rule is _Finder.dated:
                continue
            if rule is _Finder.affirmed and not _is_beside_rows(tags, at):
                continue
            if rule(finder, match):
                return match.end
        is_led = is_next and form.startswith(("where", "(where|with)<"))
        match = begins(form, led, 0) if is_led else None
        if match and match.end > 1 and rule(finder, match):
            return at + match.end - 1
    return 0
