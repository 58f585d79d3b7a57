"""Parses JSON, or what is nearly JSON, into structured replies.

Slips are repaired only where one reading is possible, see `read_nearly_json`. Errors are worded for
the model.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from ..domain.base_models import describe_problems, field_problems
from ..domain.expectations import with_sound_expectations
from ..domain.plan import Plan
from ..domain.redaction import without_surrogates
from ..domain.replies import Question, Review, StepResult, Structured, ToolCall, ToolCalls
from ..domain.team import with_plain_roles
from .scanners import CALLS

_PYTHON = re.compile(r"\s*\{\s*'")
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_LITERALS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_KNOWN_ESCAPES = frozenset('"\\/bfnrt')
_NEXT_KEY = re.compile(r",\s*(?:\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|[A-Za-z_]\w*)\s*:|,\s*\}")
_MEMBER = re.compile(r"[\]}\"']\s*,\s*([\"'])[^\"'\n]*\1\s*:|[\"'][\s\]}]*,\s*[\[{][\s\[{]*[\"']")
MAX_DEPTH = 100


class NotClear(ValueError):
    """The text has no reading, or more than one."""


def read_nearly_json(text: str, *, may_close: bool = True) -> Any:
    """Parse JSON with common slips of models; raises `NotClear`.

    `may_close`: closing brackets missing at the end were forgotten, not cut off.
    """
    if _PYTHON.match(text):
        with suppress(NotClear):
            return _python_value(text)
    try:
        return _Reader(text, may_close, inner_quotes=False).whole()
    except NotClear:
        # Two kinds of slips at once are too ambiguous.
        return _Reader(text, may_close=False, inner_quotes=True).whole()


def _python_value(text: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text.strip())
        same = json.loads(json.dumps(value, allow_nan=False)) == value
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise NotClear from None
    if not same:
        raise NotClear
    return value


class _Reader:
    def __init__(self, text: str, may_close: bool, inner_quotes: bool) -> None:
        self.text, self.at = text, 0
        self.may_close = may_close
        self.inner_quotes = inner_quotes

    def whole(self) -> Any:
        value = self.value(0, "")
        if self.skip_space():
            raise NotClear
        return value

    def skip_space(self) -> str:
        """Advance to the next non-space character and return it; empty at the end."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def value(self, depth: int, within: str) -> Any:
        char = self.skip_space()
        if depth > MAX_DEPTH:
            raise NotClear
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._array(depth)
        if char in ("'", '"'):
            return self._string(within)
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            return json.loads(number[0])
        name = self._name()
        if name not in _LITERALS:
            raise NotClear
        return _LITERALS[name]

    def _object(self, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        self.at += 1
        while not self._ends("}"):
            key = self._string("key") if self.skip_space() in ("'", '"') else self._name()
            if key in fields or self.skip_space() != ":":
                raise NotClear
            self.at += 1
            fields[key] = self.value(depth + 1, "object")
            if self._goes_on("}"):
                break
        return fields

    def _array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        while not self._ends("]"):
            items.append(self.value(depth + 1, "array"))
            if self._goes_on("]"):
                break
        return items

    def _ends(self, closing: str) -> bool:
        if self.skip_space() != closing:
            return False
        self.at += 1
        return True

    def _goes_on(self, closing: str) -> bool:
        char = self.skip_space()
        if char == ",":
            self.at += 1
            return self._ends(closing)
        if char == "" and self.may_close:
            return True
        if char != closing:
            raise NotClear
        self.at += 1
        return True

    def _name(self) -> str:
        match = _NAME.match(self.text, self.at)
        if match is None:
            raise NotClear
        self.at = match.end()
        return match[0]

    def _string(self, within: str) -> str:
        """Read a string.

        Within a member's value there may be unescaped inner quotes: in pairs, and only where
        nothing that could follow a string follows them.
        """
        quote, start = self.text[self.at], self.at + 1
        parts: list[str] = []
        place = start
        while True:
            match = re.compile(rf"[{quote}\\]").search(self.text, place)
            if match is None:
                raise NotClear
            place = match.end() + 1 if match[0] == "\\" else match.end()
            if match[0] == "\\":
                continue
            if self._is_apostrophe(quote, place):
                continue
            if parts and not self.text[start : place - 1].strip():
                raise NotClear  # two strings without a comma between them
            parts.append(self.text[start : place - 1])
            start, is_pair = place, len(parts) % 2 == 1
            may_be_inner = self.inner_quotes and within == "object"
            if not may_be_inner or (is_pair and self._closes(place)):
                self.at = place
                return _unescaped(_one_text(quote, parts))

    def _is_apostrophe(self, quote: str, place: int) -> bool:
        around = self.text[place - 2 : place - 1] + self.text[place : place + 1]
        return self.inner_quotes and quote == "'" and len(around) == 2 and around.isalpha()

    def _closes(self, place: int) -> bool:
        after = _SPACE.match(self.text, place)
        at = after.end() if after else place
        is_last = self.text[at : at + 1] in ("", "}")
        return is_last or _NEXT_KEY.match(self.text, at) is not None


def _one_text(quote: str, parts: list[str]) -> str:
    """Rejoin a string with inner quotes, unless it looks as if members got lost in it."""
    text = quote.join(parts)
    if len(parts) > 1 and _MEMBER.search(text):
        raise NotClear
    return text


def _unescaped(text: str) -> str:
    """Decode escapes as JSON does; any other backslash is literal, as in a regular expression."""

    def as_json_escape(match: re.Match[str]) -> str:
        if match[1] in _KNOWN_ESCAPES:
            return match[0]
        if match[1] == "'":
            return "'"
        is_code = re.match(r"[0-9a-fA-F]{4}", text[match.end() : match.end() + 4])
        return match[0] if match[1] == "u" and is_code else f"\\\\{match[1]}"

    escaped = _ESCAPE.sub(as_json_escape, text)
    quoted = re.sub(r"(\\.)|\"", lambda match: match[1] or '\\"', escaped, flags=re.DOTALL)
    value: str = json.loads(f'"{quoted}"', strict=False)
    return value


FORMATS: dict[str, type[Plan | Question | Review | StepResult]] = {
    "plan": Plan,
    "question": Question,
    "review": Review,
    "result": StepResult,
}


class MalformedReply(ValueError):
    """The message tells the model where and why the JSON is malformed."""


def load_object(source: str, *, may_close: bool = True) -> dict[str, Any]:
    """Parse one JSON object, repairing unambiguous slips.

    `may_close`: closing brackets missing at the end were forgotten, not cut off.
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


def build_reply(objects: Sequence[dict[str, Any]]) -> Structured:
    calls = [value for value in objects if not CALLS.isdisjoint(value)]
    others = [value for value in objects if CALLS.isdisjoint(value)]
    if others and len(objects) > 1:
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
    """A senseless expectation does not invalidate a plan: it is dropped, with a note."""
    kind = FORMATS[value["type"]]
    if kind is not Plan:
        return kind.model_validate(value)
    sound, notes = with_sound_expectations(value)
    plain, more = with_plain_roles(sound)
    return Plan.model_validate(plain).with_notes([*notes, *more])


def _merged(values: Sequence[dict[str, Any]]) -> ToolCalls:
    """Join several calls; the last one decides about `terminate`."""
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
    """Later code walks the value recursively."""
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
