"""Tables of pandas and NumPy as checks see them: all rows, column by column.

Columns that hold objects of the user's own types are not compared: that would run their code.
"""

from __future__ import annotations

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


class CannotCheck(Exception):
    pass


class WrongType(Exception):
    """What should be numbers is something else."""


class NoColumn(Exception):
    pass


def unmatched_one_by_one(values: list[Any], others: list[Any]) -> tuple[int, list[Any]]:
    """How many of these values are not among the others, and examples."""
    known = {other for other in others if other is not None and other == other}
    wrong = [value for value in values if value is None or value != value or value not in known]
    return len(wrong), list(dict.fromkeys(wrong))[:MAX_EXAMPLES]


def place_of(names: list[str], name: str) -> int:
    if name not in names:
        raise NoColumn(name)
    return names.index(name)


class CheckedPandas:
    """A DataFrame, or a Series, which has one column whatever that is called."""

    def __init__(self, value: Any) -> None:
        self._is_series = kind_of(value) == "pandas.Series"
        self._frame = value.to_frame() if self._is_series else value
        self.rows = int(value.shape[0])
        self.names = [str(name) for name in list(self._frame.columns)]

    def column(self, name: str) -> Any:
        place = 0 if self._is_series else place_of(self.names, name)
        return _PandasValues(self._frame.iloc[:, place])

    def repeated(self) -> int:
        for place in range(self._frame.shape[1]):
            _PandasValues(self._frame.iloc[:, place]).refuse_objects()
        return int(self._frame.duplicated().sum())

    def missing(self) -> int:
        return int(self._frame.isna().any(axis=1).sum())


class _PandasValues:
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

    def missing(self) -> int:
        return int(self.values.isna().sum())

    def repeated(self) -> int:
        return int(self.values.duplicated().sum())

    def total(self) -> Any:
        return self.values.sum()

    def ends(self) -> tuple[Any, Any]:
        known = self.values.dropna()
        return (known.min(), known.max()) if len(known) else (None, None)

    def outside(self, bounds: list[tuple[Any, Any]]) -> int:
        known = self.values.dropna()
        wrong = self._pandas.Series(False, index=known.index)
        for compare, bound in bounds:
            wrong = wrong | ~compare(known, self._bound(bound)).astype(bool)
        return int(wrong.sum())

    def _bound(self, bound: Any) -> Any:
        if getattr(self.values.dtype, "kind", "") != "M":
            return bound
        moment, zone = self._pandas.Timestamp(bound), getattr(self.values.dtype, "tz", None)
        if zone is not None and moment.tzinfo is None:
            return moment.tz_localize(zone)
        return moment if zone is not None else moment.tz_localize(None)

    def other_than(self, expected: list[Any], excluded: bool) -> tuple[int, list[Any]]:
        known = self.values.dropna()
        allowed = [self._bound(value) for value in expected]
        among = known.isin(allowed)
        wrong = known[among if excluded else ~among]
        return len(wrong), wrong.drop_duplicates().head(MAX_EXAMPLES).tolist()

    def unmatched(self, other: Any) -> tuple[int, list[Any]]:
        self.refuse_objects()
        other.refuse_objects()
        if type(other) is not _PandasValues:
            return unmatched_one_by_one(self.to_list(), other.to_list())
        wrong = self.values[~self.values.isin(other.values.dropna()) | self.values.isna()]
        return len(wrong), wrong.drop_duplicates().head(MAX_EXAMPLES).tolist()

    def to_list(self) -> list[Any]:
        return [None if gone else value for value, gone in zip(self.values, self.values.isna())]


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
        return _NumpyValues(self._array[:, 0 if self._is_flat else place_of(self.names, name)])

    def repeated(self) -> int:
        return self.rows - int(sys.modules["numpy"].unique(self._array, axis=0).shape[0])

    def missing(self) -> int:
        return int(_numpy_gone(self._array).any(axis=1).sum())


class _NumpyValues:
    def __init__(self, values: Any) -> None:
        self.values = values
        self.dtype = str(values.dtype)

    @property
    def is_numeric(self) -> bool:
        return self.values.dtype.kind in "biuf"

    def refuse_objects(self) -> None: ...

    def missing(self) -> int:
        return int(_numpy_gone(self.values).sum())

    def repeated(self) -> int:
        return len(self.values) - int(sys.modules["numpy"].unique(self.values).size)

    def total(self) -> Any:
        return self._known().sum()

    def ends(self) -> tuple[Any, Any]:
        known = self._known()
        if not known.size:
            return None, None
        return (known.min(), known.max()) if known.dtype.kind not in "US" else (None, None)

    def outside(self, bounds: list[tuple[Any, Any]]) -> int:
        known = self._known()
        wrong = sys.modules["numpy"].zeros(known.shape, dtype=bool)
        for compare, bound in bounds:
            wrong |= ~compare(known, self._bound(bound))
        return int(wrong.sum())

    def other_than(self, expected: list[Any], excluded: bool) -> tuple[int, list[Any]]:
        numpy, known = sys.modules["numpy"], self._known()
        among = numpy.isin(known, [self._bound(value) for value in expected])
        wrong = known[among if excluded else ~among]
        return int(wrong.size), numpy.unique(wrong)[:MAX_EXAMPLES].tolist()

    def unmatched(self, other: Any) -> tuple[int, list[Any]]:
        other.refuse_objects()
        return unmatched_one_by_one(self.to_list(), other.to_list())

    def to_list(self) -> list[Any]:
        gone = _numpy_gone(self.values)
        return [None if out else value for value, out in zip(self.values.tolist(), gone)]

    def _known(self) -> Any:
        return self.values[~_numpy_gone(self.values)]

    def _bound(self, bound: Any) -> Any:
        return sys.modules["numpy"].datetime64(bound) if self.values.dtype.kind == "M" else bound


def _numpy_gone(array: Any) -> Any:
    numpy = sys.modules["numpy"]
    if array.dtype.kind == "f":
        return numpy.isnan(array)
    return numpy.isnat(array) if array.dtype.kind in "mM" else numpy.zeros(array.shape, dtype=bool)
