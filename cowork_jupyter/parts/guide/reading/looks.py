"""Recipes that look at a table: its rows, its columns, what is wrong, what goes together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..request import Chart, Request, Verb
from .clause import AGGREGATES, Clause, Unsaid, alone, groups_of, usual_period_of
from .figures import check_rows
from .forms import Match
from .names import measures
from .tokens import words_of
from .vocabulary import usual_aggregate

_USUAL_ROWS = 10


def related(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    first, second = [*match.names("columns", "number"), "", ""][:2]
    if clause.charts and clause.chart != "scatter" and not (match.all("vs", "vs") and second):
        return
    if not match.first("relation") and not clause.charts:
        return
    chart: Chart | None = "scatter" if clause.charts else None
    if match.all("vs", "vs") and second:
        first, second = second, first  # `revenue against price`: the first is drawn upwards
    columns = tuple(filter(None, (first, second)))
    if len(columns) == 1 or (chart and not columns):
        return
    yield (clause.request(Request("relate", clause.names.table, columns, chart=chart)),)


def distribution(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    found = groups_of(clause, match)
    column = match.first("column")
    wants = clause.chart in ("histogram", "box") or match.first("distribution")
    if not wants or column is None or found is None or found[1] or len(found[0]) > 1:
        return
    if column.kind == "text":
        if not found[0] and clause.chart not in ("histogram", "box"):
            counted = Request("aggregate", clause.names.table, (), "count", (column.name,))
            yield (clause.request(replace(counted, chart=clause.chart or "bar")),)
        return
    if clause.chart not in ("histogram", "box", None):
        return
    chart: Chart = clause.chart or ("box" if found[0] else "histogram")
    request = Request("distribution", clause.names.table, (column.name,), groups=found[0])
    yield (clause.request(replace(request, chart=chart)),)


def charted(clause: Clause, _match: Match) -> Iterator[tuple[Request, ...]]:
    """`plot sales`: of what is asked."""
    if not clause.charts:
        return iter(())
    table, chart = clause.names.table, clause.chart
    dates, groups, numbers = table.names_of("date"), table.categories, measures(table)[:2]
    offered = []
    for name in numbers:
        way = AGGREGATES[usual_aggregate(words_of(name)) or "mean"]
        request = Request("aggregate", table, (name,), way)
        if dates and chart in ("line", "bar", None):
            period = usual_period_of(replace(clause, time=dates[0]))
            request_of_time = replace(request, period=period, time=dates[0])
            offered.append(replace(request_of_time, chart=chart or "line"))
        if groups and chart in ("bar", "pie", None):
            offered.append(replace(request, groups=(groups[0].name,), chart=chart or "bar"))
        if chart in ("histogram", "box", None):
            offered.append(Request("distribution", table, (name,), chart=chart or "histogram"))
    if groups and chart in ("bar", "pie", None):
        counted = Request("aggregate", table, (), "count", (groups[0].name,))
        offered.append(replace(counted, chart=chart or "bar"))
    if len(numbers) == 2 and chart == "scatter":
        offered.append(Request("relate", table, tuple(numbers), chart="scatter"))
    raise Unsaid("A chart of what?", alone(map(clause.request, offered)))


def looked(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    """Outliers, missing values and duplicates: of these columns, or of all."""
    if clause.charts:
        return
    verbs: tuple[Verb, ...] = ("outliers", "missing", "duplicates")
    verb = next(each for each in verbs if match.first(each))
    names = tuple(match.names("columns", "number", "date", "text"))
    yield (clause.request(Request(verb, clause.names.table, names)),)


def columns(clause: Clause, _match: Match) -> Iterator[tuple[Request, ...]]:
    if not clause.filters and not clause.charts:
        yield (Request("columns", clause.names.table),)


def rows(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    number = match.first("n")
    is_asked = clause.is_shown or clause.filters or match.first("first")
    if is_asked and not clause.charts:
        limit = int(number.name) if number else 0 if clause.filters else _USUAL_ROWS
        what = match.first("what")
        if what and match.first("first") and not number and not what.words.endswith("s"):
            return  # `the first order` may be the earliest
        if what and not clause.is_shown and not match.first("first"):
            check_rows(clause, what, (), None)
        yield (clause.request(Request("preview", clause.names.table, limit=limit)),)


def profile(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    column = match.first("column")
    if clause.filters or clause.charts:
        return
    if column is None:
        yield (Request("profile", clause.names.table),)
    elif column.kind == "number":
        yield (Request("distribution", clause.names.table, (column.name,)),)
