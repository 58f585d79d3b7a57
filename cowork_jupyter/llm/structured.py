"""From JSON text to a structured reply, or to a few words the model can learn from."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from ..domain.expectation_rules import with_sound_expectations
from ..domain.plan import Plan
from ..domain.replies import Question, Review, StepResult, Structured, ToolCall, ToolCalls
from ..domain.surrogates import without_surrogates
from ..domain.team import with_known_roles
from ..domain.validation import describe_problems, field_problems
from .objects import CALLS
from .repair import MAX_DEPTH, NotClear, read_nearly_json

FORMATS: dict[str, type[Plan | Question | Review | StepResult]] = {
    "plan": Plan,
    "question": Question,
    "review": Review,
    "result": StepResult,
}
"""The structured replies beside tool calls, by the value of their `type`."""


class MalformedReply(ValueError):
    """Text that is not the JSON it wants to be; the message says where and why."""


def load_object(source: str, *, may_close: bool = True) -> dict[str, Any]:
    """Read one JSON object, or what can only mean one (see `repair`).

    `may_close`: brackets that are missing at the end were forgotten, not cut off.
    """
    try:
        value = json.loads(source, strict=False, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise MalformedReply("The JSON is nested too deeply.") from None
    except json.JSONDecodeError as error:
        try:
            value = read_nearly_json(source, may_close=may_close)
        except (NotClear, RecursionError, ValueError):
            raise MalformedReply(_where(error)) from None
    except ValueError as error:
        raise MalformedReply(f"The JSON contains a number that cannot be read: {error}.") from None
    if not isinstance(value, dict):
        raise MalformedReply("The JSON must be an object in curly braces.")
    if not _is_shallow(value):
        raise MalformedReply("The JSON is nested too deeply.")
    return without_surrogates(value)


def settle(found: Sequence[dict[str, Any]]) -> Structured:
    """Make one structured reply of the objects found, else raise `MalformedReply`."""
    calls = [value for value in found if not CALLS.isdisjoint(value)]
    others = [value for value in found if CALLS.isdisjoint(value)]
    if others and len(found) > 1:
        names = " and ".join([str(value["type"]) for value in others] + ["tool call"] * bool(calls))
        raise MalformedReply(
            f"A reply may contain only one of these, and this one contains {names}."
        )
    try:
        return _merged(calls) if calls else _format(others[0])
    except ValidationError as error:
        name = "tool call" if calls else others[0]["type"]
        why = describe_problems(field_problems(error), "\n")
        raise MalformedReply(f"The {name} is not valid:\n{why}") from None


def _format(value: dict[str, Any]) -> Plan | Question | Review | StepResult:
    """A plan is not lost over an expectation or a role that makes no sense: it is left out, and
    said so.
    """
    kind = FORMATS[value["type"]]
    if kind is not Plan:
        return kind.model_validate(value)
    sound, notes = with_sound_expectations(value)
    known, more = with_known_roles(sound)
    return Plan.model_validate(known).with_notes([*notes, *more])


def _merged(values: Sequence[dict[str, Any]]) -> ToolCalls:
    """Several calls answer together; the last one says whether that was all."""
    groups = [_calls(value) for value in values]
    calls = [call for group in groups for call in group.tools]
    return ToolCalls(tools=calls, terminate=groups[-1].terminate)


def _calls(value: dict[str, Any]) -> ToolCalls:
    if "tool" not in value:
        several = ToolCalls.model_validate(value)
        return several.model_copy(
            update={"terminate": several.terminate or several.tools[-1].terminate}
        )
    call = ToolCall.model_validate(value)
    return ToolCalls(tools=[call], terminate=call.terminate)


def _where(error: json.JSONDecodeError) -> str:
    around = error.doc[max(0, error.pos - 20) : error.pos + 20]
    if error.pos >= len(error.doc.rstrip()):
        return f"The JSON ends before it is complete, after {around!r}."
    return (
        f"The JSON is malformed at line {error.lineno}, column {error.colno}: "
        f"{error.msg}, near {around!r}."
    )


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:20]} is too large")
    return number


def _is_shallow(value: Any) -> bool:
    """Whether nobody who walks it later, by recursion, runs into trouble."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return True
    return False


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
