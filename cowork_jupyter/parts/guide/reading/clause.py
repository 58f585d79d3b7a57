"""A request without what may stand anywhere in it, and what recipes make of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from ..request import Aggregate, Chart, Filter, Period, Request, with_date_order
from .forms import Match, Tags, whole
from .names import TableNames
from .periods import usual_period
from .tags import Tag
from .tokens import word_set, words_of
from .vocabulary import usual_aggregate

_MAX_GROUPS = 20
"""Different values up to which a number makes groups."""

AGGREGATES: dict[str, Aggregate] = {name: name for name in get_args(Aggregate)}

_CHARTS: dict[str, Chart] = {name: name for name in get_args(Chart)}

PERIODS: dict[str, Period] = {name: name for name in get_args(Period)}

_WORD = re.compile(r"(?<![<\w])[a-z]+(?!\w)")

_COMMON = word_set(
    "number text date value num span rows file newfile and or by with from to on as of where not"
    " sold this show period each which order quoted"
)


class Unsaid(Exception):
    """Something has to be asked before this can be done."""

    def __init__(self, question: str, offered: Sequence[tuple[Request, ...]]) -> None:
        super().__init__(question)
        self.offered = [each for each in offered if each]


def alone(made: Iterable[Request | None]) -> list[tuple[Request, ...]]:
    """Each by itself, of those that could be made."""
    return [(request,) for request in made if request]


@dataclass(frozen=True)
class Clause:
    """A request without what stands anywhere in it: its conditions, its chart, its table."""

    names: TableNames
    tags: Tags
    filters: tuple[Filter, ...] = ()
    time: str = ""
    charts: tuple[str, ...] = ()
    """Kinds of charts that it names; an empty one for a chart of any kind."""
    order: str = ""
    dates: str = ""
    """What comes first in them, `day` or `month`, where that is said."""
    is_shown: bool = False
    """Whether it begins with a word such as `show`."""
    asks: bool = False
    """Whether it is a question, as `is the data clean`: one that nothing is changed for."""

    @property
    def chart(self) -> Chart | None:
        kinds = [kind for kind in self.charts if kind]
        return _CHARTS[kinds[-1]] if kinds else None

    def request(self, request: Request) -> Request:
        """With the conditions, and the time that they or a period are about."""
        is_timed = request.period or any(each.column == self.time for each in self.filters)
        time = self.time if is_timed and not request.time else request.time
        request = replace(request, filters=(*request.filters, *self.filters), time=time)
        if not self.dates:
            return request
        return with_date_order(request, "month" if self.dates == "month" else "day")


Builder = Callable[[Clause, Match], Iterator[tuple[Request, ...]]]


@dataclass(frozen=True)
class Recipe:
    name: str
    title: str
    example: str
    """How to ask for it, with places for a table's own names."""
    ways: Mapping[Builder, tuple[str, ...]]
    """Forms of requests for it, and what becomes of them."""
    keeps: str = "It only reads."
    """What it leaves alone."""
    takes_conditions: bool = True
    """Whether its rows can be chosen; else its own words may look like conditions."""
    keeps_sides: bool = False
    """Whether it is about two values or spans, which are then no conditions."""

    @property
    def kinds(self) -> frozenset[str]:
        """Of its own words."""
        forms = [form for each in self.ways.values() for form in each]
        words = {word for form in forms for word in _WORD.findall(form)}
        return frozenset(words - _COMMON)

    @property
    def said(self) -> str:
        return f"{self.title}. {self.keeps}"

    @property
    def is_form(self) -> bool:
        """Whether all of its places can be filled from the columns of a table."""
        return "{period}" not in self.example

    def requests(self, clause: Clause) -> Iterator[tuple[Request, ...] | Unsaid]:
        ways = ((build, form) for build, forms in self.ways.items() for form in forms)
        for build, form in ways:
            if match := whole(form, clause.tags):
                try:
                    yield from build(clause, match)
                except Unsaid as why:
                    if why.offered:
                        yield why


def groups_of(clause: Clause, match: Match) -> tuple[tuple[str, ...], Period | None] | None:
    """The columns and the period to group by; None if there is no date for a period."""
    tags = match.all("groups", "number", "date", "text", "period", "each") + match.all("each")
    # `by month of date`
    tags = [
        tag
        for before, tag in zip([Tag(""), *tags], tags, strict=False)
        if (before.kind, tag.kind) != ("period", "date")
    ]
    groups = [tag.name for tag in tags if tag.kind in ("number", "text")]
    if any(_is_measured(clause, tag) for tag in tags):
        return None  # `revenue per unit`
    periods = [PERIODS[tag.name] for tag in tags if tag.kind in ("period", "each")]
    periods += ["day" for tag in tags if tag.kind == "date"]
    if len(periods) > 1:
        return None
    if periods and not clause.time:
        year = next((n for n in clause.names.table.names_of("number") if n.lower() == "year"), "")
        if periods != ["year"] or not year:
            return None
        return (year, *groups), None
    return tuple(dict.fromkeys(groups)), periods[0] if periods else None


def _is_measured(clause: Clause, tag: Tag) -> bool:
    column = clause.names.table.column(tag.name)
    if tag.kind != "number" or column is None:
        return False
    return column.distinct > _MAX_GROUPS or usual_aggregate(words_of(tag.name)) == "sum"


def _drawn(clause: Clause, request: Request) -> Request | None:
    """With the chart that was asked for; None if it cannot be drawn of this."""
    if not clause.charts:
        return request
    if not (request.groups or request.period) or clause.chart in ("histogram", "box", "scatter"):
        return None
    return replace(request, chart=clause.chart or ("line" if request.period else "bar"))


def usual_period_of(clause: Clause) -> Period:
    column = clause.names.table.column(clause.time)
    return usual_period(column.first, column.last) if column else "month"


def ways_of(name: str, said: Sequence[str]) -> list[Aggregate]:
    """How a number is put together: as said, as usual for its name, or in one of two ways."""
    if said:
        return [AGGREGATES[how] for how in said]
    usual = usual_aggregate(words_of(name))
    return [AGGREGATES[usual]] if usual else ["sum", "mean"]


def computed(
    clause: Clause,
    name: str,
    how: Aggregate,
    groups: tuple[str, ...],
    period: Period | None,
    limit: int = 0,
    *,
    ascending: bool = False,
) -> Request | None:
    if limit and not (groups or period):
        return None
    columns = (name,) if name else ()
    request = Request("aggregate", clause.names.table, columns, how, groups, period=period)
    request = replace(request, limit=limit, ascending=ascending)
    drawn = _drawn(clause, request)
    return clause.request(drawn) if drawn else None
