"""Facts and values of table columns; only exact classes of known libraries are asked."""

from __future__ import annotations

import csv
import datetime
import decimal
import math
import os
import re
import sys
from typing import Any

from .plain import is_secret_name, mask_secrets, type_name
from .tables import kind_of
from .values import TextBudget, brief

WATCHED = (
    "pandas.DataFrame", "pandas.Series", "polars.DataFrame", "polars.Series", "pyarrow.Table",
    "numpy.ndarray",
)  # fmt: skip
MAX_FIELDS = 60
MAX_KEY_ROWS = 300_000
"""Rows whose values are compared one by one; larger tables are skipped."""
FEW_VALUES = 20
SHORT_VALUE = 40
_NAME_LENGTH = 200
_OWN_VALUES = {
    id(kind)
    for kind in (
        str, int, float, bool, bytes, type(None), datetime.date, datetime.datetime,
        datetime.time, datetime.timedelta, decimal.Decimal,
    )
}  # fmt: skip
_LIBRARY_VALUES = {
    "pandas.NAType", "pandas.NaTType", "pandas.Timestamp", "pandas.Timedelta", "pandas.Period",
    "pandas.Interval", "numpy.bool", "numpy.bool_", "numpy.str_", "numpy.float32",
    "numpy.float64", "numpy.int8", "numpy.int16", "numpy.int32", "numpy.int64", "numpy.uint8",
    "numpy.datetime64",
}  # fmt: skip


def watched_kind(value: Any) -> str:
    """`pandas.DataFrame` and the like; empty for other values."""
    kind = kind_of(value)
    if kind == "numpy.ndarray" and value.ndim not in (1, 2):
        return ""
    return kind if kind in WATCHED else ""


def shape_of(value: Any) -> tuple[int, int]:
    shape = value.shape
    return int(shape[0]), int(shape[1]) if len(shape) == 2 else 1


def column_labels(value: Any, kind: str) -> list[Any]:
    if kind in ("pandas.DataFrame", "polars.DataFrame"):
        return list(value.columns)
    if kind == "pyarrow.Table":
        return list(value.column_names)
    if kind == "numpy.ndarray":
        return list(range(shape_of(value)[1]))
    return [value.name]


def label_text(label: Any) -> str:
    return label[:_NAME_LENGTH] if type(label) is str else brief(label, TextBudget(_NAME_LENGTH), 1)


def column_at(value: Any, kind: str, place: int) -> Any:
    """A column by its place, since names may occur twice."""
    if kind == "pandas.DataFrame":
        return value.iloc[:, place]
    if kind == "polars.DataFrame":
        return value.to_series(place)
    if kind == "pyarrow.Table":
        return value.column(place)
    if kind == "numpy.ndarray" and value.ndim == 2:
        return value[:, place]
    return value


def dtype_of(column: Any) -> Any:
    """None for a dtype that is not of a known library."""
    dtype = column.type if type_name(column).startswith("pyarrow.") else column.dtype
    return dtype if is_library_type(dtype) else None


def is_library_type(dtype: Any) -> bool:
    return type_name(dtype).split(".")[0] in ("numpy", "pandas", "polars", "pyarrow")


def every(column: Any, step: int) -> Any:
    """Every `step`-th value."""
    library = type_name(column).split(".")[0]
    if step == 1:
        return column
    if library == "pandas":
        return column.iloc[::step]
    if library == "polars":
        return column.gather_every(step)
    if library == "pyarrow":
        return column.slice(0, max(1, len(column) // step))
    return column[::step]


def values_in(column: Any) -> list[Any] | None:
    """Python values, missing ones as None; None if comparing them might run the user's code."""
    dtype = dtype_of(column)
    if dtype is None:
        return None
    if type_name(column).startswith("pyarrow."):
        found = column.to_pylist()
    elif type_name(column).startswith("polars."):
        found = column.to_list()
    elif getattr(dtype, "kind", "O") in "mM":  # creating an object for each would take long
        moments = (
            column.to_numpy(dtype=_times(dtype))
            if type_name(column) == "pandas.Series"
            else column.astype(_times(dtype))
        )
        found = moments.astype("int64").tolist()
        return [None if value == -(2**63) else value for value in found]
    else:
        found = column.tolist()
    kinds = set(map(type, found))
    if not all(is_own_value(kind) for kind in kinds):
        return None
    if kinds <= {int, str, bool}:
        return list(found)
    if kinds <= {int, str, bool, float, type(None)}:
        return [None if value != value else value for value in found]  # NaN != NaN
    return [None if is_missing(value) else value for value in found]


def _times(dtype: Any) -> str:
    """A common unit, so that times of two tables can be compared."""
    return "datetime64[ns]" if getattr(dtype, "kind", "") == "M" else "timedelta64[ns]"


def is_own_value(kind: type) -> bool:
    """Whether values of this class may be compared and hashed."""
    if id(kind) in _OWN_VALUES:
        return True
    name = kind.__module__ if type(kind.__module__) is str else ""
    package, own = name.split(".")[0], type.__dict__["__name__"].__get__(kind)
    return f"{package}.{own}" in _LIBRARY_VALUES


def is_missing(value: Any) -> bool:
    kind = type(value)
    if value is None or type_name(value) in ("pandas.NAType", "pandas.NaTType"):
        return True
    return bool(value != value) if kind is float else False


def time_zone(dtype: Any) -> str | None:
    zone = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)
    if zone is None and type_name(dtype) == "pandas.ArrowDtype":
        zone = getattr(dtype.pyarrow_dtype, "tz", None)
    return None if zone is None else str(zone)


def is_secret_column(name: str, label: Any) -> bool:
    return is_secret_name(name) or is_secret_name(label)


def value_text(value: Any) -> str:
    """For people; redacts keys."""
    return (
        mask_secrets(value) if type(value) is str else brief(value, TextBudget(SHORT_VALUE * 2), 0)
    )


_ENOUGH_ROWS = 20
_ENOUGH_OF_CLASS = 5
_ALL_BUT_ONE = 0.999


def relation(feature: list[Any], target: list[Any]) -> str:
    """`equal`, `missing`, `function` or `separates`, if a feature predicts the target, or empty."""
    if len(feature) != len(target) or len(target) < _ENOUGH_ROWS or len(set(target)) < 2:
        return ""
    if feature == target:
        return "equal"
    absent = [value is None for value in feature]
    if any(absent) and not all(absent) and _one_to_one(absent, target):
        return "missing"
    if any(absent) or None in target:
        return ""
    numbers = _are_numbers(feature)
    if len(set(feature)) <= len(target) // 4 and _one_to_one(feature, target):
        return "equal"
    if not numbers or not _are_numbers(target):
        return "separates" if numbers and _separates(feature, target) else ""
    if len(set(target)) > 10:
        return "function" if _monotone(feature, target) or _linear(feature, target) else ""
    return "separates" if _separates(feature, target) else ""


def _are_numbers(values: list[Any]) -> bool:
    return all(type(value) in (int, float, bool) for value in values)


def _one_to_one(feature: list[Any], target: list[Any]) -> bool:
    pairs = set(zip(feature, target))
    return len(pairs) == len({first for first, _ in pairs}) == len({other for _, other in pairs})


def _monotone(feature: list[Any], target: list[Any]) -> bool:
    """Whether one never falls while the other rises; a few steps would say little."""
    if len(set(feature)) < 3:
        return False
    ordered = [value for _, value in sorted(zip(target, feature))]
    pairs = list(zip(ordered, ordered[1:]))
    rising = all(a <= b for a, b in pairs)
    return rising or all(a >= b for a, b in pairs)


def _linear(feature: list[Any], target: list[Any]) -> bool:
    count = len(feature)
    mean, other = sum(feature) / count, sum(target) / count
    both = sum((x - mean) * (y - other) for x, y in zip(feature, target))
    own = sum((x - mean) ** 2 for x in feature)
    theirs = sum((y - other) ** 2 for y in target)
    return bool(own > 0 and theirs > 0 and abs(both) / math.sqrt(own * theirs) > _ALL_BUT_ONE)


def _separates(feature: list[Any], target: list[Any]) -> bool:
    """Whether each of two classes has a range of its own, with enough rows."""
    held: dict[Any, list[Any]] = {}
    for value, kind in zip(feature, target):
        held.setdefault(kind, []).append(value)
    if len(held) != 2 or min(map(len, held.values())) < _ENOUGH_OF_CLASS:
        return False
    first, second = held.values()
    return bool(max(first) < min(second) or max(second) < min(first))


_NUMBER = re.compile(
    r"\s*[+-]?[€$£]?\s*[+-]?(?:\d+(?:[.,]\d+)?|\d{1,3}(?:[.,' \u00a0]\d{3})+(?:[.,]\d+)?)"
    r"(?:[eE][+-]?\d+)?\s*(?:[€$£%]|EUR|USD|CHF|kg|km|cm|m|g|h)?\s*"
)
_DATE = re.compile(r"\s*(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?:[ T].*)?\s*")
_LEADING_ZERO = re.compile(r"\s*0\d+\s*")
MAX_TEXTS = 5_000
MAX_FILE_TEXT = 2_000_000


def text_facts(values: list[Any]) -> dict[str, Any] | None:
    """How many texts are numbers, and how many are ambiguous dates; many values are sampled."""
    facts = dict.fromkeys(("of", "numbers", "ambiguous", "day_first", "month_first"), 0)
    others: list[str] = []
    for value in values[:: max(1, len(values) // MAX_TEXTS)]:
        if type(value) is not str or not value.strip():
            continue
        facts["of"] += 1
        date = _DATE.fullmatch(value)
        if date:
            first, second = int(date[1]), int(date[2])
            if first > 12 >= second:
                facts["day_first"] += 1
            elif second > 12 >= first:
                facts["month_first"] += 1
            elif first != second and max(first, second) <= 12:
                facts["ambiguous"] += 1
        elif _NUMBER.fullmatch(value) and not _LEADING_ZERO.fullmatch(value):
            facts["numbers"] += 1
        elif len(others) < 3:
            others.append(value[:20])
    return {**facts, "others": others} if facts["of"] else None


def file_columns(path: str, columns: list[str]) -> dict[str, Any]:
    """`text_facts` for columns of a CSV file, from its head."""
    with open(path, encoding="utf-8", errors="replace", newline="") as file:  # noqa: PTH123
        return column_facts(file.read(MAX_FILE_TEXT).splitlines(), columns)


def column_facts(lines: list[str], columns: list[str]) -> dict[str, Any]:
    lines = [line for line in lines if line.strip()]
    rows = csv.DictReader(lines, delimiter=max(",;\t|", key=lines[0].count))
    texts: dict[str, list[str]] = {name: [] for name in columns}
    for row in rows:
        for name in columns:
            texts[name].append(row.get(name) or "")
    return {name: facts for name, held in texts.items() if (facts := text_facts(held))}


def path_of(space: dict[str, Any], parts: list[Any]) -> str:
    """Resolve a path of the code: texts, and names of `str` or `pathlib` paths."""
    pathlib = sys.modules["pathlib"]
    known = [str, pathlib.PosixPath, pathlib.WindowsPath]
    found = []
    for part in parts:
        value = part if type(part) is str else space[part[0]]
        if type(value) not in known:
            raise KeyError(part)
        found.append(str(value))
    return os.path.join(*found)  # noqa: PTH118
