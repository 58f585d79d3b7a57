"""From the chunks of a stream to what is shown, and to one `Reply`, whatever the protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..domain.contexts import Usage
from .chunks import (
    Chunk,
    Finished,
    ReasoningChunk,
    Restarted,
    TextChunk,
    ToolCallChunk,
    UsageChunk,
)
from .reply import Delta, Reply
from .reply_parser import ReplyParser

WINDOW, WINDOW_IN_DATA = 600, 4_000
"""Characters that must repeat themselves; files and code may do so for longer, and mean it."""
MAX_UNIT = 150
_EVERY = 50


class RunOnDetector:
    """Fed with what a model writes, says once it is only copies of the same."""

    def __init__(self) -> None:
        self.found = False
        self._tail = ""
        self._unchecked = 0

    def add(self, text: str, *, in_data: bool = False) -> None:
        """Take in the next piece; every so many characters it is compared with itself."""
        self._tail = (self._tail + text)[-WINDOW_IN_DATA:]
        self._unchecked += len(text)
        if self._unchecked < _EVERY:
            return
        self._unchecked = 0
        window = WINDOW_IN_DATA if in_data else WINDOW
        tail = self._tail[-window:]
        self.found = self.found or (len(tail) == window and unit_of(tail) is not None)


def unit_of(text: str) -> int | None:
    """The length of what a text consists of copies of, the last one maybe cut; None if of none."""
    # Whatever repeats itself holds its own beginning again, one unit later.
    beginning = text[:-MAX_UNIT]
    size = text.find(beginning, 1)
    while 0 < size <= MAX_UNIT:
        if text[size:] == text[:-size]:
            return size
        size = text.find(beginning, size + 1)
    return None


def said_once(text: str) -> str:
    """A text that ends in copies of the same, with the first of them only."""
    size = unit_of(text[-WINDOW // 2 :])
    if size is None:
        return text
    start = len(text) - size
    while start > 0 and text[start - 1] == text[start - 1 + size]:
        start -= 1
    end = text.find("\n", start + size - 1)  # what is kept ends with its line
    return text[: start + size if end < 0 else min(end, start + 2 * size)].rstrip()


@dataclass
class _NativeCall:
    id: str
    name: str
    arguments: list[str]


class ReplyReader:
    """Fed with chunks, gives what to show now; after `finish`, `reply` is the whole.

        reader = ReplyReader()
        async for chunk in model.stream(request):
            show(reader.feed(chunk))
        show(reader.finish())
        act_on(reader.reply)

    A `Restarted` chunk makes it start over: what was shown of this reply is to be taken back.
    """

    def __init__(self, *, ends_with_code: bool = False) -> None:
        """`ends_with_code`: a block of Python is all that is wanted."""
        self._ends_with_code = ends_with_code
        self.usage = Usage()
        """Tokens spent, failed attempts included as far as the server told."""
        self._spent = Usage()
        self._begin()

    def _begin(self) -> None:
        self.finish_reason = ""
        self._parser = ReplyParser(ends_with_code=self._ends_with_code)
        self._run_on = RunOnDetector()
        self._calls: dict[int, list[_NativeCall]] = {}

    @property
    def reply(self) -> Reply:
        """The reply so far; complete after `finish`."""
        reply = self._parser.reply
        if reply.cut == "repetition":
            return replace(reply, text=said_once(reply.text), raw=said_once(reply.raw))
        return reply

    @property
    def is_whole(self) -> bool:
        """Whether the rest of the stream can be spared: all is said, or said over and over."""
        return self._parser.is_whole or self._run_on.found

    @property
    def has_native_calls(self) -> bool:
        """Whether the model called tools by the API's own means."""
        return bool(self._calls)

    def feed(self, chunk: Chunk) -> list[Delta]:
        """Take in a chunk; returns what can be shown now."""
        match chunk:
            case TextChunk(text):
                self._run_on.add(text, in_data=self._parser.is_in_data)
                return self._parser.feed(text)
            case ReasoningChunk(text):
                self._run_on.add(text)
                return self._parser.feed_reasoning(text)
            case ToolCallChunk():
                self._collect(chunk)
            case UsageChunk(usage):
                self.usage = self._spent + usage
            case Finished(reason):
                self.finish_reason = reason
            case Restarted():
                self._spent = self.usage
                self._begin()
        return []

    def finish(self) -> list[Delta]:
        """The stream has ended; returns what was still held back."""
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
