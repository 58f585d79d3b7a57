"""Charts that show less than the table has, or more than the difference."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator

from ...domain.plurals import count_of
from ...effects.data_linter import TableWarning
from .analysis_context import AnalysisContext, number, part_text, share, warning
from .values import NO_CONSTANT, Value, column_of, constant_of, table_column, texts_of

_BEGINS = {"figure", "subplots", "show", "close"}


def _axes(call: Value) -> object:
    """A key for the axes that a call draws on or changes."""
    given = call.keywords.get("ax")
    target = given if given is not None else call.base if call.op == "method" else None
    if target is None or (target.op == "attribute" and target.name == "plot"):
        return "current"
    if call.name in ("plot", "bar", "barh", "hist", "scatter", "line") and _is_data(target):
        return "current"
    if target.op == "index" and target.base is not None:
        return (id(target.base), str(constant_of(target.args[0])))
    return id(target)


def _is_data(value: Value) -> bool:
    tables = ("groupby", "mean", "sum", "value_counts", "size", "agg", "sort_values", "set_index")
    known = any(link.op == "method" and link.name in tables for link in value.chain())
    return known or column_of(value) is not None or (value.op == "index")


def limits(case: AnalysisContext, axis: str) -> Iterator[tuple[Value, Value | None, Value | None]]:
    for call in case.calls():
        given: Value | None = None
        if call.short in (f"{axis}lim", f"set_{axis}lim"):
            low = call.keyword(axis + "min") or call.keyword("bottom" if axis == "y" else "left")
            high = call.keyword(axis + "max") or call.keyword("top" if axis == "y" else "right")
            if call.args and call.args[0].op == "list":
                given = call.args[0]
            else:
                places = (*call.args, None, None)
                yield call, low or places[0], high or places[1]
                continue
        elif call.short == "axis" and call.args and call.args[0].op == "list":
            ends = call.args[0].args
            if len(ends) == 4:
                yield (call, ends[0], ends[1]) if axis == "x" else (call, ends[2], ends[3])
            continue
        else:
            given = call.keywords.get(f"{axis}lim") or call.keywords.get(f"range_{axis}")
        if given is not None and given.op == "list" and len(given.args) == 2:
            yield call, given.args[0], given.args[1]


def meets(case: AnalysisContext, call: Value, limit: Value) -> bool:
    if call is limit or (limit.base is not None and limit.base is call):
        return True
    ours, theirs = _axes(call), _axes(limit)
    if "current" in (ours, theirs):
        return _figure(case, call) == _figure(case, limit)
    return ours == theirs


def _figure(case: AnalysisContext, call: Value) -> int:
    """The number of figures begun before the call."""
    before = itertools.takewhile(lambda each: each is not call, case.calls())
    return sum(each.name.startswith("matplotlib") and each.short in _BEGINS for each in before)


_BARS = {"bar", "barh", "barplot", "countplot"}
_POINTS = {"scatter", "plot", "line", "scatterplot", "lineplot", "hexbin", "hist", "histplot"}
_FIRST = {"head", "tail", "sample", "limit"}
_CHOSEN = {
    "sort_values", "nlargest", "nsmallest", "value_counts", "groupby", "group_by", "sort", "agg",
    "pivot_table", "resample", "query", "top_k", "sort_index",
}  # fmt: skip
_SAYS_SO = re.compile(r"first|last|top|sample|head|recent|zoom|erste|letzte|auszug|detail", re.I)
_FEWER_POINTS = "chart_shows_fewer_points"
_MANY_MISSING = 0.05


def chart_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    drawn = [call for call in case.calls() if _kind(call)]
    if not drawn:
        return
    titles = " ".join(_titles(case))
    yield from _cut_bars(case, drawn)
    if not _SAYS_SO.search(titles):
        for call in drawn:
            if _kind(call) in _POINTS:
                yield from _some_rows(case, call)
        yield from _cut_points(case, drawn)


def _kind(call: Value) -> str:
    """`bar`, `scatter` and the like; empty if it draws nothing."""
    name = call.short if call.op == "call" else call.name
    if call.op == "call" and not call.name.startswith(("matplotlib", "seaborn", "plotly")):
        return ""
    if name == "plot":
        given = call.keyword("kind")
        return (given.text or "") if given is not None else "plot"
    return name if name in _BARS | _POINTS else ""


def _titles(case: AnalysisContext) -> Iterator[str]:
    for call in case.calls():
        if call.short in ("title", "set_title", "suptitle", "xlabel", "set_xlabel"):
            yield from (part.text for arg in call.args for part in arg.ancestry() if part.text)
        for name in ("title", "label", "xlabel"):
            given = call.keywords.get(name)
            if given is not None and given.text:
                yield given.text


def _cut_bars(case: AnalysisContext, drawn: list[Value]) -> Iterator[TableWarning]:
    for call in drawn:
        kind = _kind(call)
        if kind not in _BARS:
            continue
        axis = "x" if kind == "barh" else "y"
        for limit, low, _high in limits(case, axis):
            if not meets(case, call, limit):
                continue
            start, about = _start(case, low)
            if start is None or start <= 0:
                continue
            message = f"The bars start at {about}, not at 0, so their lengths mislead."
            advice = "Let the axis start at 0, or draw points instead of bars."
            yield warning("", "bar_axis_above_zero", message, limit.line, advice, {"start": start})
            return


def _start(case: AnalysisContext, low: Value | None) -> tuple[float | None, str]:
    value = constant_of(low)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), f"{value:g}"
    for ancestor in low.ancestry() if low is not None else ():
        if ancestor.name != "min" and (ancestor.op != "call" or ancestor.short != "min"):
            continue
        column = column_of(ancestor.base) or column_of(ancestor.args[0] if ancestor.args else None)
        state = case.state(column[0]) if column is not None else case.state(ancestor.base)
        field = state.field(column[1]) if state and column else None
        if field is None and state is not None and len(state.fields) == 1:
            field = state.fields[0]
        if field is not None and isinstance(field.low, int | float) and field.low > 0:
            scaled = _scaled(low, float(field.low))
            if scaled is not None:
                return scaled, f"about {scaled:.4g}"
    return None, ""


def _scaled(low: Value | None, least: float) -> float | None:
    """The least value, times or minus a constant."""
    if low is None or low.op != "operator":
        return least
    numbers = [constant_of(arg) for arg in low.args]
    factor = next((candidate for candidate in numbers if isinstance(candidate, int | float)), None)
    if factor is None:
        return None
    if low.name == "Mult":
        return least * factor
    return least - factor if low.name == "Sub" else None


def _some_rows(case: AnalysisContext, call: Value) -> Iterator[TableWarning]:
    receiver = [call.base] if call.op == "method" and call.base is not None else []
    for value in [*receiver, *call.args, *call.keywords.values()]:
        part = _first_rows(value)
        if part is None:
            continue
        whole, count = part
        state = case.state(whole)
        rows = state.rows if state is not None else None
        if count is None or rows is None or count >= rows:
            continue
        message = f"The chart shows {count:,} of {count_of(rows, 'row')} ({share(count, rows)})."
        advice = "Draw all rows, or say in the title which ones are shown."
        evidence = {"shown": count, "rows": rows}
        yield warning(case.of(whole), _FEWER_POINTS, message, call.line, advice, evidence)
        return


def _first_rows(value: Value) -> tuple[Value, int | None] | None:
    """The table and how many of its rows are taken, unless they are chosen by value."""
    taken: tuple[Value, int | None] | None = None
    for link in value.chain():
        if link.op == "method" and link.name in _CHOSEN:
            return None
        if taken is not None or link.base is None:
            continue
        if link.op == "method" and link.name in _FIRST:
            count = constant_of(link.keyword("n", 0)) if link.args or "n" in link.keywords else 5
            fraction = constant_of(link.keyword("frac"))
            taken = (_table(link.base), count if isinstance(count, int) else None)
            if isinstance(fraction, float):
                taken = (_table(link.base), -1)
        elif link.op == "index" and link.args[0].op == "slice":
            ends = [constant_of(end) for end in link.args[0].args]
            owner = link.base.base if link.base.op == "attribute" else link.base
            if owner is not None and isinstance(ends[1], int) and ends[0] in (None, 0):
                taken = (_table(link.base), ends[1])
    return taken


def _table(value: Value) -> Value:
    if value.op == "attribute" and value.name in ("iloc", "loc") and value.base is not None:
        value = value.base
    return (table_column(value) or (value, ""))[0]


def _plotted(call: Value) -> Iterator[tuple[str, Value, str]]:
    data = call.keyword("data")
    if call.op == "method" and call.base is not None:
        owner = call.base.base if call.base.op == "attribute" else call.base
        if call.base.op == "attribute" and call.base.name != "plot":
            owner = call.base
        names = [texts_of(call.keyword(axis, place)) for place, axis in enumerate("xy")]
        if owner is not None and all(name and len(name) == 1 for name in names):
            for axis, name in zip("xy", names, strict=True):
                yield axis, data or owner, (name or [""])[0]
            return
    for place, axis in enumerate("xy"):
        given = call.keyword(axis, place)
        if given is None:
            continue
        if given.text and data is not None:
            yield axis, data, given.text
        elif found := table_column(given):
            yield axis, *found


def _cut_histogram(case: AnalysisContext, call: Value) -> Iterator[TableWarning]:
    ends = constant_of(call.keyword("range"))
    column = column_of(call.keyword("x", 0)) if call.args or "x" in call.keywords else None
    column = column or column_of(call.base)
    if column is None or not isinstance(ends, list) or len(ends) != 2:
        return
    texts = [json.dumps(end) for end in ends]
    answer = case.ask_rows("outside", case.rows(column[0]), column[1], *texts)
    outside, rows = number(answer, "outside"), number(answer, "rows")
    if outside:
        message = f"The range leaves out {count_of(outside, 'value')} of {rows:,}."
        advice = "Widen the range, or say in the title what is left out."
        yield warning(case.of(column[0]), _FEWER_POINTS, message, call.line, advice, answer)


def _cut_points(case: AnalysisContext, drawn: list[Value]) -> Iterator[TableWarning]:
    for call in drawn:
        if _kind(call) == "hist":
            yield from _cut_histogram(case, call)
        if _kind(call) not in ("scatter", "plot", "line", "scatterplot", "lineplot"):
            continue
        plotted = list(_plotted(call))
        for axis, table, column in plotted:
            for limit, low, high in limits(case, axis):
                ends = [constant_of(low), constant_of(high)]
                if not meets(case, call, limit) or (NO_CONSTANT in ends and low and high):
                    continue
                usable = [end if isinstance(end, int | float) else None for end in ends]
                if usable == [None, None]:
                    continue
                texts = [json.dumps(point) for point in usable]
                answer = case.ask_rows("outside", case.rows(table), column, *texts)
                outside, rows = number(answer, "outside"), number(answer, "rows")
                if not outside:
                    continue
                part = part_text(outside, rows, "point")
                message = f"The limits of the {axis} axis cut off {part}."
                advice = "Widen the limits, or say in the title what is left out."
                yield warning(case.of(table), _FEWER_POINTS, message, limit.line, advice, answer)
        if _kind(call) in ("scatter", "scatterplot") and len(plotted) == 2:
            yield from _missing_points(case, call, plotted)


def _missing_points(
    case: AnalysisContext, call: Value, plotted: list[tuple[str, Value, str]]
) -> Iterator[TableWarning]:
    table = plotted[0][1]
    if table is not plotted[1][1]:
        return
    columns = [column for _axis, _table, column in plotted]
    answer = case.ask_rows("missing", case.rows(table), columns)
    missing, rows = number(answer, "missing"), number(answer, "rows")
    if missing < _MANY_MISSING * rows or not missing:
        return
    part = part_text(missing, rows, "row")
    message = f"The chart leaves out {part} without {' or '.join(columns)}."
    advice = "Drop them on purpose and say so, or fill them."
    yield warning(case.of(table), _FEWER_POINTS, message, call.line, advice, answer)
