"""Streams that come through the Jupyter server, against the same read directly.

Three processes take part, as in life: the model's server (scripted), the Jupyter server, and
this one, which is the browser. They share one clock, so that a token can say when it was sent.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.scripted import Scripted, ScriptedServer, call, text
from tests.scripted.server import last_words

from .bench_server_start import _command, _environment, _wait_for
from .rows import Row

ROUNDS = 11
WORDS = 3000
CONTEXTS, MOST_CONTEXTS = 50, 200
"""What figures are promised for, and what a server must live through."""
STAMPS, PAUSE = 240, 0.05
RAMP = 6.0
"""Seconds over which the contexts begin; each streams for twice as long, so all overlap."""
IDLE_SECONDS = 5.0
AUTHORIZATION = {"Authorization": "token t"}
GIVE_UP = 60.0
"""Seconds without an event after which one must have been lost."""


class StampedTokens(list[str]):
    """Tokens that say when they are sent: each is made one pause before it goes out.

    No figures, of which no answer has hundreds: each would be looked for in the outputs.
    """

    def __iter__(self) -> Iterator[str]:
        return (f"at-{time.time() + PAUSE:.6f} " for _ in range(STAMPS))


def script(body: dict[str, Any]) -> Scripted:
    words = last_words(body, "user")
    if "paced" in words:
        return Scripted(tokens=StampedTokens(), delay=PAUSE)
    if "short" in words:
        return text("A short answer.")
    if "command" in words:
        return call("execute_command", command="true", terminate=True)
    return Scripted(tokens=["words "] * WORDS)


def measure() -> Iterator[Row]:
    with model_server() as model, jupyter_server(model) as jupyter:
        yield from asyncio.run(one_stream(model, jupyter))
        yield from asyncio.run(many_streams(jupyter, CONTEXTS))
        yield from asyncio.run(many_streams(jupyter, MOST_CONTEXTS))
        yield health(jupyter)
        busy = idle_percent(jupyter)
    with jupyter_server(model, extension=False) as plain:
        nothing = idle_percent(plain)
    yield Row(
        "idle server, CPU above plain Jupyter",
        busy - nothing,
        "%",
        1,
        f"{busy:.2f} % of a core against {nothing:.2f} %, over {IDLE_SECONDS:g} s",
    )


# The other processes


@dataclass
class Jupyter:
    """A Jupyter server in a process of its own."""

    port: int
    pid: int

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        answer = await AsyncHTTPClient(max_clients=MOST_CONTEXTS).fetch(
            f"http://127.0.0.1:{self.port}/cowork/{path}",
            method="POST",
            body=json.dumps(body),
            headers=AUTHORIZATION,
            request_timeout=GIVE_UP,
        )
        return json.loads(answer.body)

    async def watch(self) -> Watcher:
        """A new context, with its events coming in."""
        context_id = (await self.post("context", {}))["id"]
        url = f"ws://127.0.0.1:{self.port}/cowork/context/{context_id}/events/ws"
        return Watcher(
            self, context_id, await websocket_connect(HTTPRequest(url, headers=AUTHORIZATION))
        )


@contextmanager
def model_server() -> Iterator[str]:
    command = [sys.executable, "-m", "measure.bench.bench_http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def jupyter_server(model: str, *, extension: bool = True) -> Iterator[Jupyter]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            _command(port, folder, extension=extension),
            env={
                **_environment(Path(folder)),
                "COWORK_BASE_URL": model,
                "COWORK_MODEL": "scripted",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token=t", time.perf_counter() + 60)
            yield Jupyter(port, process.pid)
        finally:
            process.terminate()
            process.wait()


# What is measured


@dataclass
class Watcher:
    """One context, seen through its WebSocket."""

    jupyter: Jupyter
    context_id: str
    socket: WebSocketClientConnection
    text: str = ""
    times: list[float] = field(default_factory=list)
    """When text came."""
    lags: list[float] = field(default_factory=list)
    """Seconds from the model's byte to the event, for each stamp."""

    async def ask(self, words: str) -> None:
        """Send a message and follow the events to the end of the job."""
        asking = asyncio.ensure_future(
            self.jupyter.post(f"context/{self.context_id}/messages", {"content": words})
        )
        seq = 0
        while True:
            message = await asyncio.wait_for(self.socket.read_message(), GIVE_UP)
            now = time.time()
            assert message is not None, "the socket was closed"
            event = json.loads(message)
            assert event["seq"] > seq, f"event {event['seq']} after {seq}"
            seq = event["seq"]
            if event["type"] == "text-delta":
                self._take(event["data"]["text"], now)
            if event["type"] == "job-completed":
                assert event["data"]["status"] == "completed", event
                break
        await asking
        self.socket.close()

    def _take(self, text: str, now: float) -> None:
        self.times.append(now)
        self.text += text
        self.lags += [now - float(stamp) for stamp in re.findall(r"\d+\.\d{6}", text)]


async def one_stream(model: str, jupyter: Jupyter) -> list[Row]:
    direct: list[tuple[float, float]] = []
    through: list[tuple[float, float]] = []
    async with openai.AsyncOpenAI(base_url=model, api_key="none") as client:
        for _ in range(ROUNDS + 1):
            direct.append(await read_directly(client))
            through.append(await read_through(jupyter))
    # The first round loads libraries; it is not counted.
    first = [statistics.median(one[0] for one in runs[1:]) for runs in (through, direct)]
    last = [statistics.median(one[1] for one in runs[1:]) for runs in (through, direct)]
    rates = [WORDS / seconds for seconds in last]
    return [
        Row(
            "stream through the server, throughput against the openai client",
            rates[0] / rates[1],
            "×",
            0.9,
            f"{rates[0]:.0f} against {rates[1]:.0f} tokens/s, median of {ROUNDS}",
            at_least=True,
        ),
        Row(
            "stream through the server, added time to first text",
            (first[0] - first[1]) * 1000,
            "ms",
            12,
            f"{first[0] * 1000:.1f} ms against {first[1] * 1000:.1f} ms, median of {ROUNDS}",
        ),
    ]


async def read_directly(client: openai.AsyncOpenAI) -> tuple[float, float]:
    """Seconds to the first text, and to the last."""
    began, times, text = time.time(), [], ""
    stream = await client.chat.completions.create(
        model="scripted", messages=[{"role": "user", "content": "fast"}], stream=True
    )
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            text += chunk.choices[0].delta.content
            times.append(time.time())
    assert text.split() == ["words"] * WORDS
    return times[0] - began, times[-1] - began


async def read_through(jupyter: Jupyter) -> tuple[float, float]:
    watcher = await jupyter.watch()
    began = time.time()
    await watcher.ask("fast")
    assert watcher.text.split() == ["words"] * WORDS
    return watcher.times[0] - began, watcher.times[-1] - began


async def many_streams(jupyter: Jupyter, contexts: int) -> list[Row]:
    watchers = [await jupyter.watch() for _ in range(contexts)]
    waits = [RAMP * place / contexts for place in range(contexts)]
    own_times: list[float] = []
    own = asyncio.ensure_future(own_answers(jupyter, own_times))
    await asyncio.gather(*map(ask_later, watchers, waits))
    own.cancel()
    lags = [lag for watcher in watchers for lag in watcher.lags]
    lost = contexts * STAMPS - len(lags)
    p50, p95 = (statistics.quantiles(lags, n=100)[place - 1] * 1000 for place in (50, 95))
    own_p95 = statistics.quantiles(own_times, n=100)[94]
    name, is_promised = f"{contexts} contexts at once", contexts == CONTEXTS
    return [
        Row(
            f"{name}, model's byte to event, p95",
            p95,
            "ms",
            80 if is_promised else None,
            f"{contexts / PAUSE:.0f} tokens/s in all, median {p50:.1f} ms, "
            f"worst {max(lags) * 1000:.0f} ms",
        ),
        Row(
            f"{name}, Jupyter's own p95",
            own_p95,
            "ms",
            30 if is_promised else None,
            f"GET /api/status; median {statistics.median(own_times):.1f} ms, "
            f"worst {max(own_times):.0f} ms",
        ),
        Row(f"{name}, tokens lost", lost, "", 0, f"of {contexts * STAMPS}"),
    ]


async def own_answers(jupyter: Jupyter, times: list[float]) -> None:
    """How long Jupyter takes for what is its own, in milliseconds from when each was due."""
    client, due = AsyncHTTPClient(max_clients=MOST_CONTEXTS), time.perf_counter()
    url = f"http://127.0.0.1:{jupyter.port}/api/status"
    while True:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await client.fetch(url, headers=AUTHORIZATION, request_timeout=GIVE_UP)
        times.append((time.perf_counter() - due) * 1000)
        due += PAUSE


async def ask_later(watcher: Watcher, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await watcher.ask("paced")


def health(jupyter: Jupyter) -> Row:
    connection = http.client.HTTPConnection("127.0.0.1", jupyter.port)
    times = []
    for _ in range(300):
        began = time.perf_counter()
        connection.request("GET", "/cowork/health", headers=AUTHORIZATION)
        connection.getresponse().read()
        times.append((time.perf_counter() - began) * 1000)
    return Row("GET health", statistics.median(times), "ms", 2, f"median of {len(times)}, warm")


def idle_percent(jupyter: Jupyter) -> float:
    """Percent of a core that the server uses while nobody asks for anything."""
    process = psutil.Process(jupyter.pid)
    time.sleep(3)  # whatever comes after a start or a load
    before = sum(process.cpu_times()[:2])
    time.sleep(IDLE_SECONDS)
    used: float = sum(process.cpu_times()[:2]) - before
    return used / IDLE_SECONDS * 100


if __name__ == "__main__":
    with ScriptedServer(script) as server:
        print(server.base_url, flush=True)
        threading.Event().wait()
