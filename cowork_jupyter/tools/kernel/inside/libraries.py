"""One adapter for each library of tables.

Only exact classes of those libraries are adapted: a subclass is the user's code.
"""

from __future__ import annotations

import datetime
import importlib
import sys
from typing import Any

from .adapter import FEW_VALUES, ColumnAdapter, TableAdapter, kind_of
from .plain import type_name

_PLAIN_OBJECTS = {
    "string", "integer", "floating", "mixed-integer-float", "boolean", "date", "datetime",
    "decimal", "empty",
}  # fmt: skip
_NUMBER_OBJECTS = {"integer", "floating", "mixed-integer-float", "decimal", "boolean"}
_ARROW_NUMBERS = ("int", "uint", "float", "double")
_ARROW_NAMES = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
}  # fmt: skip


class _SeriesColumn(ColumnAdapter):
    def unmatched(self, other: ColumnAdapter) -> tuple[int, list[Any]]:
        if type(other) is not type(self):
            return super().unmatched(other)
        return self.kept(~self.among(other.known().values) | self.gone()).examples()


class PandasColumn(_SeriesColumn):
    @property
    def is_numeric(self) -> bool:
        return super().is_numeric or self._inferred in _NUMBER_OBJECTS

    @property
    def is_time(self) -> bool:
        return self.code in "mM"

    @property
    def _inferred(self) -> str:
        if str(self.dtype) != "object":
            return ""
        return str(sys.modules["pandas"].api.types.infer_dtype(self.values, skipna=True))

    def objects(self) -> str:
        inferred = self._inferred
        return f"{inferred} objects" if inferred and inferred not in _PLAIN_OBJECTS else ""

    def part(self, places: slice) -> ColumnAdapter:
        return PandasColumn(self.values.iloc[places])

    def distinct(self) -> ColumnAdapter:
        return PandasColumn(self.values.drop_duplicates())

    def different(self) -> int:
        return int(self.values.nunique())

    def repeated(self) -> int:
        return int(self.values.duplicated().sum())

    def among(self, wanted: Any) -> Any:
        return self.values.isin(wanted)

    def gone(self) -> Any:
        return self.values.isna()

    def bound(self, value: Any) -> Any:
        if self.code != "M":
            return value
        moment, zone = sys.modules["pandas"].Timestamp(value), getattr(self.dtype, "tz", None)
        if zone is not None and moment.tzinfo is None:
            return moment.tz_localize(zone)
        return moment if zone is not None else moment.tz_localize(None)

    def joined(self, other: PandasColumn) -> dict[str, Any]:
        """How numeric keys match, without listing them."""
        sides = {"left": self.values, "right": other.values}
        present = {side: keys.dropna() for side, keys in sides.items()}
        counts = {side: keys.value_counts() for side, keys in present.items()}
        facts = {}
        for side, own in counts.items():
            repeated = own[own > 1]
            facts.update({
                side + "_rows": len(sides[side]), side + "_keys": len(own),
                side + "_missing": len(sides[side]) - len(present[side]),
                side + "_repeated": len(repeated),
                side + "_most": int(repeated.max()) if len(repeated) else 1,
            })  # fmt: skip
        for side, across in (("left", "right"), ("right", "left")):
            lonely = counts[side][~counts[side].index.isin(counts[across].index)]
            without = facts[side + "_missing"] if not facts[across + "_missing"] else 0
            facts[side + "_alone"] = int(lonely.sum()) + without
        both = counts["left"] * counts["right"].reindex(counts["left"].index, fill_value=0)
        return {**facts, "joined": int(both.sum()) + facts["left_missing"] * facts["right_missing"]}

    def constant(self, text: str) -> Any:
        return int(self.bound(text).as_unit("ns").value) if self.code == "M" else text

    def facts(self) -> dict[str, Any]:
        is_truth = self.code == "b"
        facts: dict[str, Any]
        facts = {"distinct": self.different()} if is_truth else super().facts()
        if is_truth or (self.code in "iu" and facts["distinct"] <= FEW_VALUES):
            categories = self.values.dropna().unique().tolist()
            facts["values"] = sorted(str(value) for value in categories)
        return {**facts, "missing": self.nulls()}


class PandasTable(TableAdapter):
    column_type = PandasColumn

    @property
    def names(self) -> list[Any]:
        return list(self.value.to_frame().columns) if self.is_single else self.labels

    def _at(self, place: int) -> Any:
        return self.value.iloc[:, place]

    def index(self, name: str | None) -> ColumnAdapter | None:
        index = self.value.index
        is_meant = name is None or list(index.names) == [name]
        return PandasColumn(index.to_series()) if is_meant else None

    def size(self) -> int:
        used = self.value.memory_usage()
        return int(used if self.is_single else used.sum())

    def repeated(self) -> int:
        return int(self.value.duplicated().sum())


class PolarsColumn(_SeriesColumn):
    @property
    def is_number(self) -> bool:
        return bool(self.dtype.is_numeric())

    @property
    def is_numeric(self) -> bool:
        return self.is_number or str(self.dtype) == "Boolean"

    @property
    def is_time(self) -> bool:
        return bool(self.dtype.is_temporal())

    def objects(self) -> str:
        return "objects" if str(self.dtype) == "Object" else ""

    def kept(self, mask: Any) -> ColumnAdapter:
        return PolarsColumn(self.values.filter(mask))

    def distinct(self) -> ColumnAdapter:
        return PolarsColumn(self.values.unique(maintain_order=True))

    def different(self) -> int:
        return int(self.values.n_unique()) - (1 if self.nulls() else 0)

    def repeated(self) -> int:
        return len(self) - int(self.values.n_unique()) if len(self) else 0

    def among(self, wanted: Any) -> Any:
        wanted = wanted if type(wanted) is list else wanted.unique().implode()
        return self.values.is_in(wanted).fill_null(False)

    def gone(self) -> Any:
        nulls = self.values.is_null()
        if self.dtype.is_float():
            return nulls | self.values.is_nan().fill_null(True)
        return nulls

    def nulls(self) -> int:
        return int(self.values.null_count())

    def listed(self) -> list[Any]:
        return list(self.values.to_list())

    or_none = listed

    def bound(self, value: Any) -> Any:
        return _as_moment(value, str(self.dtype), self.zone)

    def facts(self) -> dict[str, Any]:
        if self.is_number or self.is_time:
            return super().facts()
        facts: dict[str, Any] = {"missing": self.nulls()}
        if type_name(self.dtype) in (
            "polars.Object", "polars.List", "polars.Struct", "polars.Array",
        ):  # fmt: skip
            return facts
        facts["distinct"] = self.different()
        return {**super().facts(), **facts} if facts["distinct"] <= FEW_VALUES else facts


class PolarsTable(TableAdapter):
    column_type = PolarsColumn
    null_differs = False

    def _at(self, place: int) -> Any:
        return self.value.to_series(place)

    def size(self) -> int:
        return int(self.value.estimated_size())

    def repeated(self) -> int:
        return self.rows - int(self.value.n_unique()) if self.rows else 0


class ArrowColumn(ColumnAdapter):
    @property
    def dtype(self) -> Any:
        return self.values.type

    @property
    def _compute(self) -> Any:
        return importlib.import_module("pyarrow.compute")

    @property
    def is_number(self) -> bool:
        """Not before the library can compute with numbers."""
        return "pyarrow.compute" in sys.modules and str(self.dtype).startswith(_ARROW_NUMBERS)

    @property
    def is_numeric(self) -> bool:
        return str(self.dtype).startswith((*_ARROW_NUMBERS, "halffloat", "decimal", "bool"))

    def every(self, step: int) -> ColumnAdapter:
        """The first values: others would be copied one by one."""
        return self if step == 1 else self.head(max(1, len(self) // step))

    def kept(self, mask: Any) -> ColumnAdapter:
        return ArrowColumn(self.values.filter(mask))

    def distinct(self) -> ColumnAdapter:
        return ArrowColumn(self.values.unique())

    def among(self, wanted: Any) -> Any:
        allowed = sys.modules["pyarrow"].array(wanted).cast(self.dtype)
        return self._compute.is_in(self.values, value_set=allowed)

    def gone(self) -> Any:
        return self._compute.is_null(self.values, nan_is_null=True)

    def nulls(self) -> int:
        return int(self.values.null_count)

    def listed(self) -> list[Any]:
        return list(self.values.to_pylist())

    or_none = listed

    def function(self, function: Any) -> Any:
        name = function.__name__
        return getattr(self._compute, _ARROW_NAMES.get(name, name))

    def count(self, mask: Any) -> int:
        return int(ArrowColumn(mask).aggregate("sum") or 0)

    def aggregate(self, name: str) -> Any:
        return getattr(self._compute, name)(self.values).as_py()

    def repeated(self) -> int:
        return len(self) - int(self._compute.count_distinct(self.values, mode="all").as_py())

    def total(self) -> Any:
        total = self.known().aggregate("sum")
        return 0 if total is None else total if type(total) in (int, float) else float(total)

    def ends(self) -> tuple[Any, Any]:
        known = self.known()
        return known.aggregate("min"), known.aggregate("max")

    def bound(self, value: Any) -> Any:
        return _as_moment(value, str(self.dtype), self.zone)

    def facts(self) -> dict[str, Any]:
        return self.listed_facts()


class ArrowTable(TableAdapter):
    column_type = ArrowColumn

    @property
    def labels(self) -> list[Any]:
        return list(self.value.column_names)

    def _at(self, place: int) -> Any:
        return self.value.column(place)

    def repeated(self) -> int:
        if not self.names:
            return 0
        return self.rows - int(self.value.group_by(self.names).aggregate([]).num_rows)


class NumpyColumn(ColumnAdapter):
    def distinct(self) -> ColumnAdapter:
        return NumpyColumn(sys.modules["numpy"].unique(self.values))

    def among(self, wanted: Any) -> Any:
        return sys.modules["numpy"].isin(self.values, wanted)

    def gone(self) -> Any:
        if self.code in "mM":
            return sys.modules["numpy"].isnat(self.values)
        return self.values != self.values

    def ends(self) -> tuple[Any, Any]:
        return super().ends() if self.code not in "US" else (None, None)

    def bound(self, value: Any) -> Any:
        return sys.modules["numpy"].datetime64(value) if self.code == "M" else value

    def constant(self, text: str) -> Any:
        return PandasColumn(sys.modules["pandas"].Series(self.values[:0])).constant(text)

    def facts(self) -> dict[str, Any]:
        missing = self.missing() if self.code == "f" else 0
        facts = ColumnAdapter.facts(self.known() if missing else self)
        return {**facts, "missing": missing} if missing else facts


class NumpyTable(TableAdapter):
    """Columns go by their places; an array of one dimension is a column itself."""

    column_type = NumpyColumn

    @property
    def labels(self) -> list[Any]:
        return list(range(self.width))

    def _at(self, place: int) -> Any:
        return self.value[:, place]

    def refusal(self) -> str:
        if self.value.ndim not in (1, 2):
            return f"it is an array of {self.value.ndim} dimensions"
        is_plain = self.value.dtype.kind in "biufMmUS"
        return "" if is_plain else f"it is an array of {self.value.dtype}"

    def repeated(self) -> int:
        return self.rows - len(
            sys.modules["numpy"].unique(self.value.reshape(self.rows, self.width), axis=0)
        )


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


_ADAPTERS = {
    "pandas": PandasTable, "polars": PolarsTable, "pyarrow": ArrowTable, "numpy": NumpyTable,
}  # fmt: skip


def table_of(value: Any) -> TableAdapter | None:
    adapter = _ADAPTERS.get(kind_of(value).split(".")[0])
    return adapter(value) if adapter else None


def watched(value: Any) -> TableAdapter | None:
    """Without arrays that are no tables."""
    table = table_of(value)
    return table if table and len(value.shape) in (1, 2) else None
