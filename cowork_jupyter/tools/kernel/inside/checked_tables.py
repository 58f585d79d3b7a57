"""Tables of pandas, NumPy, polars and Arrow as checks see them: all rows, column by column.

Columns that hold objects of the user's own types are not compared: that would run their code.
"""

from __future__ import annotations

import datetime
import functools
import importlib
import operator
import sys
from typing import Any

from .plain import type_name
from .tables import kind_of

MAX_EXAMPLES = 5
_PLAIN_OBJECTS = {
    "string", "integer", "floating", "mixed-integer-float", "boolean", "date", "datetime",
    "decimal", "empty",
}  # fmt: skip
_NUMBER_OBJECTS = {"integer", "floating", "mixed-integer-float", "decimal", "boolean"}
_ARROW_NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal", "bool")
_ARROW_NAMES = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
}  # fmt: skip


class CannotCheck(Exception):
    pass


class WrongType(Exception):
    """What should be numbers is something else."""


class NoColumn(Exception):
    pass


def _place_of(names: list[str], name: str) -> int:
    if name not in names:
        raise NoColumn(name)
    return names.index(name)


class _Values:
    values: Any
    dtype: str

    def refuse_objects(self) -> None:
        """Raises CannotCheck if comparing values might run the user's code."""

    def gone(self) -> Any:
        """A mask of the missing values."""
        raise NotImplementedError

    def known(self) -> Any:
        """The values that are not missing."""
        return self.values[~self.gone()]

    def to_list(self) -> list[Any]:
        raise NotImplementedError

    def missing(self) -> int:
        return int(self.gone().sum())

    def total(self) -> Any:
        return self.known().sum()

    def ends(self) -> tuple[Any, Any]:
        known = self.known()
        return (known.min(), known.max()) if len(known) else (None, None)

    def bound(self, value: Any) -> Any:
        """A constant of an expectation as the column has it: dates are written as text."""
        return value

    def outside(self, bounds: list[tuple[Any, Any]]) -> int:
        known = self.known()
        fits = [compare(known, self.bound(value)) for compare, value in bounds]
        return len(known) - int(functools.reduce(operator.and_, fits).sum())

    def unmatched(self, other: Any) -> tuple[int, list[Any]]:
        self.refuse_objects()
        other.refuse_objects()
        known = {value for value in other.to_list() if value is not None and value == value}
        wrong = [
            value
            for value in self.to_list()
            if value is None or value != value or value not in known
        ]
        return len(wrong), list(dict.fromkeys(wrong))[:MAX_EXAMPLES]


class _CheckedFrame:
    """A DataFrame, or a Series, which has one column whatever that is called."""

    def __init__(self, value: Any) -> None:
        self._is_series = kind_of(value).endswith(".Series")
        self._frame = value.to_frame() if self._is_series else value
        self.rows = int(value.shape[0])
        self.names = [str(name) for name in list(self._frame.columns)]

    def column(self, name: str) -> Any:
        return self._at(0 if self._is_series else _place_of(self.names, name))

    def _at(self, place: int) -> Any:
        raise NotImplementedError


class CheckedPandas(_CheckedFrame):
    def _at(self, place: int) -> Any:
        return _PandasValues(self._frame.iloc[:, place])

    def repeated(self) -> int:
        for place in range(self._frame.shape[1]):
            self._at(place).refuse_objects()
        return int(self._frame.duplicated().sum())

    def missing(self) -> int:
        return int(self._frame.isna().any(axis=1).sum())


class _PandasValues(_Values):
    def __init__(self, values: Any) -> None:
        if type(values.dtype).__module__.split(".")[0] not in ("numpy", "pandas"):
            raise CannotCheck("it has a type of its own (" + type_name(values.dtype) + ")")
        self.values = values
        self.dtype = str(values.dtype)
        self._pandas = sys.modules["pandas"]

    @property
    def is_numeric(self) -> bool:
        kind = getattr(self.values.dtype, "kind", "O")
        return kind in "iufb" or (self.dtype == "object" and self._inferred in _NUMBER_OBJECTS)

    @property
    def _inferred(self) -> str:
        return str(self._pandas.api.types.infer_dtype(self.values, skipna=True))

    def refuse_objects(self) -> None:
        if self.dtype == "object" and self._inferred not in _PLAIN_OBJECTS:
            raise CannotCheck(f"the column '{self.values.name}' holds {self._inferred} objects")

    def gone(self) -> Any:
        return self.values.isna()

    def repeated(self) -> int:
        return int(self.values.duplicated().sum())

    def bound(self, value: Any) -> Any:
        if getattr(self.values.dtype, "kind", "") != "M":
            return value
        moment, zone = self._pandas.Timestamp(value), getattr(self.values.dtype, "tz", None)
        if zone is not None and moment.tzinfo is None:
            return moment.tz_localize(zone)
        return moment if zone is not None else moment.tz_localize(None)

    def other_than(self, expected: list[Any], excluded: bool) -> tuple[int, list[Any]]:
        known = self.known()
        among = known.isin([self.bound(value) for value in expected])
        return self._examples(known[among if excluded else ~among])

    def unmatched(self, other: Any) -> tuple[int, list[Any]]:
        if type(other) is not _PandasValues:
            return super().unmatched(other)
        self.refuse_objects()
        other.refuse_objects()
        return self._examples(self.values[~self.values.isin(other.known()) | self.gone()])

    def _examples(self, wrong: Any) -> tuple[int, list[Any]]:
        return len(wrong), wrong.drop_duplicates().head(MAX_EXAMPLES).tolist()

    def to_list(self) -> list[Any]:
        return [None if gone else value for value, gone in zip(self.values, self.gone())]


class CheckedNumpy:
    """Columns go by their places; an array of one dimension is a column itself."""

    def __init__(self, value: Any) -> None:
        if value.ndim not in (1, 2):
            raise CannotCheck(f"it is an array of {value.ndim} dimensions")
        if value.dtype.kind not in "biufMmUS":
            raise CannotCheck(f"it is an array of {value.dtype}")
        self._array = value.reshape(-1, 1) if value.ndim == 1 else value
        self._is_flat = value.ndim == 1
        self.rows = int(value.shape[0])
        self.names = [str(place) for place in range(self._array.shape[1])]

    def column(self, name: str) -> Any:
        return _NumpyValues(self._array[:, 0 if self._is_flat else _place_of(self.names, name)])

    def repeated(self) -> int:
        return self.rows - int(sys.modules["numpy"].unique(self._array, axis=0).shape[0])

    def missing(self) -> int:
        return int(_NumpyValues(self._array).gone().any(axis=1).sum())


class _NumpyValues(_Values):
    def __init__(self, values: Any) -> None:
        self.values = values
        self.dtype = str(values.dtype)
        self._numpy = sys.modules["numpy"]

    @property
    def is_numeric(self) -> bool:
        return self.values.dtype.kind in "biuf"

    def gone(self) -> Any:
        kind = self.values.dtype.kind
        if kind == "f":
            return self._numpy.isnan(self.values)
        if kind in "mM":
            return self._numpy.isnat(self.values)
        return self._numpy.zeros(self.values.shape, dtype=bool)

    def repeated(self) -> int:
        return len(self.values) - int(self._numpy.unique(self.values).size)

    def ends(self) -> tuple[Any, Any]:
        return super().ends() if self.values.dtype.kind not in "US" else (None, None)

    def bound(self, value: Any) -> Any:
        return self._numpy.datetime64(value) if self.values.dtype.kind == "M" else value

    def other_than(self, expected: list[Any], excluded: bool) -> tuple[int, list[Any]]:
        known = self.known()
        among = self._numpy.isin(known, [self.bound(value) for value in expected])
        wrong = known[among if excluded else ~among]
        return int(wrong.size), self._numpy.unique(wrong)[:MAX_EXAMPLES].tolist()

    def to_list(self) -> list[Any]:
        return [None if out else value for value, out in zip(self.values.tolist(), self.gone())]


class CheckedPolars(_CheckedFrame):
    def _at(self, place: int) -> Any:
        return _PolarsValues(self._frame.get_column(self.names[place]))

    def repeated(self) -> int:
        return self.rows - int(self._frame.n_unique()) if self.rows else 0

    def missing(self) -> int:
        gone = [self._at(place).gone() for place in range(len(self.names))]
        return int(functools.reduce(operator.or_, gone).sum()) if gone else 0


class _PolarsValues(_Values):
    def __init__(self, values: Any) -> None:
        self.values = values
        self.dtype = str(values.dtype)

    @property
    def is_numeric(self) -> bool:
        return bool(self.values.dtype.is_numeric() or self.dtype == "Boolean")

    def refuse_objects(self) -> None:
        if self.dtype == "Object":
            raise CannotCheck(f"the column '{self.values.name}' holds objects")

    def gone(self) -> Any:
        nulls = self.values.is_null()
        if self.values.dtype.is_float():
            return nulls | self.values.is_nan().fill_null(True)
        return nulls

    def known(self) -> Any:
        return self.values.filter(~self.gone())

    def repeated(self) -> int:
        return len(self.values) - int(self.values.n_unique()) if len(self.values) else 0

    def bound(self, value: Any) -> Any:
        return _as_moment(value, self.dtype, getattr(self.values.dtype, "time_zone", None))

    def other_than(self, expected: list[Any], excluded: bool) -> tuple[int, list[Any]]:
        known = self.known()
        among = known.is_in([self.bound(value) for value in expected])
        return self._examples(known.filter(among if excluded else ~among))

    def unmatched(self, other: Any) -> tuple[int, list[Any]]:
        if type(other) is not _PolarsValues:
            return super().unmatched(other)
        self.refuse_objects()
        other.refuse_objects()
        fits = self.values.is_in(other.known().unique().implode()).fill_null(False)
        return self._examples(self.values.filter(~fits | self.gone()))

    def _examples(self, wrong: Any) -> tuple[int, list[Any]]:
        return len(wrong), wrong.unique(maintain_order=True).head(MAX_EXAMPLES).to_list()

    def to_list(self) -> list[Any]:
        return list(self.values.to_list())


class CheckedArrow:
    def __init__(self, value: Any) -> None:
        self._table = value
        self.rows = int(value.num_rows)
        self.names = list(value.column_names)

    def column(self, name: str) -> Any:
        return _ArrowValues(self._table.column(_place_of(self.names, name)))

    def repeated(self) -> int:
        if not self.names:
            return 0
        return self.rows - int(self._table.group_by(self.names).aggregate([]).num_rows)

    def missing(self) -> int:
        gone = [_ArrowValues(self._table.column(place)).gone() for place in range(len(self.names))]
        if not gone:
            return 0
        compute = _arrow_compute()
        return int(compute.sum(functools.reduce(compute.or_, gone)).as_py() or 0)


class _ArrowValues(_Values):
    def __init__(self, values: Any) -> None:
        self.values = values
        self.dtype = str(values.type)
        self._compute = _arrow_compute()

    @property
    def is_numeric(self) -> bool:
        return self.dtype.startswith(_ARROW_NUMBERS)

    def gone(self) -> Any:
        return self._compute.is_null(self.values, nan_is_null=True)

    def known(self) -> Any:
        return self.values.filter(self._compute.invert(self.gone()))

    def missing(self) -> int:
        return int(self._compute.sum(self.gone()).as_py() or 0)

    def repeated(self) -> int:
        return len(self.values) - int(self._compute.count_distinct(self.values, mode="all").as_py())

    def total(self) -> Any:
        total = self._compute.sum(self.known()).as_py()
        return 0 if total is None else total if type(total) in (int, float) else float(total)

    def ends(self) -> tuple[Any, Any]:
        found = self._compute.min_max(self.known()).as_py()
        return found["min"], found["max"]

    def bound(self, value: Any) -> Any:
        return _as_moment(value, self.dtype, getattr(self.values.type, "tz", None))

    def outside(self, bounds: list[tuple[Any, Any]]) -> int:
        known = self.known()
        fits = [
            getattr(self._compute, _ARROW_NAMES[compare.__name__])(known, self.bound(value))
            for compare, value in bounds
        ]
        right = functools.reduce(self._compute.and_, fits)
        return len(known) - int(self._compute.sum(right).as_py() or 0)

    def other_than(self, expected: list[Any], excluded: bool) -> tuple[int, list[Any]]:
        known = self.known()
        allowed = sys.modules["pyarrow"].array([self.bound(value) for value in expected])
        among = self._compute.is_in(known, value_set=allowed.cast(self.values.type))
        wrong = known.filter(among if excluded else self._compute.invert(among))
        return len(wrong), wrong.unique().slice(0, MAX_EXAMPLES).to_pylist()

    def to_list(self) -> list[Any]:
        return list(self.values.to_pylist())


def _arrow_compute() -> Any:
    return importlib.import_module("pyarrow.compute")


def _as_moment(bound: Any, dtype: str, zone: Any) -> Any:
    """Parse an ISO date if the column holds dates."""
    name = dtype.lower()
    if type(bound) is not str or not name.startswith(("date", "timestamp")):
        return bound
    if name.startswith("date32") or name == "date":
        return datetime.date.fromisoformat(bound[:10])
    moment = datetime.datetime.fromisoformat(bound.replace("Z", "+00:00"))
    if zone is None:
        return moment.replace(tzinfo=None)
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)  # noqa: UP017 (Python 3.9 has no other)
