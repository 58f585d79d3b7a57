"""What was measured of a table, for an expectation to be held against."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, JsonValue


class Measured(BaseModel):
    """The facts of one expectation: exact, of all rows."""

    problem: Literal["", "no_table", "no_column", "wrong_type", "unchecked"] = ""
    """Why there are none: what it is about is not there (yet), is no number, or cannot be read."""
    why: str = ""
    """The table or column that is not there, the type that it has, or why it cannot be read."""
    value: JsonValue = None
    """How many rows, the columns, the sum, the type."""
    wrong: int = 0
    """Rows that are not as expected."""
    rows: int = 0
    examples: list[str] = []
    """Some values that are not as expected, in words."""
    low: JsonValue = None
    high: JsonValue = None


def unchecked(why: str) -> Measured:
    """Nobody can say."""
    return Measured(problem="unchecked", why=why)
