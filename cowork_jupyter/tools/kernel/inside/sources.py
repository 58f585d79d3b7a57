"""The rows that code works on: a table, and the steps that lead from it to them.

A source is JSON: `{"table": name, "steps": [["where", condition], ["dropna", columns], …]}`. Steps
are done on Python values, so that no code of the user's runs.
"""

from __future__ import annotations

import json
import operator
from typing import Any

from .adapter import ColumnAdapter, label_text
from .libraries import watched

MAX_KEY_ROWS = 300_000
"""Rows whose values are compared one by one; larger tables are skipped."""
INDEX = "@index"
"""Stands for the index of pandas where a column is asked for."""


class Unanswerable(Exception):
    pass


class RowSource:
    """Some rows of a table, by number."""

    def __init__(self, space: dict[str, Any], text: str) -> None:
        about = json.loads(text)
        self.name = about["table"]
        table = watched(space[self.name])
        if table is None or table.rows > MAX_KEY_ROWS:
            raise Unanswerable
        self.table = table
        self.labels = [label_text(label) for label in table.labels]
        self._columns: dict[str, list[Any]] = {}
        self._own_names = {label: label for label in self.labels}
        self._index = ""
        """The column that became the index by a step."""
        self.numbers: Any = range(table.rows)
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

    @property
    def columns(self) -> list[str]:
        return list(self._own_names)

    def original(self, label: str) -> ColumnAdapter:
        """The column of the table."""
        if not label and len(self._own_names) == 1:
            label = next(iter(self._own_names))
        if label == INDEX and self._index:
            label = self._index
        own = self._own_names.get(label)
        if own is None or label == INDEX:
            column = self.table.index(None if label == INDEX else label)
        else:
            is_single = self.labels.count(own) == 1
            column = self.table.column(self.labels.index(own)) if is_single else None
        if column is None:
            raise Unanswerable
        return column

    def _whole(self, label: str) -> list[Any]:
        if label not in self._columns:
            values = self.original(label).plain()
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
        allowed = {_constant(source, rest[0], value) for value in rest[1]}
        return [value in allowed for value in values]
    if kind == "text":
        method, wanted = rest[1], rest[2]
        return [type(value) is str and getattr(str, method)(value, wanted) for value in values]
    wanted = _constant(source, rest[0], rest[2])
    compare = COMPARISONS[rest[1]]
    empty = kind == "compare" and rest[1] == "!=" and source.table.null_differs
    if wanted is None:
        return [empty for _value in values]
    return [empty if value is None else bool(compare(value, wanted)) for value in values]


def compared_columns(condition: Any) -> set[str]:
    """Columns whose missing values make a comparison false, unless it tests for them."""
    kind, *rest = condition
    if kind in ("and", "or"):
        columns = set().union(*map(compared_columns, rest))
        return columns - set().union(*map(_asked_missing, rest))
    if kind == "not":
        return compared_columns(rest[0])
    return {rest[0]} if kind == "compare" and rest[1] not in ("==", "!=") else set()


def _asked_missing(condition: Any) -> set[str]:
    kind, *rest = condition
    if kind == "missing":
        return {rest[0]}
    nested = rest if kind in ("and", "or", "not") else []
    return set().union(*map(_asked_missing, nested))


def _constant(source: RowSource, label: str, wanted: Any) -> Any:
    return source.original(label).constant(wanted) if type(wanted) is str else wanted
