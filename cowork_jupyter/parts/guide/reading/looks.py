"""Recipes that look at a table, and those that write one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import cast

from ..request import Aggregate, Chart, CleaningAction, Fill, Request, Verb
from .figures import check_rows
from .forms import (
    Ambiguous,
    Clause,
    Grouping,
    Match,
    Requests,
    Tags,
    begins,
    computed,
    grouping_of,
    usual_period_of,
    ways_of,
)
from .tags import Tag, measures

_USUAL_ROWS = 10
_MAX_WAYS = 8
_NUMBER_FILLS, _TEXT_FILLS = ("median", "mean", "zero"), ("most frequent", "previous")


def related(clause: Clause, match: Match) -> Requests | None:
    columns = tuple(match.names("columns", "number"))
    is_against = bool(match.all("vs", "vs")) and len(columns) > 1
    if clause.charts and clause.chart != "scatter" and not is_against:
        return None
    if not (match.first("relation") or clause.charts) or len(columns) == 1:
        return None
    if is_against:
        columns = columns[::-1]  # `revenue against price`: the first is drawn upwards
    if clause.charts and not columns:
        return None
    chart: Chart | None = "scatter" if clause.charts else None
    return (clause.request(Request("relate", clause.table, columns, chart=chart)),)


def distribution(clause: Clause, match: Match) -> Requests | None:
    grouping, column = grouping_of(clause, match), match.tag("column")
    is_drawn = clause.chart in ("histogram", "box")
    if not (is_drawn or match.first("distribution")) or grouping.period or len(grouping) > 1:
        return None
    if column.kind == "text":
        if grouping or is_drawn:
            return None
        drawn = replace(clause, charts=clause.charts or ("bar",))
        return (computed(drawn, "", "count", Grouping((column.name,))),)
    if clause.chart and not is_drawn:
        return None
    chart: Chart = clause.chart or ("box" if grouping else "histogram")
    request = Request("distribution", clause.table, (column.name,), groups=grouping.columns)
    return (clause.request(replace(request, chart=chart)),)


def charted(clause: Clause, _match: Match) -> None:
    """`plot sales`: of what is asked."""
    if not clause.charts:
        return
    table, chart = clause.table, clause.chart
    dates, groups, numbers = table.names_of("date"), table.categories, measures(table)[:2]
    offered: list[Request] = []

    def offer(kinds: tuple[Chart, ...], request: Request) -> None:
        if chart is None or chart in kinds:
            offered.append(clause.request(replace(request, chart=chart or kinds[0])))

    for name in numbers:
        request = Request("aggregate", table, (name,), cast("Aggregate", ways_of(name, ())[-1]))
        if dates:
            period = usual_period_of(replace(clause, time=dates[0]))
            offer(("line", "bar"), replace(request, period=period, time=dates[0]))
        if groups:
            offer(("bar", "pie"), replace(request, groups=(groups[0].name,)))
        offer(("histogram", "box"), Request("distribution", table, (name,)))
    if groups:
        offer(("bar", "pie"), Request("aggregate", table, (), "count", (groups[0].name,)))
    if len(numbers) == 2 and chart:
        offer(("scatter",), Request("relate", table, tuple(numbers)))
    raise Ambiguous("A chart of what?", offered)


def looked(clause: Clause, match: Match) -> Requests:
    """Outliers, missing values and duplicates: of these columns, or of all."""
    verbs: tuple[Verb, ...] = ("outliers", "missing", "duplicates")
    verb = next(each for each in verbs if match.first(each))
    columns = tuple(match.names("columns", "number", "date", "text"))
    return (clause.request(Request(verb, clause.table, columns)),)


def columns(clause: Clause, _match: Match) -> Requests:
    return (Request("columns", clause.table),)


def rows(clause: Clause, match: Match) -> Requests | None:
    what, is_first = match.first("what"), match.first("first") is not None
    if not (clause.is_shown or clause.filters or is_first):
        return None
    limit = match.limit(0 if clause.filters else _USUAL_ROWS)
    if what and is_first and not match.first("n") and not what.words.endswith("s"):
        return None  # `the first order` may be the earliest
    if what and not clause.is_shown and not is_first:
        check_rows(clause, what, Grouping())
    return (clause.request(Request("preview", clause.table, limit=limit)),)


def profile(clause: Clause, match: Match) -> Requests:
    if column := match.first("column"):
        return (Request("distribution", clause.table, (column.name,)),)
    return (Request("profile", clause.table),)


_ACTIONS = (
    "<drop drop><duplicates duplicates>rows?((by|on)<columns COLUMNS>)?",
    "<drop drop><empty empty>",
    "<drop drop>rows?(with|where|not)?<missing missing>rows?<columns EITHER>?",
    "<drop drop>rows where<columns COLUMNS><missing missing>",
    "<drop drop>rows(not)<columns COLUMNS>",
    "<fill fill><gaps missing>?<columns COLUMNS>?((with|by|to)"
    "((<how how>|<fillwith fillwith>)(number|rows)?|<value num|quoted|value>))?",
    "<trim trim><columns COLUMNS>",
    "<unify unify><columns COLUMNS>",
)


def cleaned(clause: Clause, _match: Match) -> Requests | None:
    if clause.asks:
        return None
    rest = [tag for tag in clause.tags if tag.kind != "clean"]
    tags = Tags(rest[1:] if rest and rest[0].kind == "and" else rest)
    actions: list[list[CleaningAction]] = []
    question, at = "", 0
    while at < len(tags):
        if tags[at].kind == "and" and actions:
            at += 1
            after = tags[at].kind if at < len(tags) else ""
            if actions[-1][0].kind.startswith("drop") and after in ("rows", "duplicates"):
                tags = Tags([*tags[:at], Tag("drop"), *tags[at:]])  # `drop` stands for both
        match = next((m for form in _ACTIONS if (m := begins(form, tags, at))), None)
        ways, open_question = _actions(clause, match) if match else ([], "")
        if match is None or not ways:
            return None
        question, at = open_question or question, match.end
        actions.append(ways)
    made = [(Request("clean", clause.table, actions=ways),) for ways in product(*actions)]
    if question:
        raise Ambiguous(question, made[:_MAX_WAYS])
    return made[0]


def _actions(clause: Clause, match: Match) -> tuple[list[CleaningAction], str]:
    """What it may mean, and the question where that is several things; nothing if it is unclear."""
    columns = tuple(dict.fromkeys(match.names("columns", "number", "date", "text")))
    if match.first("fill"):
        if match.tag("fill").words.lower() == "replace" and not match.first("gaps"):
            return [], ""  # replaces values that are there
        if columns:
            return _fills(clause, match, columns), "Fill them with what?" * _is_open(match)
        # Never all of them: what is missing in an id is seldom its most frequent value.
        each = [_fills(clause, match, (name,)) for name in measures(clause.table)[:8]]
        offered = [action for ways in each for action in ways[:2]]
        return offered if all(each) else [], "Fill the missing values of which column?"
    if match.first("trim") or match.first("unify"):
        return [CleaningAction("trim" if match.first("trim") else "unify", columns)], ""
    if match.first("duplicates"):
        return [CleaningAction("drop duplicates", columns)], ""
    return [CleaningAction("drop empty" if match.first("empty") else "drop missing", columns)], ""


def _is_open(match: Match) -> bool:
    return not any(map(match.first, ("how", "fillwith", "value")))


def _fills(clause: Clause, match: Match, columns: tuple[str, ...]) -> list[CleaningAction]:
    are_numbers = all(clause.table.kind_of(column) == "number" for column in columns)
    if value := match.first("value"):
        is_kind = value.kind == "num" or not are_numbers
        return [CleaningAction("fill", columns, value=value.value or value.name)] * is_kind
    if hows := match.names("how") + match.names("fillwith"):
        fits = hows[0] in _TEXT_FILLS or (are_numbers and hows[0] in _NUMBER_FILLS)
        return [CleaningAction("fill", columns, cast("Fill", hows[0]))] * fits
    ways = _NUMBER_FILLS if are_numbers else _TEXT_FILLS
    return [CleaningAction("fill", columns, cast("Fill", way)) for way in ways]


def model(clause: Clause, match: Match) -> Requests | None:
    target, features = match.tag("target").name, match.names("columns", "number", "text", "date")
    return None if target in features else (Request("model", clause.table, (target, *features)),)


def exported(clause: Clause, match: Match) -> Requests:
    return (clause.request(Request("export", clause.table, named_output=match.tag("path").name)),)
