"""What the writers for pandas and polars have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from ..request import Request
from ..tables import ColumnFacts
from .cells import CellBuilder, TableVariable, literal
from .loading import load_table

_USUAL_ROWS = 10


class Writer(ABC):
    """Writes the cells of one request."""

    def __init__(self, builder: CellBuilder, request: Request) -> None:
        self.builder = builder
        self.request = request
        self.table: TableVariable = load_table(builder, request.table)
        self.rows = self.table.name  # the variable with the selected rows

    @abstractmethod
    def selection(self) -> list[str]:
        """Code that selects the rows, if there are filters; renames `rows`."""

    @abstractmethod
    def column_selection(self, columns: Sequence[str]) -> str: ...

    @abstractmethod
    def aggregate(self) -> None: ...

    @abstractmethod
    def compare(self) -> None: ...

    def preview(self) -> None:
        request, lines = self.request, self.selection()
        result = self.rows + (self.column_selection(request.columns) if request.columns else "")
        if request.limit or not request.filters:
            result += f".head({request.limit or _USUAL_ROWS})"
        self.builder.add(*lines, result=result, kind="frame")

    def facts(self, name: str) -> ColumnFacts | None:
        return self.request.table.column(name)

    def is_number(self, name: str) -> bool:
        return self.request.table.kind_of(name) == "number"

    def draw(self, chart: Callable[..., None], *arguments: Any, **options: Any) -> None:
        if self.builder.style.can_draw:
            chart(self.builder, self.request, *arguments, **options)

    def output_path(self) -> str:
        return self.builder.choices.output or self.builder.style.path(self.request.output_file)

    def changing_groups(self, compared: str) -> list[str]:
        """The columns in which a comparison looks for the largest changes."""
        others = [group for group in self.request.groups if group != compared]
        categories = [column.name for column in self.request.table.categories]
        return (others or [name for name in categories if name != compared])[:2]

    def quartile_names(self) -> tuple[str, str, str, str]:
        low, high = ("q1", "lower_quartile"), ("q3", "upper_quartile")
        name = self.builder.name
        return name(*low), name(*high), name("reach"), name("outliers")

    def join_arguments(self) -> list[str]:
        left_key, right_key = map(literal, self.request.columns)
        same = left_key == right_key
        return [f"on={left_key}"] if same else [f"left_on={left_key}", f"right_on={right_key}"]

    def join_validation(self) -> list[str]:
        return [] if self.builder.choices.repeated_keys else ['validate="m:1"']


def membership(subject: str, operator: str, values: Sequence[str], is_in: str) -> str:
    """A comparison with one value or, by the method `is_in`, with several."""
    if operator in ("=", "in", "!=") and len(values) > 1:
        negation = "~" if operator == "!=" else ""
        return f"{negation}{subject}.{is_in}([{', '.join(values)}])"
    return f"{subject} {'==' if operator in ('=', 'in') else operator} {values[0]}"
