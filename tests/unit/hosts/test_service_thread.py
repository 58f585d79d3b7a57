"""Work in another thread's loop is awaited like any other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from cowork_jupyter.hosts.service_thread import ServiceThread

PATIENCE = 30.0


@pytest.fixture
def thread() -> Iterator[ServiceThread]:
    thread = ServiceThread()
    yield thread
    thread.close()


@pytest.mark.asyncio
async def test_what_comes_of_it_comes_here(thread: ServiceThread) -> None:
    async def work(succeeds: bool) -> asyncio.AbstractEventLoop:
        if not succeeds:
            raise ZeroDivisionError
        return asyncio.get_running_loop()

    assert await thread.run(work(succeeds=True)) is thread.loop
    with pytest.raises(ZeroDivisionError):
        await thread.run(work(succeeds=False))


@pytest.mark.asyncio
async def test_who_is_cancelled_waits_until_the_work_has_cleaned_up(thread: ServiceThread) -> None:
    cleaned, begun = [], asyncio.Event()
    here = asyncio.get_running_loop()

    async def work() -> None:
        here.call_soon_threadsafe(begun.set)
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            await asyncio.sleep(0.05)
            cleaned.append(True)

    waiting = asyncio.ensure_future(thread.run(work()))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert cleaned


@pytest.mark.asyncio
async def test_work_that_is_cancelled_before_it_begins_ends_too(thread: ServiceThread) -> None:
    busy = threading.Event()
    thread.loop.call_soon_threadsafe(busy.wait, PATIENCE)
    waiting = asyncio.ensure_future(thread.run(asyncio.sleep(PATIENCE)))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.sleep(0)
    busy.set()
    ended, _ = await asyncio.wait([waiting], timeout=PATIENCE)
    assert ended
    assert waiting.cancelled()


@pytest.mark.asyncio
async def test_a_time_limit_counts(thread: ServiceThread) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await thread.run(asyncio.sleep(PATIENCE))


@pytest.mark.asyncio
async def test_what_is_left_is_cancelled_at_the_end() -> None:
    thread = ServiceThread()
    waiting = asyncio.ensure_future(thread.run(asyncio.sleep(PATIENCE)))
    await asyncio.sleep(0.01)
    await asyncio.to_thread(thread.close)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not thread.is_alive
