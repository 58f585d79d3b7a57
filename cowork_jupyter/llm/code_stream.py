"""Extracts the code from a model's answer while it streams: no fence, prose or thoughts.

Each character of code is released as soon as it cannot be anything else. In a fence that is
immediately, except for a possible closing fence; without a fence, once the first line has turned
out to be code. Every piece is examined a bounded number of times.
"""

from __future__ import annotations

import ast
import textwrap
from enum import Enum, auto

from .reply import SurrogateJoiner

NOT_THE_CELL = frozenset({"text", "txt", "output", "console", "diff", "traceback", "error"})
"""Languages of blocks that show something else than the wanted code."""
_SHELL = frozenset({"bash", "sh", "shell", "zsh", "powershell", "cmd"})

_OPEN, _CLOSE = "<think>", "</think>"
_MAX_LINE = 4_000
"""A longer line that is not known to be code is taken for prose."""
_MAX_PROSE = 20_000
_THOUGHTS_ARE_LONGER = 400
"""Shorter prose before a block cannot be reasoning without a start mark."""
_MAX_LINES, _MAX_STARTS = 400, 20
"""Bounds for finding code at the end of an answer without a fence."""
_SIGNS_OF_CODE = frozenset("=()[]{}.:#%@!\"'+*/<>")
_WORDS_OF_CODE = ("import ", "from ", "return", "yield", "pass", "break", "continue", "raise",
                  "del ", "global ", "nonlocal ", "async ", "await ", "else:", "try:",
                  "finally:")  # fmt: skip


class _State(Enum):
    BEFORE = auto()
    THOUGHT = auto()
    FENCED = auto()
    BARE = auto()
    AFTER = auto()


class CodeStream:
    def __init__(self, *, bare: bool = False, shell: bool = False) -> None:
        """`bare`: no fence is expected, everything is code. `shell`: shell blocks count as code."""
        self._bare = bare
        self._skipped = NOT_THE_CELL if shell else NOT_THE_CELL | _SHELL
        self._joiner = SurrogateJoiner()
        self._thought = False
        self._begin()

    def _begin(self) -> None:
        self._state = _State.BEFORE
        self._pending = ""
        self._prose: list[str] = []
        self._prose_size = 0
        self._code: list[str] = []
        self._space = ""
        self._ticks, self._indent = 0, 0
        self._line_start = True
        self._is_skipped = False

    @property
    def code(self) -> str:
        text = "".join(self._code)
        return textwrap.dedent(text) if self._indent else text

    @property
    def prose(self) -> str:
        return "".join(self._prose).strip()

    @property
    def is_whole(self) -> bool:
        """Whether the code block has ended and was not part of a thought; the rest can be
        ignored.
        """
        is_sure = self._thought or self._prose_size < _THOUGHTS_ARE_LONGER
        return self._state is _State.AFTER and is_sure

    def feed(self, text: str) -> str | None:
        """Return the code that can be shown now; None if all code so far was only a thought."""
        self._pending += self._joiner.join(text)
        pieces: list[str] = []
        while self._pending:
            state, size = self._state, len(self._pending)
            piece = self._steps[state](self)
            if piece is None:
                return None
            pieces.append(piece)
            if self._state is state and len(self._pending) == size:
                break  # it needs more
        return "".join(pieces)

    def finish(self) -> str:
        rest = self.feed(self._joiner.flush()) or ""
        pending, self._pending = self._pending, ""
        if self._state is _State.FENCED:
            return rest if self._closes(pending) else rest + self._show(pending)
        if self._state is not _State.BEFORE:
            return rest
        if self._bare or is_code(pending):
            return rest + self._show(pending)
        self._keep(pending)
        return rest + self._code_at_end()

    # One step per state; None if everything before it was a thought.

    def _before(self) -> str | None:
        start = self._pending.lstrip()
        if start.startswith(_OPEN):
            self._state, self._thought = _State.THOUGHT, True
            self._pending = start[len(_OPEN) :]
            return ""
        line, newline, rest = self._pending.partition("\n")
        if not newline:
            return self._before_unfinished(start)
        self._line_start = True
        if (ticks := _fence(line)) is not None:
            body = line.lstrip()
            language = body[ticks:].strip().partition(" ")[0].lower()
            self._ticks, self._indent = ticks, len(line) - len(body)
            self._is_skipped = language in self._skipped
            self._space = ""
            self._state, self._pending = _State.FENCED, rest
            return ""
        if (self._bare and line.strip()) or is_code(line):
            self._state = _State.BARE
            return ""
        if self._bare:
            self._space += f"{line}\n"
        else:
            self._keep(f"{line}\n")
        self._pending = rest
        return ""

    def _before_unfinished(self, start: str) -> str:
        may_turn = not start or _OPEN.startswith(start) or start.startswith("``")
        may_turn = may_turn or "```".startswith(start)
        if self._bare and not may_turn:
            self._state = _State.BARE
        elif len(self._pending) > _MAX_LINE:
            self._keep(self._pending)
            self._pending = ""
        return ""

    def _in_thought(self) -> str:
        end = self._pending.find(_CLOSE)
        if end >= 0:
            self._state, self._pending = _State.BEFORE, self._pending[end + len(_CLOSE) :]
        else:
            self._pending = self._pending[-len(_CLOSE) + 1 :]
        return ""

    def _in_fence(self) -> str:
        line, newline, rest = self._pending.partition("\n")
        if self._line_start:
            body = line.strip()
            if not newline and not body.strip("`") and len(line) < _MAX_LINE:
                return ""  # space, or what may be the end
            if newline and self._closes(line):
                self._state = _State.BEFORE if self._is_skipped else _State.AFTER
                self._pending = rest
                return ""
        return self._show_line(line, newline, rest)

    def _in_bare(self) -> str:
        line, newline, rest = self._pending.partition("\n")
        if self._line_start and line.lstrip().startswith("```"):
            if not newline:
                return ""
            self._state = _State.AFTER  # a fence that was closed, and never opened
            return ""
        if self._line_start and not newline and "```".startswith(line.strip() or "x"):
            return ""
        return self._show_line(line, newline, rest)

    def _after(self) -> str | None:
        """Some models omit the start mark of their thoughts: the code was then part of them."""
        end = -1 if self._thought else self._pending.find(_CLOSE)
        if end < 0:
            self._pending = self._pending[-len(_CLOSE) + 1 :]
            return ""
        rest = self._pending[end + len(_CLOSE) :]
        self._begin()
        self._thought, self._pending = True, rest
        return None

    _steps = {
        _State.BEFORE: _before,
        _State.THOUGHT: _in_thought,
        _State.FENCED: _in_fence,
        _State.BARE: _in_bare,
        _State.AFTER: _after,
    }

    def _show_line(self, line: str, newline: str, rest: str) -> str:
        self._pending, self._line_start = rest, bool(newline)
        return self._show(line + newline)

    def _show(self, piece: str) -> str:
        """Hold back trailing space until something follows; drop leading empty lines."""
        if self._is_skipped:
            return ""
        text = self._space + piece
        if not self._code and not self._bare:
            text = text.lstrip("\n")
        body = text.rstrip()
        self._space = text[len(body) :] if body else text
        if body:
            self._code.append(body)
        return body

    def _closes(self, line: str) -> bool:
        body = line.strip()
        return len(body) >= self._ticks and not body.strip("`")

    def _keep(self, text: str) -> None:
        if self._prose_size < _MAX_PROSE:
            self._prose.append(text[: _MAX_PROSE - self._prose_size])
            self._prose_size += len(text)

    def _code_at_end(self) -> str:
        """The last lines of an unfenced answer, from the first that begins code."""
        lines = "".join(self._prose).split("\n")
        if len(lines) > _MAX_LINES:
            return ""
        starts = [place for place, line in enumerate(lines) if is_code(line)][:_MAX_STARTS]
        for start in starts:
            text = "\n".join(lines[start:]).rstrip()
            if parses(text):
                self._prose = ["\n".join(lines[:start])]
                return self._show(text)
        return ""


def _fence(line: str) -> int | None:
    body = line.strip()
    ticks = len(body) - len(body.lstrip("`"))
    return ticks if ticks >= 3 and "`" not in body[ticks:] else None


def is_code(line: str) -> bool:
    text = line.strip()
    if not text or len(text) > _MAX_LINE:
        return False
    if text.startswith(("%", "!", "#", "@")):
        return not text.startswith(("# ", "## ", "### ")) or line.startswith("# ")
    if not (_SIGNS_OF_CODE & set(text) or text.startswith(_WORDS_OF_CODE)):
        return False
    return parses(text) or parses(f"{text}\n    pass") or _opens(text)


def _opens(text: str) -> bool:
    if not text.endswith(("(", "[", "{", ",")) or " " in text.split("(")[0].strip():
        return text.endswith(("(", "[", "{")) and "=" in text
    return True


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
