"""The rows that code works on: a table, and the steps that lead from it to them.

A source is JSON: `{"table": name, "steps": [["where", condition], ["dropna", columns], …]}`. Steps
are done on Python values, so that no code of the user's runs.
"""

from __future__ import annotations

import json
import operator
import sys
from typing import Any

from .columns import (
    MAX_KEY_ROWS,
    column_at,
    column_labels,
    dtype_of,
    label_text,
    shape_of,
    values_in,
    watched_kind,
)

INDEX = "@index"
"""Stands for the index of pandas where a column is asked for."""


class Unanswerable(Exception):
    pass


class RowSource:
    """Some rows of a table, by number."""

    def __init__(self, space: dict[str, Any], text: str) -> None:
        about = json.loads(text)
        self.name = about["table"]
        self.value = space[self.name]
        self.kind = watched_kind(self.value)
        if not self.kind or shape_of(self.value)[0] > MAX_KEY_ROWS:
            raise Unanswerable
        self.labels = [label_text(label) for label in column_labels(self.value, self.kind)]
        self._columns: dict[str, list[Any]] = {}
        self._own_names = {label: label for label in self.labels}
        self._index = ""
        """The column that became the index by a step."""
        self.numbers: Any = range(shape_of(self.value)[0])
        for step, argument in about["steps"]:
            _STEPS[step](self, argument)

    @property
    def rows(self) -> int:
        return len(self.numbers)

    def column(self, label: str) -> list[Any]:
        """Values of a column in these rows; missing ones are None."""
        values = self._whole(label)
        if len(values) == len(self.numbers):
            return values
        return [values[number] for number in self.numbers]

    def whole_rows(self, labels: Any = None) -> list[Any]:
        columns = [self.column(label) for label in labels or self._own_names]
        return list(zip(*columns)) if columns else []

    def dtype(self, label: str) -> Any:
        return dtype_of(self._found(label))

    @property
    def columns(self) -> list[str]:
        return list(self._own_names)

    def _found(self, label: str) -> Any:
        if not label and len(self._own_names) == 1:
            label = next(iter(self._own_names))
        if label == INDEX and self._index:
            label = self._index
        is_pandas = self.kind.startswith("pandas.")
        is_index = is_pandas and list(self.value.index.names) == [label]
        if label == INDEX or (label not in self._own_names and is_index):
            if not is_pandas:
                raise Unanswerable
            return self.value.index.to_series()
        own = self._own_names.get(label)
        if own is None or self.labels.count(own) != 1:
            raise Unanswerable
        return column_at(self.value, self.kind, self.labels.index(own))

    def _whole(self, label: str) -> list[Any]:
        if label not in self._columns:
            values = values_in(self._found(label))
            if values is None:
                raise Unanswerable
            self._columns[label] = values
        return self._columns[label]

    def set_index(self, label: str) -> None:
        self._index = label

    def select(self, labels: list[str]) -> None:
        self._own_names = {
            label: self._own_names[label] for label in labels if label in self._own_names
        }

    def drop(self, labels: list[str]) -> None:
        self.select([name for name in self._own_names if name not in labels])

    def rename(self, names: dict[str, str]) -> None:
        self._columns = {}
        self._own_names = {names.get(new, new): own for new, own in self._own_names.items()}

    def dropna(self, labels: Any) -> None:
        columns = [self._whole(label) for label in labels or self._own_names]
        kept = [n for n in self.numbers if all(column[n] is not None for column in columns)]
        self.numbers = kept

    def unique(self, labels: Any) -> None:
        columns = [self._whole(label) for label in labels or self._own_names]
        first: dict[Any, int] = {}
        for number in self.numbers:
            first.setdefault(tuple(column[number] for column in columns), number)
        self.numbers = list(first.values())

    def where(self, condition: Any) -> None:
        self.numbers = [
            number for number, held in zip(self.numbers, holds(self, condition)) if held
        ]

    def some(self, part: list[Any]) -> None:
        self.numbers = self.numbers[slice(*part)]


_STEPS: dict[str, Any] = {
    "set_index": RowSource.set_index, "select": RowSource.select, "drop": RowSource.drop,
    "rename": RowSource.rename, "dropna": RowSource.dropna, "unique": RowSource.unique,
    "where": RowSource.where, "some": RowSource.some,
}  # fmt: skip
COMPARISONS = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def holds(source: RowSource, condition: Any) -> list[bool]:
    """For each row whether a condition is true, as in pandas: not if the value is missing."""
    kind, *rest = condition
    if kind in ("and", "or"):
        parts = [holds(source, inner_condition) for inner_condition in rest]
        join = all if kind == "and" else any
        return [join(row) for row in zip(*parts)]
    if kind == "not":
        return [not held for held in holds(source, rest[0])]
    values = source.column(rest[0])
    if kind == "missing":
        return [value is None for value in values]
    if kind == "in":
        allowed = {_comparable(source, rest[0], value) for value in rest[1]}
        return [value in allowed for value in values]
    if kind == "text":
        method, wanted = rest[1], rest[2]
        return [type(value) is str and getattr(str, method)(value, wanted) for value in values]
    wanted = _comparable(source, rest[0], rest[2])
    compare = COMPARISONS[rest[1]]
    polars = source.kind.startswith("polars.")
    empty = kind == "compare" and rest[1] == "!=" and not polars
    if wanted is None:
        return [empty for _value in values]
    return [empty if value is None else bool(compare(value, wanted)) for value in values]


def compared_columns(condition: Any) -> set[str]:
    """Columns whose missing values make a comparison false, unless it tests for them."""
    kind, *rest = condition
    if kind in ("and", "or"):
        found = set().union(*map(compared_columns, rest))
        return found - set().union(*map(_asked_missing, rest))
    if kind == "not":
        return compared_columns(rest[0])
    return {rest[0]} if kind == "compare" and rest[1] not in ("==", "!=") else set()


def _asked_missing(condition: Any) -> set[str]:
    kind, *rest = condition
    if kind == "missing":
        return {rest[0]}
    nested = rest if kind in ("and", "or", "not") else []
    return set().union(*map(_asked_missing, nested))


def _comparable(source: RowSource, label: str, wanted: Any) -> Any:
    """A constant in the representation of `values_in`: times are integers there."""
    dtype = source.dtype(label)
    if type(wanted) is str and getattr(dtype, "kind", "") == "M":
        pandas = sys.modules["pandas"]
        moment = pandas.Timestamp(wanted)
        zone = getattr(dtype, "tz", None)
        if zone is not None and moment.tzinfo is None:
            moment = moment.tz_localize(zone)
        return int(moment.as_unit("ns").value)
    return wanted
