"""What one piece of streamed text costs in each layer on its way from the model to the page."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import openai

from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.domain.events import Event, TextStreamed, type_of
from cowork_jupyter.domain.identity import now
from cowork_jupyter.llm.chunks import TextChunk
from cowork_jupyter.llm.reader import ReplyReader
from cowork_jupyter.store import Store
from cowork_jupyter.store.journal import EventBus

from .bench_http import WORDS, model_server, read_directly
from .rows import Row

CLIENT = "HTTP client"
"""What everybody pays who streams from a model."""
PIECES = 3000
ROUNDS = 5
"""The best of them: everything else on the machine only adds."""


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder, model_server() as model:
        costs = {
            CLIENT: (client(model), "the openai client, read directly; its server beside"),
            "parser": (parser(), "our reader of replies"),
            "store": (store(Path(folder)), "one transaction a piece"),
            "bus": (asyncio.run(bus()), "to one subscriber"),
            "socket": (socket(), "the event as JSON; without the system's calls"),
        }
    theirs, _ = costs[CLIENT]
    whole = sum(cost for cost, _ in costs.values())
    for layer, (cost, note) in costs.items():
        share = f"{cost:.0f} µs, {cost / whole:.0%} of all"
        yield Row(
            f"a piece of text, {layer} against the HTTP client",
            cost / theirs,
            "×",
            1,
            f"{share}; {note}",
        )


def client(model: str) -> float:
    async def read() -> float:
        async with openai.AsyncOpenAI(base_url=model, api_key="none") as asked:
            return min([(await read_directly(asked))[1] for _ in range(ROUNDS)])

    return asyncio.run(read()) / WORDS * 1e6


def parser() -> float:
    def read() -> float:
        reader, began = ReplyReader(), time.perf_counter()
        for _ in range(PIECES):
            reader.feed(TextChunk("words "))
        reader.finish()
        return time.perf_counter() - began

    return min(read() for _ in range(ROUNDS)) / PIECES * 1e6


def store(folder: Path) -> float:
    def write() -> float:
        began = time.perf_counter()
        for _ in range(PIECES):
            with opened.transaction() as tx:
                tx.append_event(context.id, TextStreamed(text="words "), "job")
        return time.perf_counter() - began

    with Store(folder / "layers.sqlite") as opened:
        context = opened.save_context(Context())
        return min(write() for _ in range(ROUNDS)) / PIECES * 1e6


class Nothing:
    """A store with no events: all come over the bus."""

    def events(self, _context_id: str, _after: int, _limit: int) -> list[Event]:
        return []


async def bus() -> float:
    async def show() -> float:
        shown, bus = 0, EventBus(Nothing())
        events = [made(seq) for seq in range(1, PIECES + 1)]
        async with aclosing(bus.subscribe("ctx")) as following:
            reading = asyncio.ensure_future(anext(following))
            await asyncio.sleep(0.01)
            began = time.perf_counter()
            for event in events:
                bus.publish(event)
                assert (await reading).seq == event.seq
                shown += 1
                reading = asyncio.ensure_future(anext(following))
            seconds = time.perf_counter() - began
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        assert shown == PIECES
        return seconds

    return min([await show() for _ in range(ROUNDS)]) / PIECES * 1e6


def socket() -> float:
    def say() -> float:
        began = time.perf_counter()
        for event in events:
            body = event.model_dump(mode="python")
            json.dumps({"type": "event", "subscription": 1, "event": body})
        return time.perf_counter() - began

    events = [made(seq) for seq in range(1, PIECES + 1)]
    return min(say() for _ in range(ROUNDS)) / PIECES * 1e6


def made(seq: int) -> Event:
    data = TextStreamed(text="words ")
    return Event(
        seq=seq, type=type_of(data), context_id="ctx", job_id="job", created_at=now(), data=data
    )
