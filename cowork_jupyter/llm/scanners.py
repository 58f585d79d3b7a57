"""Scanners for fenced code and `{…}` objects in a streamed reply.

An object is ours only if it names a tool or its `type` is one of KINDS. Everything else is text
that should be shown without delay, so `ObjectScanner` decides at the first conclusive key.
"""

from __future__ import annotations

import re
from enum import Enum, auto

PYTHON = frozenset({"python", "py", "python3", "ipython"})

_TICKS = re.compile(r"`*")
_INFO = re.compile(r"[^\s`{]*")
_SPACE = re.compile(r"\s*")
_CODE = re.compile(r"\s+|[^\s`][^\n`]*")


class Inside(Enum):
    UNKNOWN = auto()
    OBJECT = auto()
    CODE = auto()


class FenceOpening:
    def __init__(self) -> None:
        self.inside = Inside.UNKNOWN
        self.ticks = 0
        self._parts = [_TICKS, _INFO, _SPACE]

    def scan(self, text: str, start: int) -> int:
        position = start
        while position < len(text) and self._parts:
            match = self._parts[0].match(text, position)
            end = match.end() if match else position
            if self._parts[0] is _TICKS:
                self.ticks += end - position
            if end < len(text):
                self._parts.pop(0)
            position = end
        if position < len(text):
            self.inside = Inside.OBJECT if text[position] == "{" else Inside.CODE
        return position


class CodeScanner:
    """Follows fenced code to the end of its closing fence.

    A backtick on the opening line means that it was inline code, not a fence.
    """

    def __init__(self, ticks: int, before: str) -> None:
        self.ended = False
        self._ticks = ticks
        self._run = 0
        self._language = before.strip("`").partition("\n")[0].strip().lower()
        self._first_line = "\n" not in before
        self._line_start = "\n" in before[len(before.rstrip()) :]

    @property
    def is_python(self) -> bool:
        return not self._first_line and self._language in PYTHON

    def scan(self, text: str, start: int) -> int:
        position = start
        while position < len(text) and not self.ended:
            if text[position] == "`":
                self._run += self._line_start
                self.ended = self._first_line or self._run == self._ticks
                position += 1
            else:
                match = _CODE.match(text, position)
                end = match.end() if match else position + 1
                self._see_code(text[position:end])
                position = end
        return position

    def _see_code(self, piece: str) -> None:
        self._run = 0
        if not piece.isspace():
            self._line_start = False
        elif "\n" in piece:
            self._first_line, self._line_start = False, True


KINDS = frozenset({"plan", "question", "review", "result", "text"})
"""Values of `type` that make an object ours."""

CALLS = frozenset({"tool", "tools"})

_LIKELY = frozenset(
    {
        "parameters",
        "terminate",
        "format_version",
        "goal",
        "steps",
        "question",
        "findings",
        "verdict",
    }
)
"""Inconclusive keys, but promising enough to wait for however long the value is."""

_HOLD = 2000
"""Give up on an object with only unknown keys after this many characters."""

_MAX_KEY_LENGTH = 40
_HEAD = 48
_IN_STRING = re.compile(r'[^"\\]*')
_OUTSIDE = re.compile(r'[^"{}:,`]*')
_ALMOST_JSON = re.compile(
    r"['\"]?(?:tools?['\"]?\s*:|type['\"]?\s*:\s*['\"]?(?:plan|question|review|result|text)\b)"
)


class Ownership(Enum):
    UNDECIDED = auto()
    OURS = auto()
    FOREIGN = auto()
    PROSE = auto()


class ObjectScanner:
    """Reads an object piece by piece, each character once, starting at its `{`.

    Decisions fall at a character, never at the end of a piece, so that the result does not depend
    on how the stream was split.
    """

    def __init__(self) -> None:
        self.verdict = Ownership.UNDECIDED
        self.ended = False
        self._depth = 0
        self._head: str | None = None
        self._patience: int | None = _HOLD
        self._in_string = False
        self._escaped = False
        self._string = ""
        self._key = ""

    def scan(self, text: str, start: int) -> int:
        before = self.verdict
        stop = len(text)
        if before is Ownership.UNDECIDED and self._patience is not None:
            stop = min(stop, start + self._patience)
        position = start
        while position < stop and self.verdict is before and not self.ended:
            position = self._step(text, position, stop)
        self._spend(position - start)
        return position

    def _step(self, text: str, position: int, stop: int) -> int:
        if self._depth == 0:
            self._depth, self._head = 1, ""
            return position + 1
        if self._head is not None:
            return self._read_head(text, position)
        if self._in_string:
            return self._read_string(text, position, stop)
        return self._read_outside(text, position, stop)

    def _spend(self, characters: int) -> None:
        """Classify as foreign if there is no sign of being ours for too long."""
        if self.verdict is not Ownership.UNDECIDED:
            return
        if self._patience is not None:
            self._patience -= characters
        if self.ended or self._patience == 0:
            self.verdict = Ownership.FOREIGN

    def _read_head(self, text: str, position: int) -> int:
        """A key must follow the opening brace; otherwise it is a brace in prose."""
        char, head = text[position], self._head or ""
        if not head and char.isspace():
            return position + 1
        if not head and char == '"':
            self._head = None
            return position
        unlike = not head and char not in "'t"
        if unlike or char in ",{}\n" or len(head) == _HEAD:
            self.verdict = Ownership.OURS if _ALMOST_JSON.match(head) else Ownership.PROSE
            self._head = None
            return position
        self._head = head + char
        return position + 1

    def _read_string(self, text: str, position: int, stop: int) -> int:
        if self._escaped:
            self._escaped = False
            return position + 1
        match = _IN_STRING.match(text, position, stop)
        end = match.end() if match else position
        if len(self._string) <= _MAX_KEY_LENGTH:
            self._string += text[position : min(end, position + _MAX_KEY_LENGTH + 1)]
        if end == stop:
            return end
        if text[end] == "\\":
            self._escaped = True
        else:
            self._in_string = False
            self._see_string()
        return end + 1

    def _read_outside(self, text: str, position: int, stop: int) -> int:
        match = _OUTSIDE.match(text, position, stop)
        position = match.end() if match else position
        if position == stop:
            return position
        char = text[position]
        if char == "`":
            # JSON has no backtick outside strings: a code fence ends here, and the object with it.
            self.ended = True
            return position
        self._see_mark(char)
        return position + 1

    def _see_mark(self, char: str) -> None:
        if char == '"':
            self._in_string, self._string = True, ""
        elif char == "{":
            self._depth += 1
        elif char == "}":
            self._depth -= 1
            self.ended = self._depth == 0
        elif self._depth == 1:
            self._key = self._string if char == ":" else ""
            if char == ":":
                self._see_key()

    def _see_key(self) -> None:
        if self._key in CALLS:
            self._decide(Ownership.OURS)
        elif self._key in _LIKELY:
            self._patience = None

    def _see_string(self) -> None:
        if self._depth == 1 and self._key == "type" and self._string in KINDS:
            self._decide(Ownership.OURS)

    def _decide(self, verdict: Ownership) -> None:
        if self.verdict is Ownership.UNDECIDED:
            self.verdict = verdict
