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

from .checked_tables import (
    MAX_EXAMPLES,
    CannotCheck,
    CheckedArrow,
    CheckedNumpy,
    CheckedPandas,
    CheckedPolars,
    NoColumn,
    WrongType,
)
from .columns import WATCHED
from .plain import is_secret_name, type_name
from .sources import COMPARISONS
from .tables import kind_of

CHECK_SECONDS = 50.0
"""After which the remaining checks are reported as unchecked."""
MAX_EXAMPLE_LENGTH = 40
MAX_NAMED_COLUMNS = 20_000


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
        if kind_of(space[name]) not in WATCHED:
            raise CannotCheck(name + " is a " + type_name(space[name]) + ", no table")
    table = checked_table(space[names[0]])
    check, column = question["check"], question["column"]
    if check == "rows":
        return {"value": table.rows, "rows": table.rows}
    if check == "columns":
        return {"value": table.names[:MAX_NAMED_COLUMNS], "rows": table.rows}
    if not column:
        wrong = table.repeated() if check == "unique" else table.missing()
        return {"wrong": wrong, "rows": table.rows}
    values = table.column(column)
    facts = {"rows": table.rows}
    if check == "matched":
        other = checked_table(space[names[1]]).column(question["partner_column"])
        facts.update(_with_examples(values.unmatched(other), column))
    else:
        facts.update(_measured_column(values, question))
    return facts


def _measured_column(values: Any, question: dict[str, Any]) -> dict[str, Any]:
    check = question["check"]
    if check == "type":
        return {"value": values.dtype}
    if check == "no_missing":
        return {"wrong": values.missing()}
    bound = question["value"][0] if type(question["value"]) is list else question["value"]
    is_numeric = check == "sum" or (check == "range" and type(bound) in (int, float))
    if is_numeric and not values.is_numeric:
        raise WrongType(values.dtype)
    if check == "sum":
        return {"value": _as_json(values.total())}
    values.refuse_objects()
    if check == "unique":
        return {"wrong": values.repeated()}
    if check == "values":
        count, examples = values.other_than(question["value"], question["op"] == "!=")
        return _with_examples((count, examples), question["column"])
    low, high = values.ends()
    wrong = values.outside(_bounds(question))
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


def _with_examples(found: tuple[int, list[Any]], column: str) -> dict[str, Any]:
    count, examples = found
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


def checked_table(value: Any) -> Any:
    package = kind_of(value).split(".")[0]
    return _CHECKED[package](value)


_CHECKED = {
    "pandas": CheckedPandas, "polars": CheckedPolars, "pyarrow": CheckedArrow,
    "numpy": CheckedNumpy,
}  # fmt: skip
