"""A soak from its first user to its report."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.scripted import ScriptedServer

from .disk import small_disk
from .house import HEADERS, House, Life
from .record import faults
from .script import Script
from .users import Diary, User

GROWTH = 0.05
"""By how much memory may grow after the warm-up."""
EVERY = 20.0
"""Seconds between two looks at what the server holds."""
PATIENCE = 120.0


@dataclass(frozen=True)
class Options:
    minutes: float = 30.0
    seed: int = 0
    users: int = 6
    kills: int = 4
    """All in the first half: the last life is long enough to see memory grow."""
    full_disks: int = 5
    full_seconds: float = 6.0


@dataclass
class Report:
    diary: Diary
    lives: list[Life]
    disk: str
    jobs: dict[str, int] = field(default_factory=dict)
    """How many ended how."""

    @property
    def problems(self) -> list[str]:
        grown = [
            f"memory of life {number} grew by {life.growth:.1%}"
            for number, life in enumerate(self.lives, 1)
            if life.growth is not None and life.growth >= GROWTH
        ]
        return [f"{times} × {what}" for what, times in self.diary.problems.most_common()] + grown


async def soak(options: Options, folder: Path, say: Callable[[str], None] = print) -> Report:
    """Run it in this folder; what is wrong is in the report."""
    script = Script()
    with small_disk(folder / "DATA") as disk, ScriptedServer(script) as model:
        house = House(folder, disk, model.base_url)
        running = _Soak(options, house, model, say)
        try:
            await running.run()
        finally:
            if house.lives:
                await house.stop()
        return Report(running.diary, house.lives, disk.kind, running.jobs)


class _Soak:
    def __init__(
        self, options: Options, house: House, model: ScriptedServer, say: Callable[[str], None]
    ) -> None:
        self.diary = Diary()
        self.jobs: dict[str, int] = {}
        self._options, self._house, self._model, self._say = options, house, model, say
        self._users = [
            User(house, self.diary, f"{options.seed}-{place}") for place in range(options.users)
        ]
        self._stop = asyncio.Event()
        self._began = 0.0

    async def run(self) -> None:
        await self._house.start()
        self._house.serving.set()
        self._began = time.monotonic()
        users = [asyncio.ensure_future(user.live(self._stop)) for user in self._users]
        watching = asyncio.ensure_future(self._watch())
        try:
            for moment, trouble in self._timetable():
                await self._until(moment)
                await trouble()
            await self._until(self._options.minutes * 60)
        finally:
            self._stop.set()
            watching.cancel()
            await asyncio.gather(*users)
        await self._settle()
        await self._house.weigh()
        for user in self._users:
            await user.leave()

    def _timetable(self) -> Iterator[tuple[float, Callable[[], Awaitable[None]]]]:
        chance, seconds = random.Random(self._options.seed), self._options.minutes * 60
        kills = [chance.uniform(0.1, 0.5) * seconds for _ in range(self._options.kills)]
        full = [chance.uniform(0.05, 0.9) * seconds for _ in range(self._options.full_disks)]
        planned = [(at, self._kill) for at in kills] + [(at, self._fill_disk) for at in full]
        yield from sorted(planned, key=lambda one: one[0])

    async def _until(self, moment: float) -> None:
        while (left := self._began + moment - time.monotonic()) > 0:
            await asyncio.sleep(min(left, 1.0))
            if not self._house.is_alive:
                self.diary.blame("the server died by itself")
                await self._kill()

    # Troubles

    async def _kill(self) -> None:
        died = time.monotonic()
        with suppress(ProcessLookupError):
            await self._house.kill()
        await self._house.start()
        await self._look_after_restart()
        self._house.serving.set()
        self._began += time.monotonic() - died  # only time with users in it counts

    async def _fill_disk(self) -> None:
        await self._house.fill_disk(self._options.full_seconds)

    # Looking

    async def _look_after_restart(self) -> None:
        """Whoever asks first makes the server put in order what was left behind."""
        await self._get("context")
        self.diary.blame(*faults(self._house.database))
        await asyncio.gather(*(user.compare() for user in self._users))

    async def _settle(self) -> None:
        """Stop what runs, then everything must be in order, here and at every client."""
        give_up = time.monotonic() + PATIENCE
        while active := await self._active():
            if time.monotonic() > give_up:
                self.diary.blame(*(f"a job never ended ({one['status']})" for one in active))
                break
            for job in active:
                await self._post(f"jobs/{job['id']}/cancel")
        await asyncio.gather(*(user.catch_up() for user in self._users))
        await asyncio.gather(*(user.compare() for user in self._users))
        self.diary.blame(*faults(self._house.database))
        await self._look_at_checkpoints()

    async def _active(self) -> list[dict[str, Any]]:
        found, self.jobs = [], {}
        for context in await self._contexts():
            for job in (await self._get(f"context/{context}/jobs"))["items"]:
                self.jobs[job["status"]] = self.jobs.get(job["status"], 0) + 1
                if job["status"] in ("running", "waiting"):
                    found.append(job)
        return found

    async def _look_at_checkpoints(self) -> None:
        for context in await self._contexts():
            for one in (await self._get(f"context/{context}/checkpoints"))["items"]:
                await self._get(f"checkpoints/{one['id']}/diff")

    async def _contexts(self) -> list[str]:
        found: list[str] = []
        after: int | None = 0
        while after is not None:
            page = await self._get(f"context?limit=100&after={after}")
            found += [one["id"] for one in page["items"]]
            after = page["next"]
        return found

    async def _watch(self) -> None:
        """Memory three times a minute, a line each minute, and what went wrong at once."""
        lines, said = 0, set[str]()
        while True:
            await asyncio.sleep(EVERY)
            if self._house.serving.is_set() and not self._house.is_full:
                with suppress(httpx.HTTPError):  # killed just now
                    await self._house.weigh()
            self._model.requests.clear()
            for problem in self.diary.problems.keys() - said:
                said.add(problem)
                self._say(f"  ✗ {problem}")
            if (minutes := int((time.monotonic() - self._began) // 60)) > lines:
                lines = minutes
                self._say(self._line(minutes))

    def _line(self, minutes: int) -> str:
        held = self._house.lives[-1].holdings
        return (
            f"{minutes:3} min: {self.diary.actions.total():,} actions,"
            f" {self.diary.events:,} events seen, life {len(self._house.lives)}"
            f" with {held[-1].resident / 2**20 if held else 0:.0f} MiB,"
            f" {self.diary.problems.total()} problems"
        )

    async def _get(self, address: str) -> Any:
        return await self._ask("GET", address)

    async def _post(self, address: str) -> Any:
        return await self._ask("POST", address)

    async def _ask(self, method: str, address: str) -> Any:
        """As somebody to whom the server owes an answer."""
        async with httpx.AsyncClient(headers=HEADERS, timeout=PATIENCE) as client:
            answer = await client.request(method, self._house.server.api + address)
        if not answer.is_success:
            self.diary.blame(f"{method} {address} was answered {answer.text}")
        return answer.json()
