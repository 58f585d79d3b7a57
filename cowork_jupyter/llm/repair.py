"""Reading JSON that is nearly JSON, where it can mean one thing only.

Models write trailing commas, `True` and `None`, single quotes, quotes inside of quotes, escapes
that JSON does not know, or forget the last braces. Each of these has one clear reading; whatever
has not is refused, because a call that is guessed is worse than a turn that is lost.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from contextlib import suppress
from typing import Any

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
    """The value that a text means. Raises `NotClear`.

    `may_close`: brackets that are missing at the end were forgotten, not cut off.
    """
    if _PYTHON.match(text):
        with suppress(NotClear):
            return _python_value(text)
    try:
        return _Reader(text, may_close, inner_quotes=False).whole()
    except NotClear:
        # Two slips at once are too many to be sure.
        return _Reader(text, may_close=False, inner_quotes=True).whole()


def _python_value(text: str) -> Any:
    """What Python means by it, if JSON can say the same."""
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
        """The value, with nothing behind it."""
        value = self.value(0, "")
        if self.skip_space():
            raise NotClear
        return value

    def skip_space(self) -> str:
        """Go on to the next character that counts, and give it; empty at the end."""
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
        found: dict[str, Any] = {}
        self.at += 1
        while not self._ends("}"):
            key = self._string("key") if self.skip_space() in ("'", '"') else self._name()
            if key in found or self.skip_space() != ":":
                raise NotClear
            self.at += 1
            found[key] = self.value(depth + 1, "object")
            if self._goes_on("}"):
                break
        return found

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while not self._ends("]"):
            found.append(self.value(depth + 1, "array"))
            if self._goes_on("]"):
                break
        return found

    def _ends(self, closing: str) -> bool:
        if self.skip_space() != closing:
            return False
        self.at += 1
        return True

    def _goes_on(self, closing: str) -> bool:
        """Behind a member: whether that was the last one."""
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
        """What stands between quotes.

        Within a member's value there may be more of them: in pairs, with nothing that fits behind.
        """
        quote, start = self.text[self.at], self.at + 1
        parts: list[str] = []
        place = start
        while True:
            found = re.compile(rf"[{quote}\\]").search(self.text, place)
            if found is None:
                raise NotClear
            place = found.end() + 1 if found[0] == "\\" else found.end()
            if found[0] == "\\":
                continue
            if self._is_apostrophe(quote, place):
                continue
            if parts and not self.text[start : place - 1].strip():
                raise NotClear  # two texts with a comma lost between them
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
    """The text with its inner quotes, unless it looks as if members were lost in it."""
    text = quote.join(parts)
    if len(parts) > 1 and _MEMBER.search(text):
        raise NotClear
    return text


def _unescaped(text: str) -> str:
    """As JSON means it; a backslash before anything else is one, as in a regular expression."""

    def known(match: re.Match[str]) -> str:
        if match[1] in _KNOWN_ESCAPES:
            return match[0]
        if match[1] == "'":
            return "'"
        is_code = re.match(r"[0-9a-fA-F]{4}", text[match.end() : match.end() + 4])
        return match[0] if match[1] == "u" and is_code else f"\\\\{match[1]}"

    escaped = _ESCAPE.sub(known, text)
    quoted = re.sub(r"(\\.)|\"", lambda match: match[1] or '\\"', escaped, flags=re.DOTALL)
    value: str = json.loads(f'"{quoted}"', strict=False)
    return value
