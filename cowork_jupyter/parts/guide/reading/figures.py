"""Recipes for figures: totals, counts, shares, ranks and comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ..request import Aggregate, Filter, Period, Request
from .clause import (
    AGGREGATES,
    PERIODS,
    Clause,
    Unsaid,
    alone,
    computed,
    groups_of,
    usual_period_of,
    ways_of,
)
from .forms import Match
from .names import measures, yes_of
from .periods import period_of, previous_span
from .tags import Tag
from .tokens import singular, word_set, words_of
from .vocabulary import is_worse_if_high, usual_aggregate

_USUAL_TOP = 10
_MAX_OFFERED = 6
_EACH = word_set("per each every") | {"for each", "for every", "in each", "of each", "each of"}


def aggregate(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    found = groups_of(clause, match)
    if found is None:
        return
    groups, period = found
    said, names = match.names("hows"), match.names("measures", "number")
    if match.first("count"):
        said = ["sum"]
        if usual_aggregate(words_of(names[0])) != "sum":
            check_rows(clause, match.all("measures")[0], groups, period)
            return
    if not (said or groups or period or clause.filters or clause.charts or match.all("overtime")):
        return
    if match.all("overtime") and not period:
        if not clause.time:
            return
        period = usual_period_of(clause)
    if match.all("overtime") and not clause.charts:
        clause = replace(clause, charts=("line",))
    limit = int(top.name) if (top := match.first("n")) else 0
    is_least = match.first("least") is not None or clause.order == "ascending"
    if len(names) > 1 and limit:
        return
    ways = {name: ways_of(name, said) for name in names}
    if said and said != ["sum"] and _is_of_each(match, names):
        made = [computed(clause, name, way, groups, period) for name in names for way in ways[name]]
        raise Unsaid(
            "Of the rows of each period? I have no recipe for figures of totals.",
            [tuple(request for request in made if request)],
        )
    if any(len(each) > 1 and not said for each in ways.values()):
        offered = [
            [computed(clause, name, AGGREGATES[how], groups, period) for name in names]
            for how in ("sum", "mean")
        ]
        raise Unsaid(
            f"The sum of {names[0]}, or its mean?", [tuple(filter(None, each)) for each in offered]
        )
    made = [
        computed(clause, name, how, groups, period, limit, ascending=is_least)
        for name in names
        for how in ways[name]
    ]
    if match.all("within") and not _is_within(match, groups, period):
        return
    if all(made):
        within = bool(match.all("within"))
        yield tuple(replace(request, limit_per_group=within) for request in made if request)


def _is_of_each(match: Match, names: Sequence[str]) -> bool:
    """`average monthly revenue` may be that of the months' totals."""
    is_each = match.all("each") or any(
        tag.kind == "period" and before.words.lower() in _EACH
        for before, tag in pairwise(match.tags)
    )
    return bool(is_each) and any(usual_aggregate(words_of(name)) == "sum" for name in names)


def _timed(clause: Clause) -> int:
    """How many of the conditions are about time."""
    return sum(each.column == clause.time for each in clause.filters)


def _is_within(match: Match, groups: tuple[str, ...], period: Period | None) -> bool:
    """`top 3 of each month`: the rank is within the first group."""
    (outer,) = match.names("within", "text", "number", "period")
    return outer == (period or groups[0])


def pairs(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    """`total units and average price by product`."""
    found = groups_of(clause, match)
    if found is None:
        return
    groups, period = found
    tags = match.all("pairs", "how", "number")
    made = [
        computed(clause, number.name, AGGREGATES[how.name], groups, period)
        for how, number in zip(tags[::2], tags[1::2], strict=True)
    ]
    if all(made):
        yield tuple(request for request in made if request)


def count(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    found = groups_of(clause, match)
    if found is None or any(name != "sum" for name in match.names("hows")):
        return
    groups, period = found
    what, distinct = match.first("what"), match.first("distinct")
    if match.all("overtime") and not period:
        if not clause.time:
            return
        period, clause = usual_period_of(clause), replace(clause, charts=clause.charts or ("line",))
    limit = int(top.name) if (top := match.first("n")) else 0
    is_rows = what is None or what.kind == "rows"
    if is_rows and distinct:
        return
    if what is None and not (groups or period or clause.filters):
        return
    if what and is_rows and not any(tag.kind == "count" for tag in clause.tags):
        if singular(what.words.lower()) == what.words.lower():
            return  # `traffic by page` may be how much
        check_rows(clause, what, groups, period)
    if what and not is_rows and not distinct and (yes := yes_of(clause.names.table, what.name)):
        yes_filter = Filter(what.name, "=" if len(yes) == 1 else "in", yes)
        clause, is_rows = replace(clause, filters=(*clause.filters, yes_filter)), True
    numbers = clause.names.table.names_of("number")
    if not is_rows and any(each.column in numbers for each in clause.filters):
        return  # of each of them, or of its total?
    how: Aggregate = "count" if is_rows else "distinct"
    made = computed(
        clause,
        "" if is_rows or what is None else what.name,
        how,
        groups,
        period,
        limit,
        ascending=clause.order == "ascending" or match.first("least") is not None,
    )
    if made:
        yield (made,)


def check_rows(clause: Clause, what: Tag, groups: tuple[str, ...], period: Period | None) -> None:
    """`sales by region` may be how many, or how much."""
    numbers = measures(clause.names.table)
    meanings = clause.names.columns([what.words.lower()])
    alike = [meaning.name for meaning in meanings if meaning.name in numbers]
    if alike:
        ways: list[tuple[str, Aggregate]] = [("", "count"), (alike[0], "sum")]
        made = [computed(clause, name, how, groups, period) for name, how in ways]
        question = f"The number of rows, or the sum of {alike[0]}?"
        raise Unsaid(question, alone(made))


def listed(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    """`list all departments`: its values, and how often each occurs."""
    column = match.names("column")[0]
    if not match.first("distinct") and yes_of(clause.names.table, column):
        return  # `show the smokers` may be rows
    if clause.is_shown or match.first("which") or match.first("distinct"):
        yield (clause.request(Request("aggregate", clause.names.table, (), "count", (column,))),)


def share(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    found = groups_of(clause, match)
    if found is None:
        return
    groups, period = found
    measure, hows = match.names("measure"), match.names("hows")
    equal = [each.column for each in clause.filters if each.operator == "="]
    if hows not in ([], ["sum"]):
        return
    if len(groups) + bool(period) > 1:
        return  # within which of them?
    if (groups or period) and not measure and len(clause.filters) > _timed(clause):
        return  # of each group, or of all that the condition keeps?
    if not groups and not period:
        if len(equal) != 1 or len(clause.filters) != 1 or measure:
            return
        if clause.names.table.kind_of(equal[0]) == "date":
            return  # the share of a month, of which year?
        # The share of one value is seen beside those of the others.
        groups, clause = tuple(equal), replace(clause, filters=())
    summed = [
        name for name in measures(clause.names.table) if usual_aggregate(words_of(name)) == "sum"
    ]
    names = measure or [""]
    if not measure and summed and not match.all("rows"):
        names = ["", *summed[:3]]
    made = [computed(clause, name, "share", groups, period) for name in names]
    is_sum = hows or all(usual_aggregate(words_of(name)) == "sum" for name in measure)
    if len(made) > 1 or not is_sum:  # of codes such as 404, no sum is meant
        raise Unsaid("The share of what?", alone(made))
    yield from alone(made)


def ranked(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    """`which region has the highest revenue`, `top 3 customers by revenue`."""
    rank, what = match.first("rank"), match.first("what")
    if rank is None or what is None:
        return
    measure, hows = match.first("measure"), match.names("hows")
    is_least = "least" in (rank.kind, rank.name)
    if rank.name == "good" and (not measure or is_worse_if_high(words_of(measure.name))):
        return
    if measure and measure.kind == "text":
        hows = ["distinct"]
    number = match.first("n")
    last = (what.words.split() or [""])[-1].lower()
    is_many = singular(last) != last and match.first("which") is None
    limit = int(number.name) if number else _USUAL_TOP if is_many else 1
    outer = groups_of(clause, match)
    if what.kind == "rows":
        if measure is None and not match.names("groups"):
            offered = [
                _best_rows(clause, name, limit, is_least)
                for name in measures(clause.names.table)[:_MAX_OFFERED]
            ]
            raise Unsaid("By which number?", alone(offered))
        if measure and measure.kind == "number" and not hows and outer == ((), None):
            yield (_best_rows(clause, measure.name, limit, is_least),)
        return
    if outer is None or (outer[0] and outer[1]) or len(outer[0]) > 1:
        return
    groups: tuple[str, ...] = (what.name,) if what.kind == "text" else ()
    period = PERIODS[what.name] if what.kind == "period" else outer[1]
    if (what.kind == "period" and (not clause.time or outer[1])) or what.kind == "number":
        return
    is_inner = bool(outer[0] or outer[1])
    ways: list[Aggregate] = ["count"]
    if measure and measure.kind != "rows":
        ways = ways_of(measure.name, hows)
        if ways == ["mean"] and not hows:  # the highest price may be one, or that on average
            ways = ["mean", "min" if is_least else "max"]
    name = measure.name if measure and measure.kind != "rows" else ""
    if is_inner and what.kind == "period":
        return
    options = [
        replace(made, limit_per_group=is_inner)
        for how in ways
        if (made := computed(clause, name, how, (*outer[0], *groups), period, limit,
                              ascending=is_least))
    ]  # fmt: skip
    if len(options) > 1:
        raise Unsaid(f"By which {name}?", alone(options))
    yield from alone(options)


def _best_rows(clause: Clause, column: str, limit: int, is_least: bool) -> Request:
    request = Request("preview", clause.names.table, limit=limit, order_by=column)
    return clause.request(replace(request, ascending=is_least))


def extreme(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    """`highest revenue`, `5 highest salaries`, `the highest price per product`."""
    rank, measure, number = match.first("rank"), match.names("measure")[0], match.first("n")
    found = groups_of(clause, match)
    if rank is None or rank.name == "good" or found is None or clause.charts:
        return
    is_least = rank.kind == "least"
    if number or match.first("rows"):
        if not (found[0] or found[1]):
            limit = int(number.name) if number else 1
            yield (_best_rows(clause, measure, limit, is_least),)
        return
    made = computed(clause, measure, "min" if is_least else "max", *found)
    if made:
        yield (made,)


def superlative(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    sup, what = match.first("sup"), match.first("what")
    number = match.first("n") or match.first("n2")
    if sup is None or what is None:
        return
    is_least = sup.value == "least"
    limit = int(number.name) if number else 1
    column = clause.names.table.column(what.name)
    if what.kind == "rows" or (column and column.is_unique):
        yield (_best_rows(clause, sup.name, limit, is_least),)
        return
    how: Aggregate = "min" if is_least else "max"
    groups = (what.name,) if what.kind == "text" else ()
    period = PERIODS[what.name] if what.kind == "period" else None
    if not (groups or clause.time):
        return
    ways: list[Aggregate] = [how, "mean"] if period else [how]
    made = [
        computed(clause, sup.name, way, groups, period, limit, ascending=is_least) for way in ways
    ]
    if period:
        raise Unsaid(f"By one value of {sup.name}, or by its mean?", alone(made))
    yield from alone(made)


def compared(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    names = match.names("measure") + match.names("behind")
    found = groups_of(clause, match)
    if found is None or found[1] or len(names) > 1:
        return
    sides = match.all("sides", "value", "span", "quoted")
    between: tuple[str, str]
    if match.first("why"):
        between = (previous_span(sides[0].name), sides[0].name)
    elif len(sides) == 2:
        between = (sides[0].value or sides[0].name, sides[1].value or sides[1].name)
    else:
        return
    columns = {side.name for side in sides if side.kind == "value"} | set(match.names("column"))
    request = Request("compare", clause.names.table, groups=found[0], between=between)
    if all(side.kind == "span" for side in sides):
        if not clause.time or period_of(between[0]) != period_of(between[1]):
            return
        between = between if match.first("why") else (min(between), max(between))
        request = replace(request, time=clause.time, between=between, period=period_of(between[0]))
    elif len(columns) == 1 and not any(side.kind == "span" for side in sides):
        request = replace(request, groups=(*columns, *found[0]))
    else:
        return
    if match.first("rows") or (not names and not measures(clause.names.table)):
        yield (_of_sides(clause, replace(request, columns=(), aggregate="count")),)
        return
    offered = [
        _of_sides(clause, replace(request, columns=(name,), aggregate=how))
        for name in names or measures(clause.names.table)[:_MAX_OFFERED]
        for how in ways_of(name, match.names("hows"))
    ]
    if len(offered) > 1:
        raise Unsaid("What should I compare?", alone(offered))
    yield (offered[0],)


def _of_sides(clause: Clause, request: Request) -> Request:
    """The time of a condition is none of a comparison of groups."""
    made = clause.request(request)
    return made if request.period else replace(made, time="")
