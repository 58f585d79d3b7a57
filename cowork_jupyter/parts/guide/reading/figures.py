"""Recipes for figures: totals, counts, shares, ranks and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

from ..request import Period, Request
from .forms import (
    Ambiguous,
    Clause,
    Grouping,
    Match,
    NotUnderstood,
    Requests,
    computed,
    grouping_of,
    over_time,
    ways_of,
)
from .tags import Tag, measures, yes_of
from .tokens import period_of, previous_span, singular, word_set
from .vocabulary import is_worse_if_high, usual_aggregate

_USUAL_TOP = 10
_MAX_OFFERED = 6
_EACH = word_set("per each every") | {"for each", "for every", "in each", "of each", "each of"}


def aggregate(clause: Clause, match: Match) -> Requests | None:
    grouping = grouping_of(clause, match)
    hows, names = match.names("hows"), match.names("measures", "number")
    ranking = _ranking(clause, match, grouping)
    if match.first("count"):
        if usual_aggregate(names[0]) != "sum":
            check_rows(clause, match.tag("measures"), grouping, **ranking)
            return None
        hows = ["sum"]
    is_asked = hows or grouping or clause.filters or clause.charts or match.all("overtime")
    if not is_asked or (len(names) > 1 and ranking["limit"]):
        return None
    clause, grouping = over_time(clause, match, grouping)

    def made(hows: Sequence[str]) -> Requests:
        ways = [(name, how) for name in names for how in ways_of(name, hows)]
        return tuple(computed(clause, name, how, grouping, **ranking) for name, how in ways)

    if hows and hows != ["sum"] and _is_of_each(match, names):
        question = "Of the rows of each period? I have no recipe for figures of totals."
        raise Ambiguous(question, [made(hows)])
    if any(len(ways_of(name, hows)) > 1 for name in names) and not hows:
        raise Ambiguous(f"The sum of {names[0]}, or its mean?", [made(["sum"]), made(["mean"])])
    return made(hows)


def _ranking(clause: Clause, match: Match, grouping: Grouping) -> dict[str, Any]:
    """`top 3`, of all or of each of the outermost group, and which end."""
    within = match.names("within", "text", "number", "period")
    if within not in ([], [grouping.outermost]):
        raise NotUnderstood
    is_least = match.first("least") is not None or clause.order == "ascending"
    return {"limit": match.limit(), "ascending": is_least, "limit_per_group": bool(within)}


def _is_of_each(match: Match, names: Sequence[str]) -> bool:
    """`average monthly revenue` may be that of the months' totals."""
    is_each = match.all("each") or any(
        tag.kind == "period" and before.words.lower() in _EACH
        for before, tag in pairwise(match.tags)
    )
    return bool(is_each) and any(usual_aggregate(name) == "sum" for name in names)


def pairs(clause: Clause, match: Match) -> Requests:
    """`total units and average price by product`."""
    grouping, tags = grouping_of(clause, match), match.all("pairs", "how", "number")
    return tuple(
        computed(clause, number.name, how.name, grouping)
        for how, number in zip(tags[::2], tags[1::2], strict=True)
    )


def count(clause: Clause, match: Match) -> Requests | None:
    grouping, table = grouping_of(clause, match), clause.table
    what, distinct = match.first("what"), match.first("distinct")
    ranking = _ranking(clause, match, grouping)
    clause, grouping = over_time(clause, match, grouping)
    is_rows = what is None or what.kind == "rows"
    if set(match.names("hows")) - {"sum"} or (is_rows and distinct):
        return None
    if what is None and not (grouping or clause.filters):
        return None
    if what and is_rows and not any(tag.kind == "count" for tag in clause.tags):
        if singular(what.words.lower()) == what.words.lower():
            return None  # `traffic by page` may be how much
        check_rows(clause, what, grouping, **ranking)
    if what and not is_rows and not distinct and (yes := yes_of(table, what.name)):
        clause, is_rows = clause.where(what.name, yes), True
    if not is_rows and any(table.kind_of(each.column) == "number" for each in clause.filters):
        return None  # of each of them, or of its total?
    column, how = ("", "count") if is_rows or not what else (what.name, "distinct")
    return (computed(clause, column, how, grouping, **ranking),)


def check_rows(clause: Clause, what: Tag, grouping: Grouping, **ranking: Any) -> None:
    """`sales by region` may be how many, or how much."""
    numbers = measures(clause.table)
    meanings = clause.names.columns([what.words.lower()])
    if alike := [meaning.name for meaning in meanings if meaning.name in numbers]:
        ways = (("", "count"), (alike[0], "sum"))
        offered = [computed(clause, name, how, grouping, **ranking) for name, how in ways]
        raise Ambiguous(f"The number of rows, or the sum of {alike[0]}?", offered)


def listed(clause: Clause, match: Match) -> Requests | None:
    """`list all departments`: its values, and how often each occurs."""
    column, distinct = match.tag("column").name, match.first("distinct")
    if not distinct and yes_of(clause.table, column):
        return None  # `show the smokers` may be rows
    if not (clause.is_shown or match.first("which") or distinct):
        return None
    return (clause.request(Request("aggregate", clause.table, (), "count", (column,))),)


def share(clause: Clause, match: Match) -> Requests | None:
    grouping, hows = grouping_of(clause, match), match.names("hows")
    measure = match.names("measure")
    if hows not in ([], ["sum"]) or len(grouping) > 1:
        return None  # within which of them?
    if not grouping:
        if len(clause.filters) != 1 or clause.filters[0].operator != "=" or measure:
            return None
        column = clause.filters[0].column
        if clause.table.kind_of(column) == "date":
            return None  # the share of a month, of which year?
        # The share of one value is seen beside those of the others.
        grouping, clause = Grouping((column,)), replace(clause, filters=())
    elif not measure and any(each.column != clause.time for each in clause.filters):
        return None  # of each group, or of all that the condition keeps?
    summed = [name for name in measures(clause.table) if usual_aggregate(name) == "sum"]
    names = measure or ["", *([] if match.all("rows") else summed[:3])]
    ascending = clause.order == "ascending"
    made = tuple(computed(clause, name, "share", grouping, ascending=ascending) for name in names)
    is_sum = hows or all(usual_aggregate(name) == "sum" for name in measure)
    if len(made) > 1 or not is_sum:  # of codes such as 404, no sum is meant
        raise Ambiguous("The share of what?", made)
    return made


def ranked(clause: Clause, match: Match) -> Requests | None:
    """`which region has the highest revenue`, `top 3 customers by revenue`."""
    rank, what, measure = match.tag("rank"), match.tag("what"), match.first("measure")
    hows, outer = match.names("hows"), grouping_of(clause, match)
    number = measure.name if measure and measure.kind == "number" else ""
    is_least = "least" in (rank.kind, rank.name)
    if (rank.name == "good" and (not number or is_worse_if_high(number))) or len(outer) > 1:
        return None
    last = (what.words.split() or [""])[-1].lower()
    is_many = singular(last) != last and not match.first("which")
    limit = match.limit(_USUAL_TOP if is_many else 1)
    if what.kind == "rows":
        if outer or hows or (measure and not number):
            return None
        if not measure:
            names = measures(clause.table)[:_MAX_OFFERED]
            offered = [_best_rows(clause, name, limit, is_least) for name in names]
            raise Ambiguous("By which number?", offered)
        return (_best_rows(clause, number, limit, is_least),)
    if (what.kind == "period" and (outer or not clause.time)) or (hows and not number):
        return None
    ways = ways_of(number, hows) if number else ["count"]
    if ways == ["mean"] and not hows:  # the highest price may be one, or that on average
        ways = ["mean", "min" if is_least else "max"]
    inner = _grouped_by(what)
    grouping = Grouping((*outer.columns, *inner.columns), inner.period or outer.period)
    ranking: dict[str, Any] = {"ascending": is_least, "limit_per_group": bool(outer)}
    made = tuple(computed(clause, number, how, grouping, limit, **ranking) for how in ways)
    if len(made) > 1:
        raise Ambiguous(f"By which {number}?", made)
    return made


def _grouped_by(what: Tag) -> Grouping:
    columns = (what.name,) if what.kind == "text" else ()
    return Grouping(columns, cast("Period", what.name) if what.kind == "period" else None)


def _best_rows(clause: Clause, column: str, limit: int, is_least: bool) -> Request:
    request = Request("preview", clause.table, limit=limit, order_by=column, ascending=is_least)
    return clause.request(request)


def extreme(clause: Clause, match: Match) -> Requests | None:
    """`highest revenue`, `5 highest salaries`, `the highest price per product`."""
    rank, measure = match.tag("rank"), match.tag("measure").name
    grouping = grouping_of(clause, match)
    is_least = rank.kind == "least"
    if rank.name == "good" or clause.charts:
        return None
    if match.first("n") or match.first("rows"):
        return None if grouping else (_best_rows(clause, measure, match.limit(1), is_least),)
    return (computed(clause, measure, "min" if is_least else "max", grouping),)


def superlative(clause: Clause, match: Match) -> Requests | None:
    sup, what = match.tag("sup"), match.tag("what")
    is_least, limit = sup.value == "least", match.limit(1)
    column = clause.table.column(what.name)
    if what.kind == "rows" or (column and column.is_unique):
        return (_best_rows(clause, sup.name, limit, is_least),)
    grouping = _grouped_by(what)
    if not (grouping.columns or clause.time):
        return None
    ways = ["min" if is_least else "max", *(["mean"] if grouping.period else [])]
    made = tuple(
        computed(clause, sup.name, way, grouping, limit, ascending=is_least) for way in ways
    )
    if len(made) > 1:
        raise Ambiguous(f"By one value of {sup.name}, or by its mean?", made)
    return made


def compared(clause: Clause, match: Match) -> Requests | None:
    names = match.names("measure") + match.names("behind")
    grouping, sides = grouping_of(clause, match), match.all("sides", "value", "span", "quoted")
    values = [side.value or side.name for side in sides]
    if match.first("why"):
        values.insert(0, previous_span(values[0]))
    if grouping.period or len(names) > 1 or len(values) != 2:
        return None
    columns = {side.name for side in sides if side.kind == "value"} | set(match.names("column"))
    spans = [side.kind == "span" for side in sides]
    request = Request("compare", clause.table, groups=grouping.columns)
    if all(spans):
        period = period_of(values[0])
        if not clause.time or period != period_of(values[1]):
            return None
        first, second = sorted(values)
        request = replace(request, time=clause.time, period=period, between=(first, second))
    elif len(columns) == 1 and not any(spans):
        groups = (*columns, *grouping.columns)
        request = replace(request, groups=groups, between=(values[0], values[1]))
    else:
        return None
    numbers = names or measures(clause.table)[:_MAX_OFFERED]
    ways = [(name, how) for name in numbers for how in ways_of(name, match.names("hows"))]
    if match.first("rows") or not numbers:
        ways = [("", "count")]
    made = tuple(_of_sides(clause, request, name, how) for name, how in ways)
    if len(made) > 1:
        raise Ambiguous("What should I compare?", made)
    return made


def _of_sides(clause: Clause, request: Request, column: str, how: Any) -> Request:
    """The time of a condition is none of a comparison of groups."""
    columns = (column,) if column else ()
    made = clause.request(replace(request, columns=columns, aggregate=how))
    return made if request.period else replace(made, time="")
