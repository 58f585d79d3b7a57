"""Values of a request as code: numbers, tidied texts, and the periods that dates stand for."""

from __future__ import annotations

from ..columns import ColumnFacts
from ..request import Filter, Request
from .sheet import literal


def filter_values(row_filter: Filter, facts: ColumnFacts | None) -> list[str]:
    """Numbers unquoted, texts as the tidied column spells them."""
    if facts and facts.kind == "number":
        return [_number(value) for value in row_filter.values]
    values = [tidied_value(value, facts) for value in row_filter.values]
    return [literal(value) for value in dict.fromkeys(values)]


def sides_of(request: Request) -> tuple[str, str]:
    assert request.between is not None
    column = None if request.time else request.table.column(request.groups[0])
    first, second = (tidied_value(side, column) for side in request.between)
    return first, second


def tidied_value(value: str, facts: ColumnFacts | None) -> str:
    return value.strip().title() if facts and facts.mixed_case else value.strip()


def _number(value: str) -> str:
    try:
        number = float(value.replace(",", ""))
    except ValueError:
        return literal(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def frequency(value: str) -> str:
    """The pandas frequency of a shortened ISO date."""
    if "Q" in value:
        return "Q"
    return {4: "Y", 7: "M"}.get(len(value), "D")


def moment(value: str) -> str:
    """A period as pandas writes it: `2024Q1`."""
    return value.replace("-Q", "Q")
