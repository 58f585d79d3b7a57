"""Expectations: what must stay true of a table, pinned by the user or proposed by a planner."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, JsonValue, ValidationError

from .base_models import NullTolerantModel, describe_problems, field_problems
from .identity import new_id

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
    """Allowed relative deviation of a number."""
    by: Literal["person", "planner"] = "planner"
    """Ignored if a model writes it."""


class BrokenExpectation(NullTolerantModel):
    """An expectation that is not met, and what is the case instead."""

    expectation: Expectation
    found: str
    """For example `it is 12,612`."""


class Measured(BaseModel):
    """Exact facts about all rows for one expectation."""

    problem: Literal["", "no_table", "no_column", "wrong_type", "unchecked"] = ""
    """Why there are none: the subject does not exist (yet), is no number, or cannot be read."""
    why: str = ""
    """The missing table or column, the actual type, or why it cannot be read."""
    value: JsonValue = None
    """The row count, the columns, the sum, or the type."""
    wrong: int = 0
    rows: int = 0
    examples: list[str] = []
    low: JsonValue = None
    high: JsonValue = None


def unchecked(why: str) -> Measured:
    return Measured(problem="unchecked", why=why)


FILE = "file:"
_ON_A_COLUMN = {"range", "values", "sum", "type", "matched"}
_WITHOUT_VALUE = {"unique", "no_missing"}
_MAX_NAME = 40


def table_problem(of: str) -> str:
    """Why this does not name a table; empty if it does."""
    if of.startswith(FILE):
        return "" if of.removeprefix(FILE).strip() else f"of: '{FILE}' needs a path after it"
    if of.isidentifier():
        return ""
    return f"of: '{of[:_MAX_NAME]}' is neither a variable's name nor '{FILE}' with a path"


def expectation_problem(expectation: Expectation) -> str:
    """Why it can never be checked, field first; empty if it can."""
    check, value = expectation.check, expectation.value
    if problem := table_problem(expectation.of):
        return problem
    if check in _ON_A_COLUMN and not expectation.column:
        return f"column: the check '{check}' needs a column"
    if check in ("rows", "columns") and expectation.column:
        return f"column: the check '{check}' is about the whole table"
    if check not in _WITHOUT_VALUE and value is None:
        return f"value: the check '{check}' needs a value"
    if check in _WITHOUT_VALUE and (value is not None or expectation.op != "="):
        return f"value: the check '{check}' takes none"
    if expectation.tolerance is not None and check not in ("rows", "sum"):
        return "tolerance: only the checks 'rows' and 'sum' have one"
    return _value_problem(expectation)


def _value_problem(expectation: Expectation) -> str:
    check, op, value = expectation.check, expectation.op, expectation.value
    name = f"value: the check '{check}'"
    if check in ("rows", "sum") and not _is_number(value):
        return f"{name} needs a number"
    are_names = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
    if check == "columns" and not (_is_number(value) or are_names):
        return f"{name} needs a number, or a list of names"
    if check == "columns" and isinstance(value, list) and op not in ("=", ">="):
        return "op: for a list of columns, = means exactly these and >= at least these"
    if check == "range" and isinstance(value, list):
        return "" if len(value) == 2 and op == "=" else f"{name} needs [least, greatest]"
    if check == "range" and not (_is_number(value) or isinstance(value, str)):
        return f"{name} needs a number, a date, or a list of two"
    if check == "values" and not (isinstance(value, list) and value):
        return f"{name} needs a list of values"
    if check in ("type", "matched") and not isinstance(value, str):
        return f"{name} needs a name"
    if check in ("values", "type") and op not in ("=", "!="):
        return f"op: the check '{check}' is either = or !="
    if check == "matched":
        if op != "=":
            return "op: the check 'matched' takes none"
        return table_problem(str(value) if str(value).startswith(FILE) else partner(expectation)[0])
    return ""


def partner(expectation: Expectation) -> tuple[str, str]:
    """The table and column to match against: `customers`, `customers.id`."""
    value, column = str(expectation.value), expectation.column or ""
    if value.startswith(FILE):
        return value, column
    table, dot, named = value.partition(".")
    return table, named if dot else column


def tables_of(expectation: Expectation) -> set[str]:
    others = {partner(expectation)[0]} if expectation.check == "matched" else set()
    return {expectation.of} | others


def is_about_files(expectation: Expectation) -> bool:
    return any(table.startswith(FILE) for table in tables_of(expectation))


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def with_sound_expectations(plan: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Drop expectations that cannot be checked from a model's plan, with a note on each."""
    steps = plan.get("steps")
    if not isinstance(steps, list):
        return plan, []
    notes: list[str] = []
    return {**plan, "steps": [_sound_step(step, notes) for step in steps]}, notes


def _sound_step(step: Any, notes: list[str]) -> Any:
    if not isinstance(step, dict) or step.get("expects") is None:
        return step
    written = step["expects"]
    sound = []
    for raw in written if isinstance(written, list) else [written]:
        expectation, problem = _repaired(raw)
        if expectation is not None:
            sound.append(expectation)
        else:
            notes.append(f"An expectation was left out: {problem}.")
    return {**step, "expects": sound}


def _repaired(written: Any) -> tuple[dict[str, Any] | None, str]:
    """Repair what can only mean one thing."""
    if not isinstance(written, dict):
        return None, "it is not an object"
    raw = {name: value for name, value in written.items() if name not in ("id", "by")}
    of = raw.get("of")
    if isinstance(of, str) and not of.isidentifier() and not of.startswith(FILE) and "." in of:
        raw["of"] = FILE + of
    if raw.get("check") not in ("rows", "sum"):
        raw.pop("tolerance", None)
    if raw.get("check") in _WITHOUT_VALUE:
        raw = {name: value for name, value in raw.items() if name not in ("op", "value")}
    if raw.get("check") not in get_args(Check):
        return None, f"there is no check '{str(raw.get('check'))[:_MAX_NAME]}'"
    try:
        expectation = Expectation.model_validate(raw)
    except ValidationError as error:
        return None, describe_problems(field_problems(error))
    problem = expectation_problem(expectation)
    return (None, problem) if problem else (expectation.model_dump(exclude={"by"}), "")
