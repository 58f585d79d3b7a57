"""A thousand cards in twenty tabs: how long until all are live, and what the server keeps."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator

import psutil
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from .bench_http import AUTHORIZATION, GIVE_UP, Jupyter, jupyter_server, model_server
from .rows import Row

TABS = 20
CARDS = 50
"""In each tab, each of a conversation of its own."""
AT_ONCE = 10


def measure() -> Iterator[Row]:
    with model_server() as model, jupyter_server(model) as jupyter:
        yield from asyncio.run(open_tabs(jupyter))


async def open_tabs(jupyter: Jupyter) -> list[Row]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def talk() -> str:
        """A conversation with one job that has ended."""
        async with gate:
            watcher = await jupyter.watch()
            await watcher.ask("short")
            return watcher.context_id

    contexts = await asyncio.gather(*(talk() for _ in range(TABS * CARDS)))
    process = psutil.Process(jupyter.pid)
    before, began = process.memory_info().rss, time.perf_counter()
    tabs = [contexts[place::TABS] for place in range(TABS)]
    pages = await asyncio.gather(*(open_tab(jupyter, tab) for tab in tabs))
    seconds = time.perf_counter() - began
    kept = (process.memory_info().rss - before) / (TABS * CARDS) / 1024
    for page in pages:
        page.close()
    what = f"{TABS * CARDS:,} cards in {TABS} tabs"
    return [
        Row(f"{what}, until all are live", seconds, "s", 5, "each with all events of its job"),
        Row(f"{what}, memory for each", kept, "KiB", 50, f"of {before / 2**20:.0f} MiB before"),
    ]


async def open_tab(jupyter: Jupyter, contexts: list[str]) -> WebSocketClientConnection:
    url = f"ws://127.0.0.1:{jupyter.port}/cowork/ws"
    page = await websocket_connect(HTTPRequest(url, headers=AUTHORIZATION))
    for number, context in enumerate(contexts):
        frame = {"type": "subscribe", "subscription": number, "context_id": context, "after": 0}
        await page.write_message(json.dumps(frame))
    waiting = set(range(len(contexts)))
    while waiting:
        message = await asyncio.wait_for(page.read_message(), GIVE_UP)
        assert message is not None, "the socket was closed"
        frame = json.loads(message)
        if frame["type"] == "event" and frame["event"]["type"] == "job-completed":
            waiting.discard(frame["subscription"])
    return page
