"""Where tasks find workers, and what happens when one is cut off in the middle of a call."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.agents.pool import AsyncioPool
from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.errors import Interrupted
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.dask.cluster import Attempt, WorkerLost
from cowork_jupyter.parts.dask.worker import WorkerOrder
from cowork_jupyter.service.parts import pool_for, shipped_tools
from cowork_jupyter.tools.base import Tool, ToolContext, ToolParameters, ToolResult
from cowork_jupyter.tools.registry import ToolRegistry
from cowork_jupyter.workspace import Workspace
from tests.scripted import Scripted, ScriptedServer, call, calls, text

from ...agents.conftest import Bench
from ...agents.helpers import PATIENCE, add_tools, bench_with, check_ended_well, ended
from ...agents.test_coordinator import execute, make_plan, statuses

CUT_OFF = "The worker was lost during change."


class Changing:
    """A tool that changes something, in a pool whose worker dies in the middle of a call."""

    def __init__(self, deaths: int = 1) -> None:
        self.deaths = deaths
        self.ran = 0
        self.tool = Tool("change", "test", "For tests.", frozenset(), ToolParameters, self.run)

    async def run(self, parameters: ToolParameters, context: ToolContext) -> ToolResult:
        self.ran += 1
        if self.ran <= self.deaths:
            raise Interrupted(CUT_OFF)
        return ToolResult("changed", "changed it")

    async def prepare(self) -> None:
        pass

    def tools(self, registry: ToolRegistry, log: RunLog, files: Sequence[str] = ()) -> ToolRegistry:
        return ToolRegistry([*registry.values(), self.tool])

    with_large_tables = tools

    async def end_task(self, task_id: str) -> None:
        pass

    async def aclose(self) -> None:
        pass


async def cut_off(
    bench: Bench, scripted: ScriptedServer, *replies: Scripted
) -> tuple[Changing, str]:
    """A job whose only step was cut off in the middle of a call, and that asks about it."""
    pool = Changing()
    bench.service.plans.pool = pool
    add_tools(bench, pool.tool)
    make_plan(bench, {"a": []}, tools_needed=["read_file"])
    scripted.add(calls(("change", {}), ("change", {})), *replies)
    job_id = await execute(bench)
    asked = await bench.until(EventType.QUESTION_ASKED)
    assert "interrupted in the middle of change" in asked.data.model_dump()["question"]
    assert statuses(bench) == {"a": StepStatus.WAITING}
    assert pool.ran == 1
    return pool, job_id


@pytest.mark.asyncio
async def test_after_a_call_was_cut_off_neither_the_model_nor_anything_else_goes_on_unasked(
    bench: Bench, scripted: ScriptedServer
) -> None:
    pool, job_id = await cut_off(bench, scripted)
    assert len(scripted.requests) == 1
    assert [result["error"]["code"] for result in bench.results()] == ["interrupted", "cancelled"]
    await bench.answer("skip")
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    assert statuses(bench) == {"a": StepStatus.SKIPPED}
    assert pool.ran == 1
    check_ended_well(bench, JobStatus.COMPLETED)


@pytest.mark.asyncio
async def test_the_user_can_have_the_step_run_again(bench: Bench, scripted: ScriptedServer) -> None:
    pool, job_id = await cut_off(bench, scripted, call("change"), text("Done."))
    await bench.answer("retry")
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    assert statuses(bench) == {"a": StepStatus.COMPLETED}
    assert pool.ran == 2
    assert CUT_OFF in str(scripted.requests[1].body["messages"]), "the model knows what happened"


@pytest.mark.asyncio
async def test_the_user_can_stop_there(bench: Bench, scripted: ScriptedServer) -> None:
    _, job_id = await cut_off(bench, scripted)
    await bench.answer("stop")
    job = await ended(bench, job_id)
    assert job.status is JobStatus.FAILED
    assert "interrupted during change" in (job.error or "")


def test_by_shipped_tools_run_as_they_are(settings: Settings) -> None:
    pool, registry = pool_for(settings), shipped_tools()
    assert isinstance(pool, AsyncioPool)
    assert pool.tools(registry, log_of_nobody()) is registry


def log_of_nobody() -> RunLog:
    return RunLog(None, "ctx", "job", AgentRole.ACTOR)  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_without_the_extra_the_job_says_how_to_get_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    async with bench_with(settings, workers="dask") as bench:
        make_plan(bench, {"a": []})
        job = await ended(bench, await execute(bench))
        assert job.status is JobStatus.FAILED
        assert "pip install cowork-jupyter[dask]" in (job.error or "")
        assert bench.events(EventType.TASK_STARTED) == []


@pytest.mark.asyncio
async def test_only_tools_that_need_nothing_but_the_workspace_are_sent_out(
    settings: Settings,
) -> None:
    pool = pool_for(replace(settings, workers="dask"))
    shipped, own = shipped_tools(), Changing().tool
    other = replace(shipped["read_file"], description="The same name, but another tool.")
    sent = pool.tools(ToolRegistry([*shipped.values(), own]), log_of_nobody())
    assert sent["change"] is own
    at_home = {name for name in shipped if sent[name] is shipped[name]}
    cells = {"insert_cell", "edit_cell", "move_cell", "delete_cell"}
    assert at_home == {"read_notebook", "recall"} | cells
    assert pool.tools(ToolRegistry([other]), log_of_nobody())["read_file"] is other


@pytest.mark.asyncio
async def test_an_attempt_is_granted_once_and_a_second_claim_tells_of_the_loss(
    settings: Settings,
) -> None:
    context = ToolContext(Workspace(settings.workspace), AgentRole.ACTOR)
    order = WorkerOrder("attempt_1", "read_file", {}, context, settings, confined=True)
    attempt = Attempt(order, lambda _: None)
    assert attempt.claim("tcp://one")
    assert not attempt.claim("tcp://two")
    assert attempt.worker == "tcp://one"
    with pytest.raises(WorkerLost):
        await asyncio.wait_for(attempt.outcome, PATIENCE)
    assert not attempt.claim("tcp://three")


@pytest.mark.process
def test_choosing_dask_does_not_import_it_yet() -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from cowork_jupyter.domain.settings import Settings;"
        "from cowork_jupyter.service.wiring import build_service;"
        "service = build_service(Settings(Path(), Path(), workers='dask'));"
        "assert service.plans.pool;"
        "assert not {'distributed', 'dask'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
