"""A real Dask cluster of processes on this machine, and a service that uses it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psutil
import pytest
import pytest_asyncio
from distributed import Client, LocalCluster

from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.dask import cluster as pool_cluster
from tests import quick
from tests.scripted.fixtures import scripted as scripted
from tests.unit.agents.conftest import Bench, make_bench
from tests.unit.agents.conftest import settings as settings
from tests.unit.conftest import clean_environment as clean_environment

WORKERS = 2
PATIENCE = 90.0
"""Seconds after which a test calls it hanging."""


def pytest_configure() -> None:
    quick.keep_files_in_memory()


class Cluster:
    """The cluster as somebody sees it who looks after its machines."""

    def __init__(self, address: str, client: Client) -> None:
        self.address = address
        self._client = client

    async def run(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Run a function in every worker's process; gives the results by address."""
        found: dict[str, Any] = await asyncio.to_thread(self._client.run, function, *arguments)
        return found

    async def pids(self) -> dict[str, int]:
        """The processes of the workers, by address, once all are there."""
        await asyncio.to_thread(self._client.wait_for_workers, WORKERS, PATIENCE)
        return await self.run(os.getpid)

    async def who_runs(self, words: str) -> str | None:
        """The worker below whose process a command runs that has these words in it."""
        for worker, pid in (await self.pids()).items():
            if any(words in line_of(one) for one in children_of(pid)):
                return worker
        return None

    async def at_work(self) -> list[str]:
        """The workers that have something to do."""
        processing = await asyncio.to_thread(self._client.processing)
        return [worker for worker, keys in processing.items() if keys]

    async def kill_whoever_works(self) -> str:
        """Kill -9 for the one worker that has something to do; gives its address."""
        pids = await self.pids()
        (worker,) = await self.at_work()
        psutil.Process(pids[worker]).kill()
        return worker


def children_of(pid: int) -> list[psutil.Process]:
    """All processes below one; none if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return list(psutil.Process(pid).children(recursive=True))
    return []


def line_of(process: psutil.Process) -> str:
    """A process's command line; empty if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with (
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as started,
        Client(started) as client,  # type: ignore[no-untyped-call]
    ):
        yield Cluster(started.scheduler_address, client)


@pytest.fixture(autouse=True)
def a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has just been started imports all of ours before it answers."""
    monkeypatch.setattr(pool_cluster, "CONNECT_SECONDS", PATIENCE)
    monkeypatch.setattr(pool_cluster, "STOP_SECONDS", PATIENCE)


@pytest_asyncio.fixture
async def bench(settings: Settings, cluster: Cluster) -> AsyncIterator[Bench]:
    """A service whose plan steps run on the cluster."""
    chosen = replace(settings, workers="dask", dask_address=cluster.address)
    async for made in make_bench(chosen):
        yield made
