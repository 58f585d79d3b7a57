"""Incremental parser of replies: separates text, reasoning and JSON while they stream in.

Text is shown immediately; what may be JSON for us is held back until a key decides (see `objects`).
JSON counts bare, in a code fence, or after prose, also on the same line after a space or a colon;
other braces, JSON and fenced code are ordinary text. White space around the text, and around
extracted JSON, is dropped.

`<think>…</think>` is reasoning, also if never closed. Inside JSON, in fenced code and right after a
backtick the tags are only characters. Some models omit the opening tag: at a lone `</think>` the
text already shown stays, but JSON before it was a thought, and is dropped rather than run.

A reply is complete with its first object for us or, on request, with its first Python block. What
follows is neither shown nor run: small models continue with copies of the same call, or with
invented results.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from typing import Any

from ..domain.messages import Cut
from .reply import Delta, ReasoningDelta, Reply, StreamedText, SurrogateJoiner, TextDelta
from .scanners import CALLS, CodeScanner, FenceOpening, Inside, ObjectScanner, Ownership
from .structured import FORMATS, MalformedReply, build_reply, load_object

_OPEN, _CLOSE = "<think>", "</think>"
_PLAIN = re.compile(r"\s+|[^<{\n]+")
_OF_RESULTS = frozenset({"status", "summary"})
_BEFORE_OBJECT = (" ", "\t", ":")
_MAY_BE_THOUGHT = 2_000
"""Within this many characters after a call, a lone `</think>` still turns it into a thought."""


def read_reply(text: str) -> Reply:
    parser = ReplyParser()
    parser.feed(text)
    parser.finish()
    return parser.reply


def _is_format(value: dict[str, Any]) -> bool:
    """Many foreign objects have type `result`, too."""
    kind = value.get("type")
    if kind == "result" and _OF_RESULTS.isdisjoint(value):
        return False
    return isinstance(kind, str) and kind in FORMATS


class ReplyParser:
    """Incremental parser; after `finish`, `reply` is complete.

    Each state is a method that reads from a position and returns how far it got. What it cannot
    decide without more text it leaves in `_carry`, never more than a tag's length.
    """

    def __init__(self, *, ends_with_code: bool = False) -> None:
        """`ends_with_code`: the reply is complete with its first Python block."""
        self._ends_with_code = ends_with_code
        self.cut: Cut = ""
        self._patience = 0
        self._raw: list[str] = []
        self._text, self._reasoning = StreamedText(), StreamedText()
        self._text_joiner, self._reasoning_joiner = SurrogateJoiner(), SurrogateJoiner()
        self._deltas: list[Delta] = []
        self._parsed: list[dict[str, Any]] = []
        self._problem: str | None = None
        self._state: Callable[[str, int], int] = self._in_text
        self._carry = ""
        self._held: list[str] = []
        self._line_start = True
        self._last = ""
        """The character shown last: it decides whether an object may begin."""
        self._after_object = False
        self._in_our_fence = False
        self._object = ObjectScanner()
        self._opening: FenceOpening | None = None
        self._code = CodeScanner(0, "")

    def feed(self, text: str) -> list[Delta]:
        self._read(self._text_joiner.join(text))
        return self._take_deltas()

    def feed_reasoning(self, text: str) -> list[Delta]:
        self._reason(self._reasoning_joiner.join(text))
        return self._take_deltas()

    def add_call(self, name: str, arguments: str) -> None:
        self._raw.append(f"\n{name}({arguments})")
        try:
            # An API closes what it sends: unclosed arguments were cut off.
            parameters = load_object(arguments, may_close=False) if arguments.strip() else {}
        except MalformedReply as error:
            self._problem = self._problem or f"The arguments of {name}: {error}"
        else:
            self._parsed.append({"tool": name, "parameters": parameters})

    @property
    def is_whole(self) -> bool:
        """Whether nothing that may still come counts."""
        return self._state == self._in_rest and self._patience <= 0

    @property
    def is_in_data(self) -> bool:
        """Whether it is inside an object or code, which may legitimately be repetitive."""
        return self._state in (self._in_object, self._in_code)

    def finish(self) -> list[Delta]:
        """End of the reply: what was held back is text, or a problem."""
        self._read(self._text_joiner.flush())
        self._reason(self._reasoning_joiner.flush())
        if self._state == self._in_thought:
            self._reason(self._carry)
        elif self._state == self._in_rest:
            pass
        elif self._state == self._in_object and self._object.verdict is Ownership.OURS:
            self._take_object()
        else:
            self._release()
            self._show(self._carry)
            self._raw.append(self._carry)
        self._carry = ""
        return self._take_deltas()

    @property
    def reply(self) -> Reply:
        structured, problem = None, self._problem
        if self._parsed and problem is None:
            try:
                structured = build_reply(self._parsed)
            except MalformedReply as error:
                problem = str(error)
        return Reply(
            text=self._text.value,
            reasoning=self._reasoning.value,
            structured=structured,
            problem=problem,
            raw="".join(self._raw),
            cut=self.cut,
        )

    def _read(self, text: str) -> None:
        text, self._carry = self._carry + text, ""
        position = 0
        while position < len(text):
            state, start = self._state, position
            position = state(text, start)
            if state != self._in_rest and self._in_thought not in (state, self._state):
                self._raw.append(text[start : position - len(self._carry)])

    def _show(self, piece: str) -> None:
        self._last = piece[-1:] or self._last
        body = piece.rstrip()
        if body:
            self._line_start = self._after_object = False
        if "\n" in piece[len(body) :]:
            self._line_start = True
        if text := self._text.write(piece):
            self._deltas.append(TextDelta(text))

    def _reason(self, piece: str) -> None:
        if text := self._reasoning.write(piece):
            self._deltas.append(ReasoningDelta(text))

    def _take_deltas(self) -> list[Delta]:
        deltas, self._deltas = self._deltas, []
        return [
            kind("".join(delta.text for delta in group)) for kind, group in groupby(deltas, type)
        ]

    def _in_text(self, text: str, position: int) -> int:
        char = text[position]
        if char == "{" and (self._line_start or self._last.endswith(_BEFORE_OBJECT)):
            return self._begin_object(position)
        if self._line_start and char == "`":
            return self._read_ticks(text, position)
        if self._after_object and char == ",":
            return position + 1
        if char == "<":
            return self._read_tag(text, position)
        match = _PLAIN.match(text, position)
        end = match.end() if match else position + 1
        self._show(text[position:end])
        return end

    def _read_tag(self, text: str, position: int) -> int:
        rest = text[position : position + len(_CLOSE)]
        for tag in (_OPEN, _CLOSE):
            if rest.startswith(tag) and not self._text.ends_with("`"):
                self._turn(tag)
                return position + len(tag)
            if len(rest) < len(tag) and tag.startswith(rest):
                self._carry = rest
                return len(text)
        self._show("<")
        return position + 1

    def _turn(self, tag: str) -> None:
        self._line_start = True
        if tag == _OPEN:
            self._state = self._in_thought
        elif self._reasoning.is_empty:
            self._parsed.clear()
            self._problem = None

    def _in_thought(self, text: str, position: int) -> int:
        end = text.find(_CLOSE, position)
        if end >= 0:
            self._reason(text[position:end])
            self._state = self._in_text
            return end + len(_CLOSE)
        end = _before_tag(text, position)
        self._reason(text[position:end])
        self._carry = text[end:]
        return len(text)

    def _in_rest(self, text: str, position: int) -> int:
        """Drop the rest, unless a `</think>` soon shows that the call was only a thought."""
        end = text.find(_CLOSE, position, position + max(self._patience, 0))
        if end >= 0:
            self._parsed.clear()
            self._problem = None
            self._state, self._line_start = self._in_text, True
            return end + len(_CLOSE)
        end = _before_tag(text, position) if self._patience > len(text) - position else len(text)
        self._patience -= end - position
        self._carry = text[end:]
        return len(text)

    def _drop_rest(self, patience: int) -> None:
        self._state, self._patience = self._in_rest, patience

    def _begin_object(self, position: int) -> int:
        self._object = ObjectScanner()
        self._state = self._in_object
        return position

    def _in_object(self, text: str, position: int) -> int:
        end = self._object.scan(text, position)
        self._held.append(text[position:end])
        verdict, ended = self._object.verdict, self._object.ended
        if verdict is Ownership.OURS and ended:
            self._take_object()
        elif verdict in (Ownership.FOREIGN, Ownership.PROSE):
            if ended or verdict is Ownership.PROSE:
                self._state = self._in_text
            self._release()
        return end

    def _take_object(self) -> None:
        """Remove our object from the text, with its fence and the space before it."""
        source = "".join(self._held)
        self._held.clear()
        if self._opening:
            source = source[source.index("{") :]
            self._opening, self._in_our_fence = None, True
        self._text.drop_space()
        self._state, self._line_start, self._after_object = self._in_text, True, True
        try:
            self._sort_in(load_object(source, may_close=not self.cut), source)
        except MalformedReply as error:
            self._problem = self._problem or str(error)
        if self._parsed or self._problem:
            was_prose = not self._text.is_empty and self._reasoning.is_empty
            self._drop_rest(_MAY_BE_THOUGHT if was_prose else 0)

    def _sort_in(self, value: dict[str, Any], source: str) -> None:
        kind = value.get("type")
        if not CALLS.isdisjoint(value) or _is_format(value):
            self._parsed.append(value)
        elif kind == "text" and isinstance(value.get("text"), str):
            self._show(value["text"])
        else:
            self._show(source)

    def _release(self) -> None:
        """Not ours: show what was held. The rest of a fence is code."""
        held = "".join(self._held)
        self._held.clear()
        self._show(held)
        if self._opening:
            self._code = CodeScanner(self._opening.ticks, held)
            self._state, self._opening = self._in_code, None

    def _read_ticks(self, text: str, position: int) -> int:
        rest = text[position : position + 3]
        if rest == "```":
            self._state = self._in_closing if self._in_our_fence else self._in_opening
            self._opening = None if self._in_our_fence else FenceOpening()
            return position
        if position + len(rest) == len(text) and not rest.strip("`"):
            self._carry = rest
            return len(text)
        self._show("`")
        return position + 1

    def _in_opening(self, text: str, position: int) -> int:
        opening = self._opening or FenceOpening()
        end = opening.scan(text, position)
        self._held.append(text[position:end])
        if opening.inside is Inside.OBJECT:
            return self._begin_object(end)
        if opening.inside is Inside.CODE:
            self._release()
        return end

    def _in_closing(self, text: str, position: int) -> int:
        if text[position] == "`":
            return position + 1
        self._text.drop_space()
        self._state, self._in_our_fence, self._line_start = self._in_text, False, True
        return position

    def _in_code(self, text: str, position: int) -> int:
        end = self._code.scan(text, position)
        self._show(text[position:end])
        if self._code.ended:
            self._state, self._line_start = self._in_text, False
            if self._ends_with_code and self._code.is_python:
                self._drop_rest(0)
        return end


def _before_tag(text: str, position: int) -> int:
    kept = next(n for n in range(len(_CLOSE) - 1, -1, -1) if text.endswith(_CLOSE[:n]))
    return max(position, len(text) - kept)
