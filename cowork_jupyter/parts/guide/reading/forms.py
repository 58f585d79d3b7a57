"""Forms of requests: patterns of tags that recipes declare, and what is made of a match.

A form lists tags in their order; all of them have to be used, so that no word is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import cast

from ..request import Aggregate, Chart, Filter, Period, Request, with_date_order
from ..tables import Table
from .tags import TableNames, Tag
from .tokens import usual_period, word_set
from .vocabulary import usual_aggregate

Requests = tuple[Request, ...]
_TOKEN = re.compile(r"<(\w+)|>|[a-z]+|\s+|.")
_SLOTS = {
    "SIDE": "(value|span|quoted)",
    "COLUMNS": "(number|date|text)(and?(number|date|text))*",
    "COLUMN": "(number|date|text)",
    "EITHER": "(number|date|text)((and|or)?(number|date|text))*",
    "BY": "(by<groups(number|date|text|period)(and?by?(number|date|text|period))*>)",
}
_LINKS = ("and", "or", "vs", "with", "to", "on", "by")
_MAX_GROUPS = 20  # different values up to which a number makes groups
_WORD = re.compile(r"(?<![<\w])[a-z]+(?!\w)")
_COMMON = word_set(
    "number text date value num span rows file newfile and or by with from to on as of where not"
    " sold this show period each which order quoted"
)
_SIGNS: dict[str, str] = {}


def _sign(kind: str) -> str:
    """One character for a kind of tag."""
    return _SIGNS.setdefault(kind, chr(0xE000 + len(_SIGNS)))


@lru_cache(maxsize=512)
def pattern(form: str) -> re.Pattern[str]:
    """A form is a regular expression over kinds of tags; `<slot …>` names a part of it."""
    for name, meant in _SLOTS.items():
        form = re.sub(rf"\b{name}\b", meant, form)

    def compiled(match: re.Match[str]) -> str:
        if match[1]:
            return f"(?P<{match[1]}>"
        if match[0] == ">":
            return ")"
        return _sign(match[0]) if match[0].isalpha() else match[0].strip()

    return re.compile(_TOKEN.sub(compiled, form))


class Tags(tuple[Tag, ...]):
    """Tags, and a sign for each of them, which forms are matched with."""

    @cached_property
    def signs(self) -> str:
        return "".join(_sign(tag.kind) for tag in self)


@dataclass(frozen=True)
class Match:
    tags: Sequence[Tag]
    found: re.Match[str]

    @property
    def end(self) -> int:
        return self.found.end()

    def all(self, slot: str, *kinds: str) -> list[Tag]:
        """The tags of a slot: of these kinds, else all that do not only link others."""
        if slot not in self.found.re.groupindex or self.found.start(slot) < 0:
            return []
        tags = self.tags[slice(*self.found.span(slot))]
        return [tag for tag in tags if (tag.kind in kinds if kinds else tag.kind not in _LINKS)]

    def first(self, slot: str) -> Tag | None:
        return next(iter(self.all(slot)), None)

    def tag(self, slot: str) -> Tag:
        """Of a slot that the form requires."""
        return self.all(slot)[0]

    def names(self, slot: str, *kinds: str) -> list[str]:
        return [tag.name for tag in self.all(slot, *kinds)]

    def limit(self, usual: int = 0) -> int:
        """`top 5`: nobody has 0 or 2.5 of them."""
        for number in self.names("n") + self.names("n2"):
            if not number.isdecimal() or not int(number):
                raise NotUnderstood
            return int(number)
        return usual


def whole(form: str, tags: Tags) -> Match | None:
    found = pattern(form).fullmatch(tags.signs)
    return Match(tags, found) if found else None


def begins(form: str, tags: Tags, at: int) -> Match | None:
    """The form from this place on; its match tells where it ends."""
    found = pattern(form).match(tags.signs, at)
    return Match(tags, found) if found else None


class NotUnderstood(Exception):
    """A form fits, but what it would mean may be something else: nothing is made of it."""


class Ambiguous(Exception):
    """Something has to be asked before this can be done."""

    def __init__(self, question: str, offered: Iterable[Request | Requests]) -> None:
        super().__init__(question)
        self.offered = [(each,) if isinstance(each, Request) else each for each in offered]


@dataclass(frozen=True)
class Grouping:
    columns: tuple[str, ...] = ()
    period: Period | None = None

    def __len__(self) -> int:
        return len(self.columns) + bool(self.period)

    @property
    def outermost(self) -> str:
        return self.period or next(iter(self.columns), "")


@dataclass(frozen=True)
class Clause:
    """A request without what stands anywhere in it: its conditions, its chart, its table."""

    names: TableNames
    tags: Tags
    filters: tuple[Filter, ...] = ()
    time: str = ""
    charts: tuple[str, ...] = ()  # kinds that it names; an empty one for a chart of any kind
    order: str = ""
    dates: str = ""  # what comes first in them, `day` or `month`, where that is said
    is_shown: bool = False  # whether it begins with a word such as `show`
    asks: bool = False  # whether it is a question, one that nothing is changed for

    @property
    def table(self) -> Table:
        return self.names.table

    @property
    def chart(self) -> Chart | None:
        kinds = [kind for kind in self.charts if kind]
        return cast("Chart", kinds[-1]) if kinds else None

    def request(self, request: Request) -> Request:
        """With the conditions, and the time that they or a period are about."""
        is_timed = request.period or any(each.column == self.time for each in self.filters)
        time = self.time if is_timed and not request.time else request.time
        request = replace(request, filters=(*request.filters, *self.filters), time=time)
        if not self.dates:
            return request
        return with_date_order(request, "month" if self.dates == "month" else "day")

    def where(self, column: str, values: tuple[str, ...]) -> Clause:
        kept = Filter(column, "=" if len(values) == 1 else "in", values)
        return replace(self, filters=(*self.filters, kept))

    def is_used_by(self, request: Request) -> bool:
        """Whether a request has all that the clause says: nothing of it is dropped."""
        is_sorted = bool(request.limit) or (
            len(request.groups) == 1 and not request.period and request.chart != "line"
        )
        return (
            bool(request.chart) >= bool(self.charts)
            and bool(request.date_order) >= bool(self.dates)
            and (bool(request.filters) or not self.filters or request.aggregate == "share")
            and (not self.order or is_sorted)
            and (not self.order or request.ascending == (self.order == "ascending"))
        )


Builder = Callable[[Clause, Match], Requests | None]


@dataclass(frozen=True)
class Recipe:
    name: str
    title: str
    example: str  # how to ask for it, with places for a table's own names
    ways: Mapping[Builder, str]  # what becomes of requests of these forms, one to a line
    keeps: str = "It only reads."
    takes_conditions: bool = True  # else its own words may look like conditions
    keeps_sides: bool = False  # about two values or spans, which are then no conditions

    @cached_property
    def forms(self) -> list[tuple[Builder, str]]:
        return [(build, form.strip()) for build, forms in self.ways.items()
                for form in forms.strip().splitlines()]  # fmt: skip

    @property
    def kinds(self) -> frozenset[str]:
        """Of its own words."""
        return frozenset(w for _build, form in self.forms for w in _WORD.findall(form)) - _COMMON

    @property
    def description(self) -> str:
        return f"{self.title}. {self.keeps}"

    def requests(self, clause: Clause) -> Iterator[Requests | Ambiguous]:
        for build, form in self.forms:
            if not (match := whole(form, clause.tags)):
                continue
            try:
                made = build(clause, match)
                if made and all(map(clause.is_used_by, made)):
                    yield made
            except Ambiguous as why:
                why.offered = [each for each in why.offered if all(map(clause.is_used_by, each))]
                if why.offered:
                    yield why
            except NotUnderstood:
                continue


def grouping_of(clause: Clause, match: Match) -> Grouping:
    """The columns and the period to group by; not clear if there is no date for a period."""
    tags = match.all("groups", "number", "date", "text", "period", "each") + match.all("each")
    # `by month of date`
    tags = [tag for before, tag in zip([Tag(""), *tags], tags, strict=False)
            if (before.kind, tag.kind) != ("period", "date")]  # fmt: skip
    columns = tuple(dict.fromkeys(tag.name for tag in tags if tag.kind in ("number", "text")))
    periods = [tag.name for tag in tags if tag.kind in ("period", "each")]
    periods += ["day" for tag in tags if tag.kind == "date"]
    if len(periods) > 1 or any(_is_measured(clause, tag) for tag in tags):
        raise NotUnderstood  # `revenue per unit`
    if periods and not clause.time:
        year = next((n for n in clause.table.names_of("number") if n.lower() == "year"), "")
        if periods != ["year"] or not year:
            raise NotUnderstood
        return Grouping((year, *columns))
    return Grouping(columns, cast("Period", periods[0]) if periods else None)


def _is_measured(clause: Clause, tag: Tag) -> bool:
    column = clause.table.column(tag.name)
    if tag.kind != "number" or column is None:
        return False
    return column.distinct > _MAX_GROUPS or usual_aggregate(tag.name) == "sum"


def over_time(clause: Clause, match: Match, grouping: Grouping) -> tuple[Clause, Grouping]:
    """A line of periods, where the words say so."""
    if not match.all("overtime"):
        return clause, grouping
    if not grouping.period and not clause.time:
        raise NotUnderstood
    period = grouping.period or usual_period_of(clause)
    charts = clause.charts or ("line",)
    return replace(clause, charts=charts), replace(grouping, period=period)


def usual_period_of(clause: Clause) -> Period:
    column = clause.table.column(clause.time)
    return usual_period(column.first, column.last) if column else "month"


def ways_of(name: str, hows: Sequence[str]) -> list[str]:
    """How a number is put together: as asked, as usual for its name, or in one of two ways."""
    usual = usual_aggregate(name)
    return list(hows) or ([usual] if usual else ["sum", "mean"])


def computed(
    clause: Clause,
    column: str,
    how: str,
    grouping: Grouping,
    limit: int = 0,
    *,
    ascending: bool = False,
    limit_per_group: bool = False,
) -> Request:
    """A measure of each group, or of all; of the rows, if there is no column."""
    if limit and not grouping:
        raise NotUnderstood
    if clause.charts and (not grouping or clause.chart in ("histogram", "box", "scatter")):
        raise NotUnderstood
    chart = clause.chart or ("line" if grouping.period else "bar") if clause.charts else None
    return clause.request(
        Request(
            "aggregate",
            clause.table,
            (column,) if column else (),
            cast("Aggregate", how),
            grouping.columns,
            period=grouping.period,
            limit=limit,
            limit_per_group=limit_per_group,
            ascending=ascending,
            chart=chart,
        )
    )
