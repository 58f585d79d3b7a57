"""What the rest knows of tables and their columns, whatever library they are of."""

from __future__ import annotations

import datetime
import decimal
import functools
import math
import operator
import sys
from typing import Any

from .plain import class_name, is_exactly, type_name
from .values import TextBudget, brief, value_text

FEW_VALUES = 20
SHORT_VALUE = 40
MAX_EXAMPLES = 5
_NAME_LENGTH = 200
_LIBRARIES = ("numpy", "pandas", "polars", "pyarrow")
_KINDS = (
    "pandas.DataFrame", "pandas.Series", "polars.DataFrame", "polars.Series", "pyarrow.Table",
    "numpy.ndarray", "torch.Tensor", "matplotlib.Figure",
)  # fmt: skip
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


def kind_of(value: Any) -> str:
    """`pandas.DataFrame` and the like; empty for everything else."""
    kind = type_name(value)
    if kind not in _KINDS:
        return ""
    module, name = kind.split(".")
    module = "matplotlib.figure" if module == "matplotlib" else module
    return kind if is_exactly(value, module, name) else ""


def label_text(label: Any) -> str:
    return label[:_NAME_LENGTH] if type(label) is str else brief(label, TextBudget(_NAME_LENGTH), 1)


class ColumnAdapter:
    """Values of a column; methods that return a column or mask keep those of the library."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def is_foreign(self) -> bool:
        """Whether the dtype is not of a known library: asking it might run the user's code."""
        return type_name(self.dtype).split(".")[0] not in _LIBRARIES

    @property
    def type_text(self) -> str:
        return type_name(self.dtype) if self.is_foreign else str(self.dtype)

    @property
    def code(self) -> str:
        """The letter of NumPy's dtypes: `M` for times, as integers in `plain`."""
        return "O" if self.is_foreign else getattr(self.dtype, "kind", "O")

    @property
    def zone(self) -> str | None:
        if self.is_foreign:
            return None
        dtype = getattr(self.dtype, "pyarrow_dtype", self.dtype)
        zone = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)
        return None if zone is None else str(zone)

    @property
    def is_number(self) -> bool:
        return self.code in "iuf"

    @property
    def is_numeric(self) -> bool:
        """Also truth values, and objects that are numbers."""
        return self.code in "iufb"

    @property
    def is_time(self) -> bool:
        """Whether the library finds the ends of times."""
        return False

    def objects(self) -> str:
        """What it holds, if comparing that might run the user's code."""
        return ""

    def part(self, places: slice) -> ColumnAdapter:
        return type(self)(self.values[places])

    def head(self, count: int) -> ColumnAdapter:
        return self.part(slice(count))

    def every(self, step: int) -> ColumnAdapter:
        """Every `step`-th value."""
        return self if step == 1 else self.part(slice(None, None, step))

    def kept(self, mask: Any) -> ColumnAdapter:
        return type(self)(self.values[mask])

    def distinct(self) -> ColumnAdapter:
        raise NotImplementedError

    def among(self, wanted: Any) -> Any:
        """A mask of the values that a list, or the values of a column, has."""
        raise NotImplementedError

    def gone(self) -> Any:
        """A mask of the missing values."""
        raise NotImplementedError

    def listed(self) -> list[Any]:
        return list(self.values.tolist())

    def or_none(self) -> list[Any]:
        return [None if gone else value for value, gone in zip(self.listed(), self.gone())]

    def plain(self) -> list[Any] | None:
        """Python values, missing ones as None; None if comparing them might run the user's code."""
        if self.is_foreign:
            return None
        if self.code in "mM":  # creating an object for each would take long
            # A common unit, so that times of two tables can be compared.
            unit = "datetime64[ns]" if self.code == "M" else "timedelta64[ns]"
            moments = sys.modules["numpy"].asarray(self.values, dtype=unit)
            numbers = moments.astype("int64").tolist()
            return [None if number == -(2**63) else number for number in numbers]
        values = self.listed()
        kinds = set(map(type, values))
        if not all(_is_own_value(kind) for kind in kinds):
            return None
        if kinds <= {int, str, bool}:
            return values
        if kinds <= {int, str, bool, float, type(None)}:
            return [None if value != value else value for value in values]  # NaN != NaN
        return [None if _is_missing(value) else value for value in values]

    def function(self, function: Any) -> Any:
        """A function of `operator` as the library has it for columns."""
        return function

    def count(self, mask: Any) -> int:
        return int(mask.sum())

    def aggregate(self, name: str) -> Any:
        """`min`, `max`, `mean` or `sum` as a Python value."""
        return unpacked(getattr(self.values, name)())

    def missing(self) -> int:
        return self.count(self.gone())

    def nulls(self) -> int:
        """What the library itself calls missing, perhaps without NaN."""
        return self.missing()

    def different(self) -> int:
        """How many different values there are, without missing ones."""
        return len(self.distinct())

    def repeated(self) -> int:
        return len(self) - len(self.distinct())

    def known(self) -> ColumnAdapter:
        return self.kept(self.function(operator.invert)(self.gone()))

    def total(self) -> Any:
        return self.known().values.sum()

    def ends(self) -> tuple[Any, Any]:
        known = self.known().values
        return (known.min(), known.max()) if len(known) else (None, None)

    def bound(self, value: Any) -> Any:
        """A constant as the column has it: dates are written as text."""
        return value

    def constant(self, text: str) -> Any:
        """The same for `plain` values."""
        return text

    def outside(self, bounds: list[tuple[Any, Any]]) -> int:
        known = self.known()
        fits = [
            self.function(compare)(known.values, self.bound(value)) for compare, value in bounds
        ]
        return len(known) - self.count(functools.reduce(self.function(operator.and_), fits))

    def other_than(self, expected: list[Any], excluded: bool) -> tuple[int, list[Any]]:
        known = self.known()
        among = known.among([self.bound(value) for value in expected])
        return known.kept(among if excluded else self.function(operator.invert)(among)).examples()

    def examples(self) -> tuple[int, list[Any]]:
        return len(self), self.distinct().head(MAX_EXAMPLES).listed()

    def unmatched(self, other: ColumnAdapter) -> tuple[int, list[Any]]:
        other_values = {value for value in other.or_none() if value is not None and value == value}
        wrong = [
            value
            for value in self.or_none()
            if value is None or value != value or value not in other_values
        ]
        return len(wrong), list(dict.fromkeys(wrong))[:MAX_EXAMPLES]

    def facts(self) -> dict[str, Any]:
        """What a state has of it: counts, and ends and total or the few values."""
        if not (self.is_number or self.is_time):
            return self.listed_facts()
        missing = self.nulls()
        facts: dict[str, Any] = {"missing": missing, "distinct": self.different()}
        if missing < len(self):
            form = _finite if self.is_number else str
            facts.update(low=form(self.aggregate("min")), high=form(self.aggregate("max")))
        if self.is_number:
            facts["total"] = _finite(float(self.aggregate("sum"))) if missing < len(self) else 0.0
        return facts

    def listed_facts(self) -> dict[str, Any]:
        values = self.plain()
        if values is None:
            return {}
        present = [value for value in values if value is not None]
        facts: dict[str, Any] = {"missing": len(values) - len(present)}
        try:
            distinct = set(present)
        except TypeError:  # unhashable
            return facts
        facts["distinct"] = len(distinct)
        types = set(map(type, distinct))
        if types <= {int, float} and present:
            facts.update(low=_finite(min(present)), high=_finite(max(present)))
            facts["total"] = _finite(float(sum(present)))
        elif (
            types == {str}
            and len(distinct) <= FEW_VALUES
            and max(map(len, distinct)) <= SHORT_VALUE
        ):
            facts["values"] = sorted(map(value_text, distinct))
        return facts


class TableAdapter:
    """A table, or a single column whatever that is called."""

    column_type: type[ColumnAdapter]
    null_differs = True
    """Whether a missing value is unequal to others where code compares it."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.kind = type_name(value)
        self.is_single = len(value.shape) == 1
        self.rows, self.width = map(int, (*value.shape, 1, 1)[:2])

    @property
    def labels(self) -> list[Any]:
        return [self.value.name] if self.is_single else list(self.value.columns)

    @property
    def names(self) -> list[Any]:
        """The labels as the library shows them."""
        return self.labels

    def column(self, place: int) -> ColumnAdapter:
        """By its place, since names may occur twice."""
        return self.column_type(self.value if self.is_single else self._at(place))

    def columns(self) -> list[ColumnAdapter]:
        return [self.column(place) for place in range(self.width)]

    def _at(self, place: int) -> Any:
        raise NotImplementedError

    def refusal(self) -> str:
        """Why checks cannot look at it, if so."""
        return ""

    def index(self, name: str | None) -> ColumnAdapter | None:  # noqa: ARG002 (pandas has one)
        """The index; if there is a name, only if it is called so."""
        return None

    def size(self) -> int:
        return int(self.value.nbytes)

    def repeated(self) -> int:
        """Rows that are like one before them."""
        raise NotImplementedError

    def missing(self) -> int:
        """Rows that lack a value."""
        columns = self.columns()
        if not columns:
            return 0
        either = columns[0].function(operator.or_)
        return columns[0].count(functools.reduce(either, [column.gone() for column in columns]))


def unpacked(value: Any) -> Any:
    """A scalar of NumPy as a Python value."""
    return value.item() if type(value).__module__ == "numpy" else value


def _finite(number: Any) -> Any:
    if type(number) is int:
        return number if abs(number) < 2**63 else float(number)
    return number if type(number) is float and math.isfinite(number) else None


def _is_own_value(kind: type) -> bool:
    """Whether values of this class may be compared and hashed."""
    return id(kind) in _OWN_VALUES or class_name(kind) in _LIBRARY_VALUES


def _is_missing(value: Any) -> bool:
    if value is None or type_name(value) in ("pandas.NAType", "pandas.NaTType"):
        return True
    return type(value) is float and value != value
