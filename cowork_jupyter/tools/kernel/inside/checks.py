"""Checks expectations against the tables of a kernel: all rows, never a sample.

Only exact classes of well-known libraries are asked anything, and columns that hold objects of the
user's own types are not compared: that would run their code.
"""

from __future__ import annotations

import json
import operator
import sys
import time
from typing import Any

from .adapter import MAX_EXAMPLES, ColumnAdapter, TableAdapter
from .libraries import table_of
from .plain import is_secret_name, type_name
from .sources import COMPARISONS

CHECK_SECONDS = 50.0
"""After which the remaining checks are reported as unchecked."""
MAX_EXAMPLE_LENGTH = 40
MAX_NAMED_COLUMNS = 20_000


class CannotCheck(Exception):
    pass


class WrongType(Exception):
    """What should be numbers is something else."""


class NoColumn(Exception):
    pass


def measure(questions: list[dict[str, Any]]) -> str:
    space = sys.modules["IPython"].get_ipython().user_ns
    return json.dumps({"facts": measure_in(space, questions)})


def measure_in(space: dict[str, Any], questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    end = time.monotonic() + CHECK_SECONDS
    return [_measured_question(space, question, end) for question in questions]


def _measured_question(
    space: dict[str, Any], question: dict[str, Any], end: float
) -> dict[str, Any]:
    if time.monotonic() > end:
        return {"problem": "unchecked", "why": "the checks before it took too long"}
    try:
        return _measured_table(space, question)
    except NoColumn as error:
        return {"problem": "no_column", "why": str(error)}
    except WrongType as error:
        return {"problem": "wrong_type", "why": str(error)}
    except CannotCheck as error:
        return {"problem": "unchecked", "why": str(error)}
    except Exception as error:  # a library may refuse for unforeseen reasons
        return {"problem": "unchecked", "why": "it cannot be read (" + type_name(error) + ")"}


def _measured_table(space: dict[str, Any], question: dict[str, Any]) -> dict[str, Any]:
    names = [question["of"], *([question["partner"]] if question["check"] == "matched" else [])]
    for name in names:
        if name not in space:
            return {"problem": "no_table", "why": name}
    table, *others = [_checked_table(name, space[name]) for name in names]
    check, label = question["check"], question["column"]
    facts: dict[str, Any] = {"rows": table.rows}
    if check == "rows":
        return {**facts, "value": table.rows}
    if check == "columns":
        return {**facts, "value": list(map(str, table.names[:MAX_NAMED_COLUMNS]))}
    if not label and check == "unique":
        for column in table.columns():
            _refuse_objects(column)
        return {**facts, "wrong": table.repeated()}
    if not label:
        return {**facts, "wrong": table.missing()}
    column = _column(table, label)
    if not others:
        return {**facts, **_measured_column(column, question)}
    partner = _column(others[0], question["partner_column"])
    _refuse_objects(column)
    _refuse_objects(partner)
    return {**facts, **_with_examples(column.unmatched(partner), label)}


def _checked_table(name: str, value: Any) -> TableAdapter:
    table = table_of(value)
    if table is None:
        raise CannotCheck(name + " is a " + type_name(value) + ", no table")
    if table.refusal():
        raise CannotCheck(table.refusal())
    return table


def _column(table: TableAdapter, name: str) -> ColumnAdapter:
    names = [name] if table.is_single else list(map(str, table.names))
    if name not in names:
        raise NoColumn(name)
    column = table.column(names.index(name))
    _refuse_foreign(column)
    return column


def _refuse_foreign(column: ColumnAdapter) -> None:
    if column.is_foreign:
        raise CannotCheck("it has a type of its own (" + column.type_text + ")")


def _refuse_objects(column: ColumnAdapter) -> None:
    _refuse_foreign(column)
    objects = column.objects()
    if objects:
        raise CannotCheck(f"the column '{column.values.name}' holds {objects}")


def _measured_column(column: ColumnAdapter, question: dict[str, Any]) -> dict[str, Any]:
    check = question["check"]
    if check == "type":
        return {"value": column.type_text}
    if check == "no_missing":
        return {"wrong": column.missing()}
    bound = question["value"][0] if type(question["value"]) is list else question["value"]
    is_numeric = check == "sum" or (check == "range" and type(bound) in (int, float))
    if is_numeric and not column.is_numeric:
        raise WrongType(column.type_text)
    if check == "sum":
        return {"value": _as_json(column.total())}
    _refuse_objects(column)
    if check == "unique":
        return {"wrong": column.repeated()}
    if check == "values":
        examples = column.other_than(question["value"], question["op"] == "!=")
        return _with_examples(examples, question["column"])
    low, high = column.ends()
    wrong = column.outside(_bounds(question))
    ends = (
        {} if is_secret_name(question["column"]) else {"low": _as_json(low), "high": _as_json(high)}
    )
    return dict(ends, wrong=wrong)


def _bounds(question: dict[str, Any]) -> list[tuple[Any, Any]]:
    value = question["value"]
    if type(value) is list:
        return [(operator.ge, value[0]), (operator.le, value[1])]
    equal = question["op"] == "="
    return [(operator.eq if equal else COMPARISONS[question["op"]], value)]


def _with_examples(count_and_examples: tuple[int, list[Any]], column: str) -> dict[str, Any]:
    count, examples = count_and_examples
    if is_secret_name(column):
        examples = []
    texts = [str(_as_json(example))[:MAX_EXAMPLE_LENGTH] for example in examples[:MAX_EXAMPLES]]
    return {"wrong": count, "examples": texts}


def _as_json(value: Any) -> Any:
    if type(value).__module__ == "numpy" and type(value).__name__ != "datetime64":
        value = value.item()
    if type(value) is float and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if value is None or type(value) in (bool, int, float, str):
        return value
    return str(value)[:100]
