"""Expectations: what must stay true of a table, pinned by the user or proposed by a planner."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from .identity import new_id
from .null_tolerant import NullTolerantModel

Check = Literal[
    "rows", "columns", "unique", "no_missing", "range", "values", "sum", "type", "matched"
]
Operator = Literal["=", "!=", "<", "<=", ">", ">="]


class Expectation(NullTolerantModel):
    """One thing that must be true of a table, in the contract's form."""

    id: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        default_factory=partial(new_id, "exp")
    )
    of: Annotated[str, Field(min_length=1, max_length=500)]
    """A variable's name, or `file:` and a path."""
    check: Check
    op: Operator = "="
    value: JsonValue = None
    column: Annotated[str | None, Field(max_length=500)] = None
    tolerance: Annotated[float | None, Field(ge=0)] = None
    """How far a number may be off, as a share of it."""
    by: Literal["person", "planner"] = "planner"
    """What a model writes here does not count."""


class BrokenExpectation(NullTolerantModel):
    """An expectation that is not met, and what is the case instead."""

    expectation: Expectation
    found: str
    """`it is 12,612`."""
