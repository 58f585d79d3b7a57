"""From the chunks of a stream to what is shown, and to one `Reply`, whatever the protocol."""

from __future__ import annotations

from dataclasses import dataclass

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
from .reply import Delta, Reply, ReplyParser


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

    def __init__(self) -> None:
        self.usage = Usage()
        """Tokens spent, failed attempts included as far as the server told."""
        self._spent = Usage()
        self._begin()

    def _begin(self) -> None:
        self.finish_reason = ""
        self._parser = ReplyParser()
        self._calls: dict[int, list[_NativeCall]] = {}

    @property
    def reply(self) -> Reply:
        """The reply so far; complete after `finish`."""
        return self._parser.reply

    def feed(self, chunk: Chunk) -> list[Delta]:
        """Take in a chunk; returns what can be shown now."""
        match chunk:
            case TextChunk(text):
                return self._parser.feed(text)
            case ReasoningChunk(text):
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
