"""The server of a soak, which dies and comes back, and the troubles it is given."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.server.live import TOKEN, LiveServer, live_server

from .disk import Disk

ROOT = Path(__file__).parent.parent.parent
HEADERS = {"Authorization": f"token {TOKEN}"}
EXTENSIONS = {"cowork_jupyter": True, "measure.soak.probe": True}
WARM_UP = 120.0
"""Seconds of a life in which caches fill."""
ENOUGH = 12
"""Samples after that, below which a life was too short to speak of growth."""


@dataclass
class Holding:
    """What the server held at one moment."""

    age: float
    resident: int
    descriptors: int
    tasks: int
    threads: int


@dataclass
class Life:
    """One process of the server, from its start to its end."""

    process_id: int
    began: float = field(default_factory=time.monotonic)
    holdings: list[Holding] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.holdings[-1].age if self.holdings else 0.0

    @property
    def growth(self) -> float | None:
        """Of memory since the warm-up, as a share; none if the life was too short to say."""
        warm = [one.resident for one in self.holdings if one.age >= WARM_UP]
        if len(warm) < ENOUGH:
            return None
        return statistics.median(warm[-3:]) / statistics.median(warm[:3]) - 1


class House:
    """One folder, one disk, one server at a time."""

    def __init__(self, folder: Path, disk: Disk, model: str) -> None:
        self.folder = folder
        self.lives: list[Life] = []
        self.serving = asyncio.Event()
        """Whether users may come."""
        self.is_up = False
        self.is_full = False
        self.last_full = 0.0
        self._disk = disk
        self._environment = {
            "COWORK_BASE_URL": model,
            "COWORK_MODEL": "scripted",
            "PYTHONPATH": str(ROOT),
        }
        self._running = ExitStack()
        self._server: LiveServer | None = None

    @property
    def server(self) -> LiveServer:
        assert self._server
        return self._server

    @property
    def database(self) -> Path:
        return self.folder / "DATA" / "cowork" / "cowork.sqlite"

    @property
    def is_alive(self) -> bool:
        try:
            state = Path(f"/proc/{self.server.process_id}/stat").read_text().rsplit(")")[-1]
        except OSError:
            return False
        return state.split()[0] != "Z"

    async def start(self) -> None:
        """Bring a server up. Users are let in by whoever has looked at the record."""
        arguments = (f"--ServerApp.jpserver_extensions={EXTENSIONS!r}",)
        running = live_server(self.folder, *arguments, environment=self._environment)
        self._server = await asyncio.to_thread(self._running.enter_context, running)
        self.lives.append(Life(self._server.process_id))
        self.is_up = True

    async def kill(self) -> None:
        """As the kernel does when memory is short: no good-bye."""
        self.serving.clear()
        self.is_up = False
        os.kill(self.server.process_id, signal.SIGKILL)
        await self.stop()

    async def stop(self) -> None:
        self.serving.clear()
        await asyncio.to_thread(self._running.close)
        log = self.server.log_file
        log.rename(log.with_name(f"server-{len(self.lives)}.log"))

    async def fill_disk(self, seconds: float) -> None:
        """Nothing can be written for a while."""
        with self._disk.full(self.server.process_id):
            self.is_full = True
            await asyncio.sleep(seconds)
        self.is_full, self.last_full = False, time.monotonic()

    def was_full(self, since: float) -> bool:
        """Whether something that began then may have met a full disk."""
        return self.is_full or self.last_full >= since

    async def weigh(self) -> None:
        """Note what the server holds."""
        life = self.lives[-1]
        async with httpx.AsyncClient(headers=HEADERS, timeout=60) as client:
            answer = await client.get(f"{self.server.url}soak")
        life.holdings.append(Holding(time.monotonic() - life.began, **answer.json()))
