"""Server-sent events as a network brings them: what came together is read together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress

_FIELD, _DONE = b"data:", b"[DONE]"
MAX_LINE = 32 * 1024 * 1024
"""Bytes without the end of a line after which it is no stream of events."""
_DRAIN_SECONDS = 0.1
"""What comes after the end is waited for so long: a connection that was read out is used again."""


class EventDecoder:
    """Fed with bytes, gives the data of the events that are whole."""

    def __init__(self) -> None:
        self.is_done = False
        """Whether the server has said that nothing follows."""
        self._begun: list[bytes] = []
        """A line that has not ended yet."""
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """Raises `ValueError` where no line ever ends."""
        self._begun.append(data)
        if b"\n" not in data:  # a carriage return may be half of the end of a line
            if sum(map(len, self._begun)) > MAX_LINE:
                raise ValueError("a line without an end")
            return []
        lines = b"".join(self._begun).splitlines(keepends=True)
        self._begun = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        events = filter(None, [self._take(line.rstrip(b"\r\n")) for line in lines])
        return [event for event in events if not self._is_end(event)]

    def _take(self, line: bytes) -> bytes:
        """The data of the event that ends with this line, if one does."""
        if line.startswith(_FIELD):
            self._data.append(line[len(_FIELD) :].removeprefix(b" "))
        if line or not self._data:  # other fields, and comments that keep the connection open
            return b""
        event, self._data = b"\n".join(self._data), []
        return event

    def _is_end(self, event: bytes) -> bool:
        self.is_done = self.is_done or event.startswith(_DONE)
        return self.is_done


async def read_events(reads: AsyncIterator[bytes]) -> AsyncGenerator[list[bytes], None]:
    """The events of a response; each list is what one read has brought, never empty."""
    decoder = EventDecoder()
    async for data in reads:
        if events := decoder.feed(data):
            yield events
        if len(events) > 1:  # a flood must not hold up everybody else
            await asyncio.sleep(0)
        if decoder.is_done:
            break
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in reads:
                pass
