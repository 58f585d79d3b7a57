"""Streams: how soon the first word is out, and that a long one takes no more memory."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import psutil

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from tests.scripted import ScriptedServer, text

from .rows import Row

ROUNDS = 50
SHORT, LONG = 2_000, 20_000
WORD = "token "


def measure() -> Iterator[Row]:
    yield asyncio.run(first_text())
    yield asyncio.run(memory())


async def first_text() -> Row:
    with ScriptedServer() as server, folder() as place:
        service = service_on(place, server.base_url)
        context = service.conversations.create()
        times: list[float] = []
        for _ in range(ROUNDS + 1):
            server.add(text("Hello to everybody."))
            after = service.journal.store.last_seq(context.id)
            message = service.send_message(context.id, "Hello?")
            async with aclosing(service.journal.bus.subscribe(context.id, after)) as events:
                async for event in events:
                    if event.type is EventType.TEXT_DELTA:
                        break
            seen = time.perf_counter()
            times.append(seen - (server.requests[-1].first_byte or 0))
            await service.jobs.wait(message.job_id or "")
        await service.close()
    milliseconds = [1000 * one for one in times[1:]]  # the first one opens the connection
    return Row(
        "first text out after the first byte",
        statistics.median(milliseconds),
        "ms",
        5,
        f"from the server's socket to a subscriber, stored on the way; median of {ROUNDS}, "
        f"longest {max(milliseconds):.1f} ms",
    )


async def memory() -> Row:
    with folder() as place, server_apart(place) as base_url:
        service = service_on(place, base_url)
        await resident_peak(service, SHORT)  # loads and allocates what every stream needs
        short, long = [await resident_peak(service, tokens) for tokens in (SHORT, LONG)]
        traced = [await traced_peak(service, tokens) for tokens in (SHORT, LONG)]
        await service.close()
    text_itself = len(WORD) * (LONG - SHORT)
    per_token = (traced[1] - traced[0] - text_itself) / (LONG - SHORT)
    return Row(
        f"peak memory of a {LONG:,}-token stream against one of {SHORT:,}",
        long / short,
        "×",
        1.1,
        f"resident in our process, model and server apart: {short / 2**20:.1f} and "
        f"{long / 2**20:.1f} MiB; Python holds {per_token:.0f} B a token beyond its text",
    )


async def resident_peak(service: CoworkService, tokens: int) -> float:
    """The most bytes in memory at any event of the stream, to its very end."""
    process, peak = psutil.Process(), 0.0
    message = service.send_message(service.conversations.create().id, asking(tokens))
    async with aclosing(service.journal.bus.subscribe(message.context_id)) as events:
        async for event in events:
            if event.seq % 50 == 0 or event.type is EventType.JOB_COMPLETED:
                peak = max(peak, process.memory_info().rss)
            if event.type is EventType.JOB_COMPLETED:
                assert event.data.model_dump()["status"] == JobStatus.COMPLETED, event.data
                return peak
    raise AssertionError("the bus was closed")


async def traced_peak(service: CoworkService, tokens: int) -> int:
    """The same as far as Python's own objects go."""
    tracemalloc.start()
    try:
        await resident_peak(service, tokens)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def asking(tokens: int) -> str:
    return f"Say {tokens} tokens."


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@contextmanager
def server_apart(place: Path) -> Iterator[str]:
    """The scripted model in a process of its own, so that its memory is not ours."""
    script = [{"when": asking(tokens), "tokens": [WORD] * tokens} for tokens in (SHORT, LONG)]
    path = place / "script.json"
    path.write_text(json.dumps(script))
    command = [sys.executable, "-m", "tests.scripted", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


def service_on(place: Path, base_url: str) -> CoworkService:
    return build_service(
        Settings(workspace=place, data_dir=place, base_url=base_url, model="scripted")
    )
