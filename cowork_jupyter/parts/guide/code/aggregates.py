"""A measure of all rows, of groups and periods, and of two sides compared."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Request
from . import charts
from .cells import LINE_LENGTH, call, literal
from .titles import compared_values, frequency, result_names
from .writer import Writer

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_METHODS = {"distinct": "nunique", "share": "sum"}


def aggregate(writer: Writer) -> None:
    request, lines = writer.request, writer.tidy_selection()
    keys = [literal(name) for name in request.groups]
    if request.period:
        keys.insert(0, writer.periods(request.time, request.period))
    if not keys:
        whole = f"{writer.rows}{_measured(request)}" if request.columns else f"len({writer.rows})"
        writer.builder.add(*lines, result=whole)
    elif len(keys) == 2 and not request.limit:
        _crossed(writer, lines, keys)
    else:
        _by_group(writer, lines, keys)


def _grouped(writer: Writer, keys: Sequence[str]) -> str:
    by = keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"
    names = [name for name in writer.request.table.names if literal(name) in keys]
    return f"{writer.rows}.groupby({by}{writer.keeping_gaps(names)}){_measured(writer.request)}"


def _measured(request: Request) -> str:
    if not request.columns:
        return ".size()"
    return f"[{literal(request.columns[0])}].{_METHODS.get(request.aggregate, request.aggregate)}()"


def _by_group(writer: Writer, lines: list[str], keys: Sequence[str]) -> None:
    """The largest first, but periods in their order."""
    request, is_one = writer.request, len(keys) == 1
    ordered = (request.period is not None or request.chart == "line") and not request.limit
    name = writer.builder.name(*result_names(request))
    if is_one and not request.columns and not request.period and not ordered:
        code, order = _counted(writer), f".head({request.limit})" if request.limit else ""
    else:
        code = _grouped(writer, keys)
        if request.aggregate == "share":
            lines.append(f"{name} = {code}")
            code = f"({name} / {name}.sum())"
        order = _weekday_order(writer, lines) if ordered else _order(writer)
    lines += _chained(name, code, order)
    writer.builder.add(*lines, result=name)
    if request.chart and is_one:
        facts = None if request.period or request.limit else writer.facts(request.groups[0])
        many = facts is not None and facts.distinct > charts.MAX_BARS and not ordered
        charts.group_chart(writer, name, ordered=ordered, most=charts.MAX_BARS if many else 0)


def _counted(writer: Writer) -> str:
    request = writer.request
    options = ["normalize=True"] if request.aggregate == "share" else []
    options += ["ascending=True"] if request.ascending else []
    options += filter(None, [writer.keeping_gaps(request.groups).removeprefix(", ")])
    return f"{writer.column(request.groups[0])}.value_counts({', '.join(options)})"


def _order(writer: Writer) -> str:
    request = writer.request
    if not request.limit:
        return f".sort_values(ascending={request.ascending})"
    gaps = writer.keeping_gaps(request.groups)
    each = f".groupby(level=0, group_keys=False{gaps})" if request.limit_per_group else ""
    ties = ', keep="all"' if request.limit == 1 else ""
    return f"{each}.{'nsmallest' if request.ascending else 'nlargest'}({request.limit}{ties})"


def _weekday_order(writer: Writer, lines: list[str]) -> str:
    """Weekdays in their order; other periods are in theirs."""
    if writer.request.period != "weekday" or len(writer.request.groups) > 1:
        return ""
    days = writer.builder.name("days")
    lines.append(call(f"{days} = [", map(literal, _WEEKDAYS), "]"))
    return f".reindex({days})"


def _crossed(writer: Writer, lines: list[str], keys: Sequence[str]) -> None:
    """Two groups: one as rows, the other as columns."""
    request = writer.request
    name = writer.builder.name(*result_names(request))
    order = _weekday_order(writer, lines)
    lines += _chained(name, _grouped(writer, keys), f".unstack({_fill(request)}){order}")
    writer.builder.add(*lines, result=name, kind="frame")
    if request.chart:
        charts.cross_table_chart(writer, name)


def compare(writer: Writer) -> None:
    request, builder = writer.request, writer.builder
    first, second = compared_values(request)
    label = "" if request.time else request.groups[0]
    key = literal(label)
    others = [group for group in request.groups if group != label]
    categories = [column.name for column in request.table.categories if column.name != label]
    changing = (others or categories)[:2]
    lines = writer.tidy_selection([*request.groups, *request.columns, *changing])
    if request.time and request.between:
        key = builder.name("period")
        form = frequency(request.between[0])
        lines.append(f'{key} = {writer.dates(request.time)}.dt.to_period("{form}").astype(str)')
    name = builder.name("compared")
    lines += _chained(name, _grouped(writer, [key]), f".reindex([{first}, {second}])")
    lines.append(f'{name}["change"] = {name}[{second}] - {name}[{first}]')
    builder.add(*lines, result=name)
    for group in changing:
        _change(writer, key, group, first, second)


def _change(writer: Writer, key: str, group: str, first: str, second: str) -> None:
    name = writer.builder.name(f"by_{group}".lower())
    fill = _fill(writer.request)
    sides = f"columns=[{first}, {second}]"
    lines = _chained(name, _grouped(writer, [literal(group), key]), f".unstack({fill})")
    lines.append(f"{name} = {name}.reindex({', '.join(filter(None, [sides, fill]))})")
    lines.append(f'{name}["change"] = {name}[{second}] - {name}[{first}]')
    result = f'{name}.sort_values("change", key=abs, ascending=False)'
    writer.builder.add(*lines, result=result, kind="frame")


def _fill(request: Request) -> str:
    """Where there are no rows, their sum is 0, but they have no mean."""
    return "fill_value=0" if request.aggregate in ("sum", "count") else ""


def _chained(name: str, code: str, order: str) -> list[str]:
    line = f"{name} = {code}{order}"
    if len(line) <= LINE_LENGTH or not order:
        return [line]
    return [f"{name} = {code}", f"{name} = {name}{order}"]
