"""What several test files of the agents share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from cowork_jupyter.domain.contexts import Job, JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.tools.base import Tool
from cowork_jupyter.tools.registry import ToolRegistry

from .conftest import Bench, make_bench

PATIENCE = 60.0
"""Seconds after which a test calls it hanging."""


@asynccontextmanager
async def bench_with(settings: Settings, **changes: object) -> AsyncIterator[Bench]:
    """A bench with other settings."""
    benches = make_bench(settings, **changes)
    try:
        yield await anext(benches)
    finally:
        async for _ in benches:
            pass


class Clock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def add_tools(bench: Bench, *tools: Tool) -> None:
    """Let agents of this bench use these tools too."""
    factory = bench.service.factory
    factory.tools.registry = ToolRegistry([*factory.tools.registry.values(), *tools])


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.002)


async def ended(bench: Bench, job_id: str) -> Job:
    """The job once it has ended, which must not take long."""
    async with asyncio.timeout(PATIENCE):
        return await bench.service.jobs.wait(job_id)


def check_ended_well(bench: Bench, status: JobStatus) -> None:
    """What holds at the end of every job, whichever way it ended."""
    assert bench.job_statuses()[-1] is status
    events = bench.events()
    assert events[-1].type is EventType.JOB_COMPLETED
    assert events[-1].data.model_dump()["status"] == status
    calls = [one.data.model_dump()["call_id"] for one in bench.messages(MessageType.TOOL_CALL)]
    assert sorted(calls) == sorted(result["call_id"] for result in bench.results())
    if status is not JobStatus.INTERRUPTED:  # then it waits on
        assert bench.service.journal.store.pending_requests(bench.context.id) == []
