"""Reads some lines of a file that may be far larger than memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Lines:
    """Consecutive lines of a file with `total` lines."""

    data: bytes
    first: int
    last: int
    total: int
    cut_in_line: bool
    """Whether the last line alone exceeded the limit, and is cut."""


def read_lines(file: BinaryIO, start: int, end: int, limit: int) -> Lines:
    """Lines `start` to `end` (from 1, inclusive), as many as fit into `limit` bytes."""
    kept = bytearray()
    breaks = 0
    ends_with_break = True
    while chunk := file.read(_CHUNK):
        if len(kept) <= limit:
            here = breaks + 1
            kept += chunk[_after(chunk, start - here) : _after(chunk, end + 1 - here)]
        breaks += chunk.count(b"\n")
        ends_with_break = chunk.endswith(b"\n")
    data, cut_in_line = _whole_lines(bytes(kept), limit)
    return Lines(
        data=data,
        first=start,
        last=start - 1 + _count(data),
        total=breaks + (not ends_with_break),
        cut_in_line=cut_in_line,
    )


def _after(chunk: bytes, breaks: int) -> int:
    """The position after that many line breaks, or the end if there are fewer."""
    if breaks > chunk.count(b"\n"):
        return len(chunk)
    position = 0
    for _ in range(breaks):
        position = chunk.find(b"\n", position) + 1
    return position


def _whole_lines(data: bytes, limit: int) -> tuple[bytes, bool]:
    """At most `limit` bytes, ending after a line unless the first is larger than that."""
    if len(data) <= limit:
        return data, False
    end = data.rfind(b"\n", 0, limit) + 1
    return (data[:end], False) if end else (data[:limit], True)


def _count(data: bytes) -> int:
    return data.count(b"\n") + bool(data and not data.endswith(b"\n"))
