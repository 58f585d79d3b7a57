"""Tables, arrays and figures of well-known libraries, described cheaply however large they are.

Only exact classes of those libraries are asked anything: a subclass is the user's code. Large ones
are sampled, and marked so.
"""

from __future__ import annotations

import sys
from typing import Any

from .plain import is_exactly, is_secret_name, size_text, type_name
from .values import TextBudget, brief

SAMPLE = 10_000
"""Rows that are looked at of a large table."""
FEW_CELLS = 200_000
MAX_COLUMNS = 60
FIRST_ROWS = 5
FIRST_VALUES = 10
_CELL = 60

_KINDS = (
    ("pandas", "DataFrame"), ("pandas", "Series"), ("polars", "DataFrame"), ("polars", "Series"),
    ("pyarrow", "Table"), ("numpy", "ndarray"), ("torch", "Tensor"),
)  # fmt: skip


class Column:
    def __init__(self, name: Any, dtype: Any, nulls: Any, numbers: Any, first: Any) -> None:
        self.name = name
        self.dtype = str(dtype)
        self.nulls = nulls
        self.numbers = numbers
        """Min, mean and max of numbers."""
        self.first = first


def kind_of(value: Any) -> str:
    """`pandas.DataFrame` and the like; empty for everything else."""
    for module, name in _KINDS:
        if is_exactly(value, module, name):
            return module + "." + name
    return "matplotlib.Figure" if is_exactly(value, "matplotlib.figure", "Figure") else ""


def shape_text(value: Any, kind: str) -> str:
    """`1,000 rows × 3 columns, 24.0 KB`."""
    if kind in ("pandas.DataFrame", "polars.DataFrame", "pyarrow.Table"):
        rows, columns = value.shape
        return f"{rows:,} rows × {columns:,} columns, {size_text(_size(value, kind))}"
    if kind in ("pandas.Series", "polars.Series"):
        return f"{value.shape[0]:,} values, {value.dtype}, {size_text(_size(value, kind))}"
    if kind == "matplotlib.Figure":
        width, height = value.get_size_inches()
        return f"{width:g} × {height:g} inches, {len(value.axes)} axes"
    shape = " × ".join(f"{size:,}" for size in value.shape) or "a single value"
    if kind == "torch.Tensor":
        return f"{shape}, {value.dtype}, on {value.device}"
    return f"{shape}, {value.dtype}, {size_text(value.nbytes)}"


def _size(value: Any, kind: str) -> int:
    if kind == "pandas.DataFrame":
        return int(value.memory_usage().sum())
    if kind == "pandas.Series":
        return int(value.memory_usage())
    return int(value.nbytes if kind == "pyarrow.Table" else value.estimated_size())


def details(value: Any, kind: str, room: TextBudget, secret: bool) -> list[str]:
    if kind == "matplotlib.Figure":
        return [_axes(axis, room) for axis in value.axes[:FIRST_VALUES]]
    if kind == "numpy.ndarray":
        return _array(value, room, secret)
    if kind == "torch.Tensor":
        if value.device.type != "cpu" or value.is_sparse:
            return []
        some = value.detach().flatten()[:FIRST_VALUES].tolist()
        return ["first values: " + brief(some, room, secret=secret)]
    if kind.endswith(".Series"):
        value = value.to_frame()
    columns, looked = _COLUMNS[kind.split(".")[0]](value)
    return _table(columns, value.shape, looked, room, secret)


def _table(
    columns: list[Column], shape: Any, looked: int, room: TextBudget, secret: bool
) -> list[str]:
    rows, count = shape
    some = "" if looked >= rows else f" (nulls and statistics of {looked:,} of the rows)"
    lines = ["columns" + some + ":"]
    lines += ["  " + _column(column, looked, room, secret) for column in columns]
    if count > len(columns):
        lines.append(f"  … {count - len(columns):,} more columns")
    firsts = [column.first for column in columns]
    if firsts and firsts[0]:
        lines.append("first rows:")
        hides = [secret or is_secret_name(column.name) for column in columns]
        for row in zip(*firsts):
            cells = [_cell(value, room, hide) for value, hide in zip(row, hides)]
            lines.append("  " + " | ".join(cells))
    return lines


def _column(column: Column, looked: int, room: TextBudget, secret: bool) -> str:
    said = brief(column.name, room, 1) + "  " + room.take(column.dtype, _CELL)
    if column.nulls is not None:
        said += f"  nulls {column.nulls:,}" + (
            f" ({column.nulls / looked:.1%})" if column.nulls else ""
        )
    if column.numbers and not secret:
        low, mean, high = column.numbers
        said += f"  min {_number(low)}, mean {_number(mean)}, max {_number(high)}"
    return said


def _number(value: Any) -> str:
    return f"{value:.6g}" if type(value) is float else str(value)[:40]


def _cell(value: Any, room: TextBudget, secret: bool) -> str:
    return room.take(brief(value, TextBudget(min(_CELL, room.remaining)), 1, secret), _CELL)


def _step(rows: int, columns: int) -> int:
    return 1 if rows * max(columns, 1) <= FEW_CELLS else max(1, rows // SAMPLE)


def _pandas(frame: Any) -> tuple[list[Column], int]:
    rows, count = frame.shape
    step = _step(rows, min(count, MAX_COLUMNS))
    columns, looked = [], 0
    for place in range(min(count, MAX_COLUMNS)):
        values = frame.iloc[:, place]
        if type(values.dtype).__module__.split(".")[0] not in ("numpy", "pandas"):
            unknown = ["?"] * min(rows, FIRST_ROWS)  # an extension type of the user's
            columns.append(
                Column(frame.columns[place], type_name(values.dtype), None, None, unknown)
            )
            continue
        sample = values.iloc[::step]
        looked = len(sample)
        kind = getattr(values.dtype, "kind", "O")
        numbers = None
        if kind in "iuf" and looked:
            numbers = _min_mean_max(sample)
        first = values.iloc[:FIRST_ROWS].tolist()
        nulls = int(sample.isna().sum())
        columns.append(Column(frame.columns[place], values.dtype, nulls, numbers, first))
    return columns, looked or rows


def _polars(frame: Any) -> tuple[list[Column], int]:
    step = _step(frame.shape[0], min(frame.shape[1], MAX_COLUMNS))
    columns, sample = [], frame
    for name in frame.columns[:MAX_COLUMNS]:
        values = frame.get_column(name)
        sample = values.gather_every(step)
        numbers = None
        if values.dtype.is_numeric() and len(sample) > sample.null_count():
            numbers = _min_mean_max(sample)
        first = values.head(FIRST_ROWS).to_list()
        columns.append(Column(name, values.dtype, sample.null_count(), numbers, first))
    return columns, len(sample)


def _pyarrow(table: Any) -> tuple[list[Column], int]:
    rows = SAMPLE if _step(*table.shape) > 1 else table.num_rows
    compute = sys.modules.get("pyarrow.compute")
    columns: list[Column] = []
    for name in table.column_names[:MAX_COLUMNS]:
        place = len(columns)
        sample, kind = table.column(place).slice(0, rows), table.schema.field(place).type
        numbers = None
        if compute is not None and str(kind).startswith(("int", "uint", "float", "double")):
            low_high = compute.min_max(sample).as_py()
            mean = compute.mean(sample).as_py()
            numbers = [low_high["min"], mean, low_high["max"]] if mean is not None else None
        first = sample.slice(0, FIRST_ROWS).to_pylist()
        columns.append(Column(name, kind, sample.null_count, numbers, first))
    return columns, min(rows, table.num_rows)


_COLUMNS = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}


def _array(array: Any, room: TextBudget, secret: bool) -> list[str]:
    lines = []
    step = _step(array.size, 1)
    if array.dtype.kind in "iuf" and array.size and not secret:
        sample = array.flat[::step]
        some = "" if step == 1 else f" (of {sample.size:,} of the values)"
        low, mean, high = map(_number, _min_mean_max(sample))
        lines.append(f"min {low}, mean {mean}, max {high}{some}")
    first = array.flat[:FIRST_VALUES].tolist() if array.size else []
    return [*lines, "first values: " + brief(first, room, secret=secret)]


def _min_mean_max(sample: Any) -> list[Any]:
    """As Python numbers."""
    numbers = (sample.min(), sample.mean(), sample.max())
    return [n.item() if type(n).__module__ == "numpy" else n for n in numbers]


def _axes(axes: Any, room: TextBudget) -> str:
    if not type(axes).__module__.startswith("matplotlib."):
        return brief(axes, room)
    names = (axes.get_title(), axes.get_xlabel(), axes.get_ylabel())
    said = ", ".join(brief(name, room) for name in names)
    return f"axes (title, x, y): {said}; {len(axes.lines)} lines, {len(axes.patches)} patches"
