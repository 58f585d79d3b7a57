"""Facts and values of table columns; only exact classes of known libraries are asked."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from .plain import is_secret_name, masked, type_name
from .tables import kind_of
from .values import Room, brief

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
    """Rows and columns."""
    shape = value.shape
    return int(shape[0]), int(shape[1]) if len(shape) == 2 else 1


def column_labels(value: Any, kind: str) -> list[Any]:
    """Column names as the library has them."""
    if kind in ("pandas.DataFrame", "polars.DataFrame"):
        return list(value.columns)
    if kind == "pyarrow.Table":
        return list(value.column_names)
    if kind == "numpy.ndarray":
        return list(range(shape_of(value)[1]))
    return [value.name]


def label_text(label: Any) -> str:
    return label[:_NAME_LENGTH] if type(label) is str else brief(label, Room(_NAME_LENGTH), 1)


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
    """None, NaN, NA, NaT."""
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
    """Whether the name of a column or of its table suggests secrets."""
    return is_secret_name(name) or is_secret_name(label)


def value_text(value: Any) -> str:
    """For people; redacts keys."""
    return masked(value) if type(value) is str else brief(value, Room(SHORT_VALUE * 2), 0)
