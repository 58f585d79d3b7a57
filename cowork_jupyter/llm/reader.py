"""Turns the chunks of a stream into deltas to show and one `Reply`, for every protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..domain.contexts import Usage
from .chunks import Chunk, Finished, ReasoningChunk, Restarted, TextChunk, ToolCallChunk, UsageChunk
from .repetition import RunOnDetector, without_repetition
from .reply import Delta, Reply, TextDelta
from .reply_parser import ReplyParser

MAX_TEXT = 100_000
"""Characters of text that one reply may show."""
_SLICE = 1_000
"""Characters that are looked at together, however many come at once."""


@dataclass
class _NativeCall:
    id: str
    name: str
    arguments: list[str]


class ReplyReader:
    """Feed it chunks and show what it returns; after `finish`, `reply` is complete.

    A `Restarted` chunk starts over: what was shown of this reply must be taken back.
    """

    def __init__(self, *, ends_with_code: bool = False) -> None:
        """`ends_with_code`: the reply is complete with its first Python block."""
        self._ends_with_code = ends_with_code
        self.usage = Usage()
        """Includes failed attempts, as far as the server reported them."""
        self._spent = Usage()
        self._begin()

    def _begin(self) -> None:
        self.finish_reason = ""
        self._parser = ReplyParser(ends_with_code=self._ends_with_code)
        self._run_on = RunOnDetector()
        self._calls: dict[int, list[_NativeCall]] = {}
        self._text_length = 0

    @property
    def reply(self) -> Reply:
        reply = self._parser.reply
        return replace(reply, raw=without_repetition(reply.raw)) if self._run_on.found else reply

    @property
    def is_whole(self) -> bool:
        """Whether the rest of the stream can be skipped: the reply is complete or repeats
        itself.
        """
        return self._parser.is_whole or self._run_on.found

    @property
    def is_too_long(self) -> bool:
        return self._text_length >= MAX_TEXT

    @property
    def has_native_calls(self) -> bool:
        return bool(self._calls)

    def feed(self, chunk: Chunk) -> list[Delta]:
        match chunk:
            case TextChunk(text):
                return self._feed(text, self._parser.feed)
            case ReasoningChunk(text):
                return self._feed(text, self._parser.feed_reasoning)
            case ToolCallChunk():
                self._run_on.add(chunk.arguments, in_data=True)
                self._collect(chunk)
            case UsageChunk(usage):
                self.usage = self._spent + usage
            case Finished(reason):
                self.finish_reason = reason
            case Restarted():
                self._spent = self.usage
                self._begin()
        return []

    def _feed(self, text: str, parse: Callable[[str], list[Delta]]) -> list[Delta]:
        """Nothing more is shown of a reply that has run on long enough."""
        deltas: list[Delta] = []
        for start in range(0, len(text), _SLICE):
            has_run_on = self._run_on.found and not self._parser.is_in_data  # which is not shown
            if has_run_on or self.is_too_long:
                break
            piece = text[start : start + _SLICE]
            new = parse(piece)
            self._run_on.add(piece, in_data=self._parser.is_in_data)
            texts = (delta.text for delta in new if isinstance(delta, TextDelta))
            self._text_length += sum(map(len, texts))
            deltas += new
        return deltas

    def finish(self) -> list[Delta]:
        if self._run_on.found:
            self._parser.cut = "repetition"
        elif self.finish_reason == "length":
            self._parser.cut = "length"
        for calls in self._calls.values():
            for call in calls:
                self._parser.add_call(call.name, "".join(call.arguments))
        return self._parser.finish()

    def _collect(self, chunk: ToolCallChunk) -> None:
        """Add a fragment to its call. Some servers give every call the same index."""
        calls = self._calls.setdefault(chunk.index, [])
        if not calls or (chunk.id and chunk.id != calls[-1].id and chunk.name):
            calls.append(_NativeCall(chunk.id, chunk.name, [chunk.arguments]))
            return
        call = calls[-1]
        call.id = call.id or chunk.id
        call.name = call.name or chunk.name
        call.arguments.append(chunk.arguments)
