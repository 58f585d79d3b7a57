"""Which expectations make sense, and what is taken of those that a model has written."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import JsonValue, ValidationError

from .expectations import Check, Expectation
from .validation import describe_problems, field_problems

FILE = "file:"
"""How the name of a table begins that is a file."""
_ON_A_COLUMN = {"range", "values", "sum", "type", "matched"}
_WITHOUT_VALUE = {"unique", "no_missing"}
_MAX_NAME = 40


def table_problem(of: str) -> str:
    """Why this names no table; empty if it does."""
    if of.startswith(FILE):
        return "" if of.removeprefix(FILE).strip() else f"of: '{FILE}' needs a path behind it"
    if of.isidentifier():
        return ""
    return f"of: '{of[:_MAX_NAME]}' is neither a variable's name nor '{FILE}' with a path"


def expectation_problem(one: Expectation) -> str:
    """Why it cannot be checked, whatever the table is like, place first; empty if it can."""
    check, value = one.check, one.value
    if problem := table_problem(one.of):
        return problem
    if check in _ON_A_COLUMN and not one.column:
        return f"column: the check '{check}' needs a column"
    if check in ("rows", "columns") and one.column:
        return f"column: the check '{check}' is about the whole table"
    if check not in _WITHOUT_VALUE and value is None:
        return f"value: the check '{check}' needs a value"
    if check in _WITHOUT_VALUE and (value is not None or one.op != "="):
        return f"value: the check '{check}' takes none"
    if one.tolerance is not None and check not in ("rows", "sum"):
        return "tolerance: only the checks 'rows' and 'sum' have one"
    return _value_problem(one)


def _value_problem(one: Expectation) -> str:
    value, name = one.value, f"value: the check '{one.check}'"
    if one.check in ("rows", "sum") and not _is_number(value):
        return f"{name} needs a number"
    if one.check == "columns" and not (_is_number(value) or _is_list(value, str)):
        return f"{name} needs a number, or a list of names"
    if one.check == "columns" and isinstance(value, list) and one.op not in ("=", ">="):
        return "op: a list of columns is either all there are (=) or among them (>=)"
    if one.check == "range" and isinstance(value, list):
        return "" if len(value) == 2 and one.op == "=" else f"{name} needs [least, greatest]"
    if one.check == "range" and not (_is_number(value) or isinstance(value, str)):
        return f"{name} needs a number, a date, or a list of two"
    if one.check == "values" and not (isinstance(value, list) and value):
        return f"{name} needs a list of values"
    if one.check in ("type", "matched") and not isinstance(value, str):
        return f"{name} needs a name"
    if one.check in ("values", "type") and one.op not in ("=", "!="):
        return f"op: the check '{one.check}' is either = or !="
    if one.check == "matched":
        if one.op != "=":
            return "op: the check 'matched' takes none"
        return table_problem(str(value) if str(value).startswith(FILE) else partner(one)[0])
    return ""


def partner(one: Expectation) -> tuple[str, str]:
    """The table and the column that another one is matched in: `customers`, `customers.id`."""
    value, column = str(one.value), one.column or ""
    if value.startswith(FILE):
        return value, column
    table, dot, named = value.partition(".")
    return table, named if dot else column


def tables_of(one: Expectation) -> set[str]:
    """The tables that it is about."""
    return {one.of, partner(one)[0]} if one.check == "matched" else {one.of}


def is_about_files(one: Expectation) -> bool:
    """Whether a kernel alone cannot say whether it is met."""
    return any(table.startswith(FILE) for table in tables_of(one))


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_list(value: JsonValue, of: type) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, of) for one in value)


def with_sound_expectations(plan: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A plan as a model wrote it, with only those expectations that can be checked, and what is
    said of the others: no plan is lost over them.
    """
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
    for one in written if isinstance(written, list) else [written]:
        found, problem = _repaired(one)
        if found is not None:
            sound.append(found)
        else:
            notes.append(f"An expectation was left out: {problem}.")
    return {**step, "expects": sound}


def _repaired(written: Any) -> tuple[dict[str, Any] | None, str]:
    """What can only mean one thing is taken so."""
    if not isinstance(written, dict):
        return None, "it is no object"
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
        one = Expectation.model_validate(raw)
    except ValidationError as error:
        return None, describe_problems(field_problems(error))
    problem = expectation_problem(one)
    return (None, problem) if problem else (one.model_dump(exclude={"by"}), "")
