"""Jupyter's own loop waits for nothing that the service does."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import sys
import threading
import time
from typing import Any

import pytest

from cowork_jupyter.domain.operations import ModelCalled
from cowork_jupyter.hosts.server.housekeeping import SharedInterpreter
from tests.scripted import ScriptedServer, text

from .api import PATIENCE, Api

pytestmark = pytest.mark.usefixtures("connected")
LOCKED_SECONDS = 3.0


@pytest.fixture
def extension(jp_serverapp: Any) -> Any:
    (found,) = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]
    return found


async def longest_pause(until: asyncio.Future[Any]) -> float:
    """The longest time in which this loop, which is Jupyter's, did nothing."""
    longest, last = 0.0, time.monotonic()
    while not until.done():
        await asyncio.sleep(0.005)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    return longest


async def test_a_service_that_stands_still_holds_up_nobody(
    api: Api, jp_fetch: Any, extension: Any
) -> None:
    await api.new_context()
    stands, goes_on = threading.Event(), threading.Event()

    async def stand_still() -> None:
        stands.set()
        goes_on.wait(PATIENCE)

    still = extension.thread.submit(stand_still())
    assert stands.wait(PATIENCE)
    asked = asyncio.ensure_future(api.get("context"))
    for _ in range(20):
        assert (await jp_fetch("api", "status")).code == 200
    assert not asked.done()
    goes_on.set()
    assert len((await asked)["items"]) == 1
    still.result(PATIENCE)


async def test_while_another_process_writes_one_reads_and_what_is_said_waits(
    api: Api, extension: Any, scripted: ScriptedServer
) -> None:
    scripted.add(text("one two three"))
    context = await api.new_context()
    other = sqlite3.connect(extension.service.settings.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    sending = asyncio.ensure_future(
        api.post(f"context/{context}/messages", {"content": "a"}, status=202)
    )
    locked = asyncio.ensure_future(asyncio.sleep(LOCKED_SECONDS))
    pausing = asyncio.ensure_future(longest_pause(locked))
    reads = 0
    while not locked.done():
        assert len((await api.get("context"))["items"]) == 1
        reads += 1
    assert reads > 1
    assert not sending.done()
    assert await pausing < LOCKED_SECONDS / 2
    other.execute("ROLLBACK")
    other.close()
    await api.ended((await sending)["job_id"])
    (_, said) = (await api.get(f"context/{context}/messages"))["items"]
    assert said["content"][0]["text"] == "one two three"


async def test_threads_take_short_turns_and_the_collector_leaves_what_is_loaded(api: Api) -> None:
    await api.new_context()
    assert sys.getswitchinterval() <= 0.001
    assert gc.get_freeze_count() > 10_000


async def test_what_the_first_call_of_a_model_loads_is_left_alone_too() -> None:
    shared, loaded = SharedInterpreter(), [[place] for place in range(5_000)]
    assert watched(loaded)
    shared.receive(ModelCalled("m", "ok", 1.0, 1))
    first = gc.get_freeze_count()
    assert not watched(loaded)
    shared.receive(ModelCalled("m", "ok", 1.0, 1))
    assert gc.get_freeze_count() <= first


def watched(things: list[list[int]]) -> set[int]:
    """Which of them the collector would go through; its count of the others goes down as well."""
    return {id(one) for one in gc.get_objects()}.intersection(map(id, things))
