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
from .run_on import RunOnDetector, said_once


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
