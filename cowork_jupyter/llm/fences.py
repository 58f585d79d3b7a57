"""Code fences in the stream: what a fence opens with, and where fenced code ends."""

from __future__ import annotations

import re
from enum import Enum, auto

PYTHON = frozenset({"python", "py", "python3", "ipython"})
"""What a block of Python may call its language."""

_TICKS = re.compile(r"`*")
_INFO = re.compile(r"[^\s`{]*")
_SPACE = re.compile(r"\s*")
_CODE = re.compile(r"\s+|[^\s`][^\n`]*")


class Inside(Enum):
    """What an opening fence leads to."""

    UNKNOWN = auto()
    OBJECT = auto()
    """A brace comes next."""
    CODE = auto()


class FenceOpening:
    """Reads the backticks, the language and the space after them, up to the first character."""

    def __init__(self) -> None:
        self.inside = Inside.UNKNOWN
        self.ticks = 0
        self._parts = [_TICKS, _INFO, _SPACE]

    def scan(self, text: str, start: int) -> int:
        """Read on from `start`; returns where it stopped, at the first character or for more."""
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

    A backtick on the opening line means that it was no fence at all, but code within a line.
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
        """Whether it is a block, and says that it is Python."""
        return not self._first_line and self._language in PYTHON

    def scan(self, text: str, start: int) -> int:
        """Read on from `start`; returns where it stopped, after the fence or for more."""
        position = start
        while position < len(text) and not self.ended:
            if text[position] == "`":
                self._see_tick()
                position += 1
            else:
                match = _CODE.match(text, position)
                end = match.end() if match else position + 1
                self._see_code(text[position:end])
                position = end
        return position

    def _see_tick(self) -> None:
        self._run += self._line_start
        self.ended = self._first_line or self._run == self._ticks

    def _see_code(self, piece: str) -> None:
        self._run = 0
        if not piece.isspace():
            self._line_start = False
        elif "\n" in piece:
            self._first_line, self._line_start = False, True
