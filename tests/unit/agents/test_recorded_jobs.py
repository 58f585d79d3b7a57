"""Checkpoints of whole jobs: the model need not wait for them, the job's end does."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.tools.base import Tool, ToolContext, ToolParameters, ToolResult
from tests.scripted import ScriptedServer, call, text
from tests.unit.checkpoints.test_recorder import Scans
from tests.unit.checkpoints.test_recorder import scans as scans

from .conftest import Bench
from .helpers import add_tools

pytestmark = pytest.mark.asyncio


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


async def test_the_model_reads_on_while_the_workspace_is_looked_at_and_the_job_waits(
    bench: Bench, scripted: ScriptedServer, scans: Scans
) -> None:
    async def make(_parameters: ToolParameters, _context: ToolContext) -> ToolResult:
        (bench.workspace / "made.txt").write_text("x")
        scans.hold()  # the look at what was made
        return ToolResult("Made.", "made")

    needs = frozenset({Permission.EXECUTE_COMMANDS})
    add_tools(bench, Tool("make", "test", "For tests.", needs, ToolParameters, make))
    scripted.add(call("make"), text("Done."))
    job_id = bench.start("Make it.")
    await until(lambda: bool(bench.messages()) and bench.messages()[-1].text == "Done.")
    assert bench.job_statuses() == [JobStatus.RUNNING]
    assert len(bench.events(EventType.CHECKPOINT_CREATED)) == 1
    scans.go_on()
    await bench.service.jobs.wait(job_id)
    told = [one.type for one in bench.events()][-2:]
    assert told == [EventType.CHECKPOINT_CREATED, EventType.JOB_COMPLETED]
    mark, made = await bench.service.checkpoints.listing(bench.context.id)
    assert (mark.data["label"], made.data["tool"]) == ("Before: Make it.", "make")


async def test_a_job_that_can_change_something_begins_with_a_look_and_others_do_not(
    bench: Bench, scripted: ScriptedServer, scans: Scans
) -> None:
    scripted.add(*(text("Hello.") for _ in range(3)))
    await bench.tell("Hello?", AgentRole.REVIEWER)
    await bench.tell("Hello?", AgentRole.PLANNER)
    assert scans.count == 0
    await bench.tell("Hello?", AgentRole.ACTOR)
    await until(lambda: scans.count == 1)
    assert await bench.service.checkpoints.listing(bench.context.id) == []


async def test_a_job_that_has_ended_leaves_no_task_behind(
    bench: Bench, scripted: ScriptedServer, request: pytest.FixtureRequest
) -> None:
    def ended() -> int:
        gc.collect()
        return sum(isinstance(one, asyncio.Task) and one.done() for one in gc.get_objects())

    def thaw() -> None:
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    counts = []
    request.addfinalizer(thaw)
    gc.freeze()  # what other tests left is not looked at
    for _ in range(3):
        for _ in range(5):
            scripted.add(call("create_file", path="a.txt", content="a"), text("Done."))
            await bench.tell("Make it.", AgentRole.ACTOR)
        await asyncio.sleep(0.01)
        counts.append(ended())
    assert counts[2] <= counts[1], counts
