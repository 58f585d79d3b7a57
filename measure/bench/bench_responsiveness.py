"""Jupyter's own answers while our disk is in trouble: `GET /api/status`, p99.

Requests are due at fixed times, whether the one before was answered or not, and each is counted
from when it was due: a server that is frozen for ten seconds is seen as that, not as one request.
"""

from __future__ import annotations

import http.client
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from measure.soak.disk import small_disk
from measure.soak.house import ROOT
from tests.server.live import TOKEN, LiveServer, live_server

from .bench_checkpoints import BYTES, FILES, fill
from .bench_http import model_server
from .rows import Row
from .slow_disk import COMMIT_SECONDS

HEADERS = {"Authorization": f"token {TOKEN}"}
EVERY = 0.02
STREAMS = 20
LOCKED_SECONDS = 13.0
SECONDS = 10.0
LIMIT = 50.0
PATIENCE = 120.0
GIVE_UP = 20.0
"""Seconds after which a server counts as frozen, and is asked again."""


@dataclass
class Answers:
    """Milliseconds from when each was due."""

    times: list[float]

    @property
    def p99(self) -> float:
        return sorted(self.times)[len(self.times) * 99 // 100]

    def row(self, trouble: str, idle: Answers) -> Row:
        note = (
            f"{self.p99 / idle.p99:.1f} × idle; median {statistics.median(self.times):.1f} ms,"
            f" worst {max(self.times):.0f} ms of {len(self.times)}"
        )
        return Row(f"GET /api/status p99, {trouble}", self.p99, "ms", LIMIT, note)


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, model_server() as model:
        folder = Path(name)
        with small_disk(folder / "DATA") as disk, serving(folder, model) as server:
            stream(server, 1)  # loads the service
            idle = ask(server, lambda: time.sleep(SECONDS))
            yield idle.row("idle", idle)
            database = folder / "DATA" / "cowork" / "cowork.sqlite"
            yield during(server, locked(database), LOCKED_SECONDS).row(
                f"another process holds the write lock {LOCKED_SECONDS:g} s", idle
            )
            full = disk.full(server.process_id)
            yield during(server, full, SECONDS).row(f"the disk is full ({disk.kind})", idle)
            fill(folder / "root", FILES, BYTES)
            watched = ask(server, lambda: run_job(server, "command"))
            yield watched.row(f"a checkpoint of {FILES:,} files", idle)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, model_server() as model:
        extensions = {"cowork_jupyter": True, "measure.bench.slow_disk": True}
        slow = f"--ServerApp.jpserver_extensions={extensions!r}"
        with serving(Path(name), model, slow) as server:
            stream(server, 1)
            found = during(server, nullcontext(), SECONDS)
            yield found.row(f"every commit takes {COMMIT_SECONDS * 1000:g} ms", idle)


def serving(folder: Path, model: str, *arguments: str) -> AbstractContextManager[LiveServer]:
    environment = {
        "COWORK_BASE_URL": model,
        "COWORK_MODEL": "scripted",
        "PYTHONPATH": str(ROOT),
    }
    return live_server(folder, *arguments, environment=environment)


def during(server: LiveServer, trouble: AbstractContextManager[None], seconds: float) -> Answers:
    """Ask while conversations stream and something is wrong."""
    jobs = stream(server, STREAMS)
    with trouble:
        answers = ask(server, lambda: time.sleep(seconds))
    with client_of(server) as client:  # or what waited would be counted with the next trouble
        for job in jobs:
            until_over(client, job)
    return answers


@contextmanager
def locked(database: Path) -> Iterator[None]:
    with closing(sqlite3.connect(database, isolation_level=None, timeout=60)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def client_of(server: LiveServer) -> httpx.Client:
    return httpx.Client(base_url=server.api, headers=HEADERS, timeout=PATIENCE)


def stream(server: LiveServer, count: int) -> list[str]:
    """So many conversations begin to stream, each for twelve seconds; gives their jobs."""
    with client_of(server) as client:
        return [send(client, "paced") for _ in range(count)]


def run_job(server: LiveServer, words: str) -> None:
    """An actor's job, before which all files are looked at."""
    with client_of(server) as client:
        until_over(client, send(client, words))


def send(client: httpx.Client, words: str) -> str:
    context = client.post("context", json={"role": "actor"}).json()["id"]
    sent = client.post(f"context/{context}/messages", json={"content": words}).json()
    return str(sent["job_id"])


def until_over(client: httpx.Client, job: str) -> None:
    """Wait for the end of a job, allowing what it asks for."""
    give_up = time.monotonic() + PATIENCE
    while (found := client.get(f"jobs/{job}").json())["status"] in ("running", "waiting"):
        assert time.monotonic() < give_up, found
        for one in client.get(f"context/{found['context_id']}/permissions").json()["items"]:
            client.post(f"permissions/{one['id']}", json={"decision": "allow"})
        time.sleep(0.2)


def ask(server: LiveServer, meanwhile: Callable[[], None]) -> Answers:
    """Ask for the status all the time that something else takes."""
    stop, times = threading.Event(), list[float]()
    asking = threading.Thread(target=_ask, args=(server, stop, times))
    asking.start()
    meanwhile()
    stop.set()
    asking.join()
    return Answers(times)


def _ask(server: LiveServer, stop: threading.Event, times: list[float]) -> None:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=GIVE_UP)
    due = time.perf_counter()
    while not stop.is_set():
        time.sleep(max(0.0, due - time.perf_counter()))
        try:
            connection.request("GET", "/api/status", headers=HEADERS)
            connection.getresponse().read()
        except TimeoutError:  # at least as long
            connection.close()
        times.append((time.perf_counter() - due) * 1000)
        due += EVERY
