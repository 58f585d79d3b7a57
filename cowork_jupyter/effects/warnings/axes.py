from __future__ import annotations

import itertools
from collections.abc import Iterator

from .conditions import column_of
from .finding import Case
from .values import Value, plain

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
        return (id(target.base), str(plain(target.args[0])))
    return id(target)


def _is_data(value: Value) -> bool:
    tables = ("groupby", "mean", "sum", "value_counts", "size", "agg", "sort_values", "set_index")
    known = any(link.op == "method" and link.name in tables for link in value.chain())
    return known or column_of(value) is not None or (value.op == "index")


def limits(case: Case, axis: str) -> Iterator[tuple[Value, Value | None, Value | None]]:
    """Calls that set the limits of an axis, with both ends."""
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


def meets(case: Case, call: Value, limit: Value) -> bool:
    if call is limit or (limit.base is not None and limit.base is call):
        return True
    ours, theirs = _axes(call), _axes(limit)
    if "current" in (ours, theirs):
        return _figure(case, call) == _figure(case, limit)
    return ours == theirs


def _figure(case: Case, call: Value) -> int:
    """The number of figures begun before the call."""
    before = itertools.takewhile(lambda earlier_call: earlier_call is not call, case.calls())
    return sum(
        earlier_call.name.startswith("matplotlib") and earlier_call.short in _BEGINS
        for earlier_call in before
    )
