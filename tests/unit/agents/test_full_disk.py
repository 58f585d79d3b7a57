"""A disk that is full while a job runs: the job ends when there is room to say so."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager

import pytest

from cowork_jupyter.agents import jobs
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.store import Store, StoreError, Transaction
from tests.scripted import ScriptedServer, call, stall, text

from .conftest import Bench
from .helpers import check_ended_well, ended, eventually

pytestmark = [pytest.mark.asyncio, pytest.mark.process]


class Disk:
    """Says that it is full, as often as it is asked, until it is not."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        self.code = "store_full"
        self.refused = 0
        before = Store.transaction

        def transaction(store: Store) -> AbstractContextManager[Transaction]:
            if self.is_full:
                self.refused += 1
                is_full = self.code == "store_full"
                raise StoreError("The disk is full.", code=self.code, retryable=is_full)
            return before(store)

        monkeypatch.setattr(Store, "transaction", transaction)
        monkeypatch.setattr(jobs, "RETRY_SECONDS", 0.001)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


async def test_a_job_whose_end_cannot_be_stored_ends_when_it_can(
    bench: Bench, scripted: ScriptedServer, disk: Disk
) -> None:
    scripted.add(stall(), text("Again."))
    job_id = bench.start("first")
    await bench.until(EventType.TEXT_DELTA)
    disk.is_full = True
    with pytest.raises(StoreError, match="The disk is full"):
        await bench.service.jobs.cancel(job_id)
    await eventually(lambda: disk.refused > 3)
    disk.is_full = False
    assert (await bench.service.jobs.cancel(job_id)).status.is_final
    assert (await ended(bench, bench.start("second"))).status is JobStatus.COMPLETED


@pytest.mark.parametrize("code", ["store_full", "store_unwritable"])
async def test_a_job_whose_end_cannot_be_stored_is_seen_as_ended(
    bench: Bench, scripted: ScriptedServer, disk: Disk, code: str
) -> None:
    """SQLite calls a file unwritable, too, when there is no room for the one beside it."""
    disk.code = code
    jobs, store = bench.service.jobs, bench.service.journal.store
    scripted.add(text("one two three " * 200, write_size=10, delay=0.001))
    job_id = bench.start("first")
    await bench.until(EventType.TEXT_DELTA)
    assert jobs.get(job_id).status is JobStatus.RUNNING
    disk.is_full = True
    await eventually(lambda: jobs.get(job_id).status is not JobStatus.RUNNING)
    seen = jobs.get(job_id)
    assert (seen.status, seen.error) == (JobStatus.FAILED, "The disk is full.")
    assert seen.completed_at
    assert jobs.of(bench.context.id) == [seen]
    assert store.active_job(bench.context.id) is None
    assert jobs.working() == []
    with pytest.raises(StoreError):
        jobs.restart(seen, lambda _job: pytest.fail("it ran"))
    disk.is_full = False
    stored = await ended(bench, job_id)
    assert stored.worked_seconds == pytest.approx(seen.worked_seconds, abs=0.01)
    stored.worked_seconds = seen.worked_seconds
    assert stored == seen
    check_ended_well(bench, JobStatus.FAILED)
    with store.transaction() as tx:
        assert tx.job(job_id).completed_at == seen.completed_at


async def test_a_stopped_job_says_why_its_end_is_not_stored(
    bench: Bench, scripted: ScriptedServer, disk: Disk
) -> None:
    scripted.add(stall())
    job_id = bench.start("first")
    await bench.until(EventType.TEXT_DELTA)
    disk.is_full = True
    with pytest.raises(StoreError):
        await bench.service.jobs.cancel(job_id)
    seen = bench.service.jobs.get(job_id)
    assert seen.status.is_final
    assert seen.error == "The disk is full."
    disk.is_full = False
    assert (await ended(bench, job_id)).status is seen.status


async def test_health_says_that_the_end_of_a_job_cannot_be_stored(
    bench: Bench, scripted: ScriptedServer, disk: Disk
) -> None:
    async def problems() -> list[str]:
        return [problem.message for problem in (await bench.service.health()).problems]

    scripted.add(stall())
    job_id = bench.start("first")
    await bench.until(EventType.TEXT_DELTA)
    before = await problems()
    disk.is_full = True
    with pytest.raises(StoreError):
        await bench.service.jobs.cancel(job_id)
    assert sorted(await problems()) == sorted([*before, "The disk is full."])
    disk.is_full = False
    await bench.service.jobs.cancel(job_id)
    assert await problems() == before


async def test_a_call_whose_result_could_not_be_stored_gets_one_with_the_end_of_its_job(
    bench: Bench, scripted: ScriptedServer, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    admit = bench.service.factory.tools.gate.admit

    async def admit_then_fill(*given: object) -> object:
        clearance = await admit(*given)  # type: ignore[arg-type]
        disk.is_full = True
        return clearance

    monkeypatch.setattr(bench.service.factory.tools.gate, "admit", admit_then_fill)
    scripted.add(call("list_directory", path="."))
    job_id = bench.start("first")
    await eventually(lambda: disk.refused > 3)
    disk.is_full = False
    assert (await ended(bench, job_id)).status is JobStatus.FAILED
    check_ended_well(bench, JobStatus.FAILED)


async def test_a_service_that_closes_does_not_wait_for_the_disk(
    bench: Bench, scripted: ScriptedServer, disk: Disk
) -> None:
    scripted.add(stall())
    bench.start("first")
    await bench.until(EventType.TEXT_DELTA)
    disk.is_full = True
    async with asyncio.timeout(60):
        await bench.service.jobs.close()
    disk.is_full = False
    assert bench.job_statuses() == [JobStatus.RUNNING]  # the next process puts it in order
