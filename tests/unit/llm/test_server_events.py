"""Server-sent events out of reads that end anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from cowork_jupyter.llm.client import MAX_LINE, EventDecoder, read_events

STREAM = (
    b': hello\nevent: message\ndata: {"a":\ndata:1}\n\nid: 3\ndata: "\xc3\xbc"\n\ndata: [DONE]\n\n'
)
EVENTS = [b'{"a":\n1}', b'"\xc3\xbc"']


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("size", range(1, len(STREAM) + 20))
def test_reads_may_end_anywhere(size: int, ending: bytes) -> None:
    stream, decoder = STREAM.replace(b"\n", ending), EventDecoder()
    reads = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [event for read in reads for event in decoder.feed(read)] == EVENTS
    assert decoder.is_done


def test_nothing_counts_after_the_end() -> None:
    decoder = EventDecoder()
    assert decoder.feed(b"data: 1\n\ndata: [DONE]\n\ndata: 2\n\n") == [b"1"]
    assert decoder.feed(b"data: 3\n\n") == []


def test_fields_that_only_begin_alike_are_no_data() -> None:
    assert EventDecoder().feed(b"database: 1\n\ndata\n\n:data: 2\n\n") == []


def test_a_line_that_never_ends_is_given_up_soon() -> None:
    decoder, piece = EventDecoder(), b"x" * 65_536
    for _ in range(MAX_LINE // len(piece)):
        assert decoder.feed(piece) == []
    with pytest.raises(ValueError, match="without an end"):
        decoder.feed(piece)


@pytest.mark.asyncio
async def test_what_one_read_brings_comes_together_and_the_rest_is_read_out() -> None:
    reads: list[bytes] = [b"data: 1\n\ndata: 2\n\nda", b"ta: 3\n\n", b"data: [DONE]\n\n", b"", b"x"]

    async def network() -> AsyncIterator[bytes]:
        while reads:
            yield reads.pop(0)

    assert [events async for events in read_events(network())] == [[b"1", b"2"], [b"3"]]
    assert reads == []


@pytest.mark.asyncio
async def test_a_server_that_never_closes_is_not_waited_for() -> None:
    async def network() -> AsyncIterator[bytes]:
        yield b"data: 1\n\ndata: [DONE]\n\n"
        await asyncio.Event().wait()

    async with asyncio.timeout(5):
        assert [events async for events in read_events(network())] == [[b"1"]]
