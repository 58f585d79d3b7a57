"""Reports on the variables of a kernel, as JSON, and copies of tables.

Large tables are sampled, and marked so.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sys
import time
import types
from typing import Any

from .adapter import TableAdapter, kind_of, unpacked
from .libraries import table_of
from .plain import is_a, is_secret_name, size_text, type_name
from .values import TextBudget, brief, length, members, own_size

MAX_NAMES = 3_000
MAX_TEXT = 12_000
SECONDS = 0.1
"""CPU time for the list; the rest is described by type alone. Wall time would make the result
depend on how busy the machine is."""
SAMPLE = 10_000
"""Rows that are looked at of a large table."""
FEW_CELLS = 200_000
MAX_COLUMNS = 60
FIRST_ROWS = 5
FIRST_VALUES = 10
_CELL = 60
_STATISTICS = ("min", "mean", "max")


def report(name: str | None) -> str:
    shell = sys.modules["IPython"].get_ipython()
    return report_on(shell.user_ns, shell.user_ns_hidden, name)


def report_on(space: dict[str, Any], hidden: dict[str, Any], name: str | None) -> str:
    """`hidden` are names in the namespace that are not the user's."""
    if name is None:
        return json.dumps(listing(space, hidden))
    if name not in space:
        return json.dumps({"missing": True, "names": names_in(space, hidden)[:MAX_NAMES]})
    return json.dumps(description(name, space[name]))


def listing(space: dict[str, Any], hidden: dict[str, Any]) -> dict[str, Any]:
    end = time.thread_time() + SECONDS
    names = names_in(space, hidden)
    items = []
    for name in names[:MAX_NAMES]:
        value = space.get(name)
        has_time = time.thread_time() < end
        items.append([name, type_name(value), _about(name, value) if has_time else ""])
    return {"items": items, "total": len(names)}


def description(name: str, value: Any) -> dict[str, Any]:
    room = TextBudget(MAX_TEXT)
    secret = is_secret_name(name)
    kind = kind_of(value)
    size = own_size(value)
    facts = {"type": type_name(value), "about": "", "lines": []}
    try:
        if kind:
            with no_warnings():
                facts["about"] = _shape_text(value, kind)
                facts["lines"] = _details(value, kind, room, secret)
        else:
            count = length(value)
            about = [] if count is None else [f"length {count:,}"]
            facts["about"] = ", ".join([*about, *([size_text(size)] if size else [])])
            facts["lines"] = [brief(value, room, 3, secret), *members(value, room)]
    except Exception as error:  # a running cell may change it concurrently
        facts["lines"] = ["Cannot be read now: " + type_name(error) + "."]
    return facts


def no_warnings() -> Any:
    """NumPy's warnings would end up below the user's cell."""
    numpy = sys.modules.get("numpy")
    return numpy.errstate(all="ignore") if numpy is not None else contextlib.nullcontext()


def names_in(space: dict[str, Any], hidden: dict[str, Any]) -> list[str]:
    nothing = object()
    return sorted(
        name
        for name, value in list(space.items())
        if type(name) is str and name[:1] != "_" and hidden.get(name, nothing) is not value
    )


def _about(name: str, value: Any) -> str:
    kind = kind_of(value)
    try:
        if kind:
            return _shape_text(value, kind)
        if is_a(value, types.ModuleType):
            return ""
        count = length(value)
        if count is not None and not is_a(value, str):
            return f"length {count:,}"
        return brief(value, TextBudget(60), 0, is_secret_name(name))
    except Exception:  # a running cell may change it concurrently
        return ""


def _shape_text(value: Any, kind: str) -> str:
    """`1,000 rows × 3 columns, 24.0 KB`."""
    if kind == "matplotlib.Figure":
        width, height = value.get_size_inches()
        return f"{width:g} × {height:g} inches, {len(value.axes)} axes"
    table = table_of(value)
    size = f"on {value.device}" if table is None else size_text(table.size())
    if table is None or kind == "numpy.ndarray":
        shape = " × ".join(f"{size:,}" for size in value.shape) or "a single value"
        return f"{shape}, {value.dtype}, {size}"
    if table.is_single:
        return f"{table.rows:,} values, {value.dtype}, {size}"
    return f"{table.rows:,} rows × {table.width:,} columns, {size}"


def _details(value: Any, kind: str, room: TextBudget, secret: bool) -> list[str]:
    if kind == "matplotlib.Figure":
        return [_axes(axis, room) for axis in value.axes[:FIRST_VALUES]]
    if kind == "numpy.ndarray":
        return _array(value, room, secret)
    if kind == "torch.Tensor":
        if value.device.type != "cpu" or value.is_sparse:
            return []
        some = value.detach().flatten()[:FIRST_VALUES].tolist()
        return ["first values: " + brief(some, room, secret=secret)]
    table = table_of(value)
    return _table(table, room, secret) if table else []


def _table(table: TableAdapter, room: TextBudget, secret: bool) -> list[str]:
    names = table.names[:MAX_COLUMNS]
    step = _step(table.rows, len(names))
    looked, lines, firsts = table.rows, [], []
    for place, name in enumerate(names):
        column = table.column(place)
        line = "  " + brief(name, room, 1) + "  " + room.take(column.type_text, _CELL)
        if column.is_foreign:
            firsts.append(["?"] * min(table.rows, FIRST_ROWS))
            lines.append(line)
            continue
        firsts.append(column.head(FIRST_ROWS).listed())
        sample = column.every(step)
        looked, nulls = len(sample), sample.nulls()
        line += f"  nulls {nulls:,}" + (f" ({nulls / looked:.1%})" if nulls else "")
        if sample.is_number and looked and not secret:
            low, mean, high = [sample.aggregate(name) for name in _STATISTICS]
            if mean is not None:
                line += f"  min {_number(low)}, mean {_number(mean)}, max {_number(high)}"
        lines.append(line)
    some = "" if looked >= table.rows else f" (nulls and statistics of {looked:,} of the rows)"
    lines.insert(0, "columns" + some + ":")
    if table.width > len(names):
        lines.append(f"  … {table.width - len(names):,} more columns")
    if firsts and firsts[0]:
        lines.append("first rows:")
        hides = [secret or is_secret_name(name) for name in names]
        for row in zip(*firsts):
            cells = [_cell(value, room, hide) for value, hide in zip(row, hides)]
            lines.append("  " + " | ".join(cells))
    return lines


def _number(value: Any) -> str:
    return f"{value:.6g}" if type(value) is float else str(value)[:40]


def _cell(value: Any, room: TextBudget, secret: bool) -> str:
    return room.take(brief(value, TextBudget(min(_CELL, room.remaining)), 1, secret), _CELL)


def _step(rows: int, columns: int) -> int:
    return 1 if rows * max(columns, 1) <= FEW_CELLS else max(1, rows // SAMPLE)


def _array(array: Any, room: TextBudget, secret: bool) -> list[str]:
    lines = []
    step = _step(array.size, 1)
    if array.dtype.kind in "iuf" and array.size and not secret:
        sample = array.flat[::step]
        some = "" if step == 1 else f" (of {sample.size:,} of the values)"
        numbers = [unpacked(getattr(sample, name)()) for name in _STATISTICS]
        low, mean, high = map(_number, numbers)
        lines.append(f"min {low}, mean {mean}, max {high}{some}")
    first = array.flat[:FIRST_VALUES].tolist() if array.size else []
    return [*lines, "first values: " + brief(first, room, secret=secret)]


def _axes(axes: Any, room: TextBudget) -> str:
    if not type(axes).__module__.startswith("matplotlib."):
        return brief(axes, room)
    names = (axes.get_title(), axes.get_xlabel(), axes.get_ylabel())
    labels = ", ".join(brief(name, room) for name in names)
    return f"axes (title, x, y): {labels}; {len(axes.lines)} lines, {len(axes.patches)} patches"


def copy_table(name: str, path: str, room: int) -> str:
    """Write a table to a new file of at most `room` bytes; returns the outcome as JSON."""
    shell = sys.modules["IPython"].get_ipython()
    space = shell.user_ns
    if name not in space:
        names = names_in(space, shell.user_ns_hidden)
        return json.dumps({"missing": True, "names": names[:MAX_NAMES]})
    value = space[name]
    if not kind_of(value).startswith("pandas."):
        return json.dumps({"type": type_name(value), "problem": "no_table"})
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "wb") as target:
        try:
            pickle.dump(value, _Bounded(target, room), protocol=4)
        except _TooLarge:
            return json.dumps({"type": type_name(value), "problem": "too_large"})
    return json.dumps({"type": type_name(value), "problem": ""})


class _TooLarge(Exception):
    pass


class _Bounded:
    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def write(self, data: Any) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise _TooLarge
        return int(self._file.write(data))
