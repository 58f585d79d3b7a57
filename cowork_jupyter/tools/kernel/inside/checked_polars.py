"""Tables of polars and Arrow as checks see them: all rows, column by column."""

from __future__ import annotations

import datetime
import importlib
import sys
from typing import Any

from .checked_pandas import MAX_EXAMPLES, CannotCheck, place_of, unmatched_one_by_one
from .tables import kind_of

_ARROW_NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal", "bool")
_ARROW_NAMES = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
}  # fmt: skip


class CheckedPolars:
    def __init__(self, value: Any) -> None:
        self._is_series = kind_of(value) == "polars.Series"
        self._frame = value.to_frame() if self._is_series else value
        self.rows = int(self._frame.shape[0])
        self.names = list(self._frame.columns)

    def column(self, name: str) -> Any:
        place = 0 if self._is_series else place_of(self.names, name)
        return _PolarsValues(self._frame.get_column(self.names[place]))

    def repeated(self) -> int:
        return self.rows - int(self._frame.n_unique()) if self.rows else 0

    def missing(self) -> int:
        gone = [_PolarsValues(self._frame.get_column(name)).gone() for name in self.names]
        if not gone:
            return 0
        for mask in gone[1:]:
            gone[0] = gone[0] | mask
        return int(gone[0].sum())


class _PolarsValues:
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
        """Null or NaN."""
        nulls = self.values.is_null()
        return (
            nulls | self.values.is_nan().fill_null(True) if self.values.dtype.is_float() else nulls
        )

    def missing(self) -> int:
        return int(self.gone().sum())

    def repeated(self) -> int:
        return len(self.values) - int(self.values.n_unique()) if len(self.values) else 0

    def total(self) -> Any:
        return self._known().sum()

    def ends(self) -> tuple[Any, Any]:
        known = self._known()
        return (known.min(), known.max()) if len(known) else (None, None)

    def outside(self, bounds: list[tuple[Any, Any]]) -> int:
        known, right = self._known(), None
        for compare, bound in bounds:
            fits = compare(known, self._bound(bound))
            right = fits if right is None else right & fits
        return len(known) - int(right.sum())  # type: ignore[union-attr]

    def other_than(self, expected: list[Any], excluded: bool) -> tuple[int, list[Any]]:
        known = self._known()
        among = known.is_in([self._bound(value) for value in expected])
        wrong = known.filter(among if excluded else ~among)
        return len(wrong), wrong.unique(maintain_order=True).head(MAX_EXAMPLES).to_list()

    def unmatched(self, other: Any) -> tuple[int, list[Any]]:
        self.refuse_objects()
        other.refuse_objects()
        if type(other) is not _PolarsValues:
            return unmatched_one_by_one(self.to_list(), other.to_list())
        fits = self.values.is_in(other._known().unique().implode()).fill_null(False)
        wrong = self.values.filter(~fits | self.gone())
        return len(wrong), wrong.unique(maintain_order=True).head(MAX_EXAMPLES).to_list()

    def to_list(self) -> list[Any]:
        return list(self.values.to_list())

    def _known(self) -> Any:
        return self.values.filter(~self.gone())

    def _bound(self, bound: Any) -> Any:
        return _as_moment(bound, self.dtype, getattr(self.values.dtype, "time_zone", None))


class CheckedArrow:
    def __init__(self, value: Any) -> None:
        self._table = value
        self.rows = int(value.num_rows)
        self.names = list(value.column_names)

    def column(self, name: str) -> Any:
        return _ArrowValues(self._table.column(place_of(self.names, name)))

    def repeated(self) -> int:
        if not self.names:
            return 0
        return self.rows - int(self._table.group_by(self.names).aggregate([]).num_rows)

    def missing(self) -> int:
        gone = [_ArrowValues(self._table.column(place)).gone() for place in range(len(self.names))]
        if not gone:
            return 0
        compute = _arrow_compute()
        for mask in gone[1:]:
            gone[0] = compute.or_(gone[0], mask)
        return int(compute.sum(gone[0]).as_py() or 0)


class _ArrowValues:
    def __init__(self, values: Any) -> None:
        self.values = values
        self.dtype = str(values.type)
        self._compute = _arrow_compute()

    @property
    def is_numeric(self) -> bool:
        return self.dtype.startswith(_ARROW_NUMBERS)

    def refuse_objects(self) -> None: ...

    def gone(self) -> Any:
        return self._compute.is_null(self.values, nan_is_null=True)

    def missing(self) -> int:
        return int(self._compute.sum(self.gone()).as_py() or 0)

    def repeated(self) -> int:
        return len(self.values) - int(self._compute.count_distinct(self.values, mode="all").as_py())

    def total(self) -> Any:
        total = self._compute.sum(self._known()).as_py()
        return 0 if total is None else total if type(total) in (int, float) else float(total)

    def ends(self) -> tuple[Any, Any]:
        found = self._compute.min_max(self._known()).as_py()
        return found["min"], found["max"]

    def outside(self, bounds: list[tuple[Any, Any]]) -> int:
        known, right = self._known(), None
        for compare, bound in bounds:
            name = _ARROW_NAMES[compare.__name__]
            fits = getattr(self._compute, name)(known, self._bound(bound))
            right = fits if right is None else self._compute.and_(right, fits)
        return len(known) - int(self._compute.sum(right).as_py() or 0)

    def other_than(self, expected: list[Any], excluded: bool) -> tuple[int, list[Any]]:
        known = self._known()
        allowed = sys.modules["pyarrow"].array([self._bound(value) for value in expected])
        among = self._compute.is_in(known, value_set=allowed.cast(self.values.type))
        wrong = known.filter(among if excluded else self._compute.invert(among))
        return len(wrong), wrong.unique().slice(0, MAX_EXAMPLES).to_pylist()

    def unmatched(self, other: Any) -> tuple[int, list[Any]]:
        other.refuse_objects()
        return unmatched_one_by_one(self.to_list(), other.to_list())

    def to_list(self) -> list[Any]:
        return list(self.values.to_pylist())

    def _known(self) -> Any:
        return self.values.filter(self._compute.invert(self.gone()))

    def _bound(self, bound: Any) -> Any:
        return _as_moment(bound, self.dtype, getattr(self.values.type, "tz", None))


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
