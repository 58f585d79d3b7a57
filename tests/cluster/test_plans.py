"""Plans whose steps run on a real cluster: what comes back, and what happens when workers die."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest

from cowork_jupyter.agents.ask.user import Ruling
from cowork_jupyter.domain.contexts import Job, JobStatus, StepStatus
from cowork_jupyter.domain.events import Event, EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.dask import cluster as pool_cluster
from cowork_jupyter.parts.dask import worker as pool_worker
from cowork_jupyter.service.parts import shipped_tools
from cowork_jupyter.tools.registry import ToolRegistry
from tests.scripted import Scripted, ScriptedServer, call, result, text
from tests.unit.agents.conftest import Bench
from tests.unit.agents.helpers import bench_with
from tests.unit.agents.test_coordinator import execute, make_plan, statuses

from .conftest import PATIENCE, Cluster, line_of

pytestmark = pytest.mark.asyncio

READING = ["read_file"]
TOOLS = [*READING, "execute_command"]
QUESTION = text(json.dumps({"type": "question", "question": "Which?", "allow_custom": True}))


async def start(bench: Bench, *steps: str, tools: list[str] = TOOLS) -> str:
    """Approve a plan with these independent steps; gives the job's id."""
    make_plan(bench, {step: [] for step in steps}, tools_needed=tools)
    return await execute(bench)


async def ended(bench: Bench, job_id: str) -> Job:
    async with asyncio.timeout(PATIENCE):
        return await bench.service.jobs.wait(job_id)


async def until(bench: Bench, wanted: Callable[[Event], bool]) -> Event:
    async with asyncio.timeout(PATIENCE):
        async for event in bench.service.journal.bus.subscribe(bench.context.id):
            if wanted(event):
                return event
    raise AssertionError("the bus was closed")


def writes(words: str) -> Callable[[Event], bool]:
    """Whether a command has written this."""
    return lambda event: (
        words in event.data.model_dump().get("text", "") and event.type is EventType.NOTICE
    )


def asks(words: str) -> Callable[[Event], bool]:
    return lambda event: words in event.data.model_dump().get("question", "")


def of_task(body: dict[str, Any], step: str) -> bool:
    return f"The step: do {step}" in json.dumps(body["messages"])


async def test_steps_run_in_the_workers_processes_and_all_of_it_comes_back(
    bench: Bench, cluster: Cluster
) -> None:
    def answer(body: dict[str, Any]) -> Scripted:
        step = "a" if of_task(body, "a") else "b"
        command = f"echo {step} runs; until [ -e go ]; do sleep 0.05; done"
        done = "[exit code" in str(body)
        return text("Done.") if done else call("execute_command", command=command)

    with ScriptedServer(answer) as model:
        bench.connect(model.base_url)
        job_id = await start(bench, "a", "b")
        await until(bench, writes("a runs"))
        await until(bench, writes("b runs"))
        at_a, at_b = await cluster.who_runs("a runs"), await cluster.who_runs("b runs")
        (bench.workspace / "go").touch()
        job = await ended(bench, job_id)
    assert job.status is JobStatus.COMPLETED, job.error
    assert {at_a, at_b} == set(await cluster.pids()), "side by side, so each at its own"
    for task in job.tasks:
        mine = [event for event in bench.events() if event.task_id == task.id]
        kinds = [event.type for event in mine]
        assert kinds[0] is EventType.TASK_STARTED
        assert kinds[-1] is EventType.TASK_COMPLETED
        order = [EventType.TOOL_CALL, EventType.NOTICE, EventType.TOOL_RESULT, EventType.TEXT_DELTA]
        assert sorted(order, key=kinds.index) == order
        assert task.result == "Done."
        (result,) = (
            one for one in bench.messages(MessageType.TOOL_RESULT) if one.task_id == task.id
        )
        assert result.data.model_dump()["facts"]["worker"] == (
            at_a if task.step_id == "a" else at_b
        )
    assert not [path for path in bench.workspace.iterdir() if path.name.startswith(".cowork")]


@pytest.mark.slow
async def test_output_comes_in_order_while_a_command_runs(
    bench: Bench, scripted: ScriptedServer
) -> None:
    command = "for n in 1 2 3; do echo line $n; until [ -e go$n ]; do sleep 0.02; done; done"
    scripted.add(call("execute_command", command=command), text("Done."))
    job_id = await start(bench, "a")
    for number in (1, 2, 3):
        await until(bench, writes(f"line {number}"))
        (bench.workspace / f"go{number}").touch()
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    shown = "".join(
        event.data.model_dump().get("text", "") for event in bench.events(EventType.NOTICE)
    )
    assert shown == "line 1\nline 2\nline 3\n"


@pytest.mark.slow
async def test_what_a_tool_refuses_comes_back_as_the_same_error(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("read_file", path="missing.txt"), result("failed", "it is not there"))
    job_id = await start(bench, "a")
    await until(bench, asks("failed"))
    assert bench.results()[0]["error"]["code"] == "not_found"
    await bench.service.jobs.cancel(job_id)


@pytest.mark.slow
async def test_a_question_is_answered_and_no_worker_is_held_while_it_waits(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    scripted.add(call("read_file", path="a.py"), QUESTION, text("Done."))
    job_id = await start(bench, "a", tools=READING)
    question = await until(bench, asks("Which?"))
    assert await cluster.at_work() == []
    bench.service.requests.answer(question.data.model_dump()["id"], "this one")
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    assert "this one" in str(scripted.requests[-1].body)


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_a_request_for_permission_comes_to_the_user_and_no_worker_is_held_meanwhile(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer, decision: Literal["allow", "deny"]
) -> None:
    bench.service.factory.tools.gate.approver = bench.service.requests
    scripted.add(call("delete_file", path="a.py"), text("Done."))
    job_id = await start(bench, "a", tools=READING)
    request = await until(bench, lambda event: event.type is EventType.PERMISSION_REQUEST)
    assert (request.data.model_dump()["tool"], request.data.model_dump()["task_id"]) == (
        "delete_file",
        request.task_id,
    )
    assert await cluster.at_work() == []
    assert (bench.workspace / "a.py").exists()
    bench.service.requests.resolve_all([request.data.model_dump()["id"]], Ruling(decision=decision))
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    assert (bench.workspace / "a.py").exists() == (decision == "deny")
    assert bench.results()[0]["ok"] == (decision == "allow")


SLEEP = f"sleep {3600 + os.getpid()}"
"""Found again by its number, also when nobody looks after it any more."""
LONG = f"echo ran >> ran.txt; echo started; exec {SLEEP}"


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Without a sandbox, a command outlives a worker that was killed."""
    yield
    for process in psutil.process_iter(["cmdline"]):
        if process.info["cmdline"] == SLEEP.split():
            with suppress(psutil.NoSuchProcess):  # it was about to end
                process.kill()


async def command_at_work(bench: Bench, cluster: Cluster, scripted: ScriptedServer) -> str:
    """A job with a command that runs at a worker and would run for long."""
    scripted.add(call("execute_command", command=LONG))
    job_id = await start(bench, "a")
    await until(bench, writes("started"))
    async with asyncio.timeout(PATIENCE):
        while not await cluster.who_runs(SLEEP):  # the shell is just becoming it
            await asyncio.sleep(0.05)
    return job_id


def times_run(bench: Bench) -> int:
    return (bench.workspace / "ran.txt").read_text().count("ran")


async def test_cancelling_ends_the_command_at_its_worker(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    job_id = await command_at_work(bench, cluster, scripted)
    job = await bench.service.jobs.cancel(job_id)
    assert job.status is JobStatus.CANCELLED
    assert not await cluster.who_runs(SLEEP), "it ends before the job is called cancelled"
    assert statuses(bench) == {"a": StepStatus.CANCELLED}
    assert bench.results()[0]["error"]["code"] == "cancelled"


@pytest.mark.slow
async def test_a_command_ends_when_its_coordinator_is_gone(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    await command_at_work(bench, cluster, scripted)
    client = await bench.service.plans.pool._cluster.connected()  # type: ignore[attr-defined]
    await client.close()
    async with asyncio.timeout(PATIENCE):
        while await cluster.who_runs(SLEEP):
            await asyncio.sleep(0.05)


async def test_a_worker_killed_during_a_command_is_reported_and_nothing_runs_twice_unasked(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    job_id = await command_at_work(bench, cluster, scripted)
    lost = await cluster.kill_whoever_works()
    question = await until(bench, asks("interrupted in the middle of execute_command"))
    await cluster.pids()  # all workers are back, and would have had time to run it again
    assert times_run(bench) == 1
    (result,) = bench.results()
    assert result["error"]["code"] == "interrupted"
    assert lost in result["error"]["message"]
    scripted.add(call("execute_command", command="echo ran >> ran.txt"), text("Done."))
    bench.service.requests.answer(question.data.model_dump()["id"], "retry")
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    assert times_run(bench) == 2, "now the user has asked for it"


@pytest.mark.slow
async def test_what_dask_runs_again_by_itself_is_not_granted(
    bench: Bench,
    cluster: Cluster,
    scripted: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Here nobody tells us of the worker's death: we learn of it only by the second claim."""
    monkeypatch.setattr(pool_cluster.Cluster, "_watch", lambda *_: None)
    job_id = await command_at_work(bench, cluster, scripted)
    await cluster.kill_whoever_works()
    question = await until(bench, asks("interrupted in the middle of execute_command"))
    bench.service.requests.answer(question.data.model_dump()["id"], "skip")
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    await cluster.pids()
    assert times_run(bench) == 1


def hold_up_reading() -> None:
    """In a worker's process: the first to read `slow.txt` does so for ever."""
    tools = shipped_tools()
    read_file = tools["read_file"]

    async def slow(parameters: Any, context: Any) -> Any:
        folder: Path = context.workspace.root
        if parameters.path == "slow.txt" and not (folder / "somebody.reads").exists():
            (folder / "somebody.reads").touch()
            context.output("reading")
            await asyncio.sleep(3600)
        return await read_file.run(parameters, context)

    others = [tool for tool in tools.values() if tool is not read_file]
    held_up = ToolRegistry([*others, replace(read_file, run=slow)])
    pool_worker.shipped_tools = lambda: held_up  # type: ignore[attr-defined]


@pytest.mark.slow
async def test_a_worker_killed_while_it_only_reads_costs_nothing_but_time(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    await cluster.pids()
    await cluster.run(hold_up_reading)
    (bench.workspace / "slow.txt").write_text("at last")
    scripted.add(call("read_file", path="slow.txt"), text("Done."))
    job_id = await start(bench, "a", tools=READING)
    await until(bench, writes("reading"))
    lost = await cluster.kill_whoever_works()
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    (result,) = bench.results()
    assert result["ok"]
    assert result["facts"]["worker"] != lost
    assert bench.events(EventType.QUESTION_ASKED) == []
    notices = [event.data.model_dump().get("code") for event in bench.events(EventType.NOTICE)]
    assert "worker_lost" in notices


@pytest.mark.slow
async def test_what_needs_the_workspace_does_not_run_at_a_worker_that_came_later_without_it(
    bench: Bench, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = call("read_file", path="a.py")
    scripted.add(read, read, text("Done."))
    monkeypatch.setattr(pool_cluster.Cluster, "check", pool_cluster.Cluster.connected)
    monkeypatch.setattr(pool_worker.WorkspaceProof, "write", lambda _: None)
    job = await ended(bench, await start(bench, "a", tools=READING))
    assert job.status is JobStatus.COMPLETED
    refused, at_home = bench.results()
    assert refused["error"]["code"] == "workspace_not_shared"
    assert at_home["ok"]
    assert "worker" not in at_home["facts"]


@pytest.mark.slow
async def test_a_scheduler_that_does_not_answer_fails_the_job_at_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_cluster, "CONNECT_SECONDS", 0.5)
    nobody = "tcp://127.0.0.1:9"
    async with bench_with(settings, workers="dask", dask_address=nobody) as bench:
        job = await ended(bench, await start(bench, "a"))
    assert job.status is JobStatus.FAILED
    assert f"No Dask scheduler answers at {nobody}" in (job.error or "")


@pytest.mark.slow
async def test_without_an_address_there_are_worker_processes_on_this_machine(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(call("execute_command", command="echo hello"), text("Done."))
    before = set(psutil.Process().children(recursive=True))
    async with bench_with(settings, workers="dask", max_parallel=1) as bench:
        assert (await ended(bench, await start(bench, "a"))).status is JobStatus.COMPLETED
        (result,) = bench.results()
        assert result["ok"]
        assert result["facts"]["worker"].startswith("tcp://127.0.0.1:")
        others = set(psutil.Process().children(recursive=True)) - before
        started = [one for one in others if "spawn_main" in line_of(one)]
        assert started
    _, alive = psutil.wait_procs(started, timeout=PATIENCE)
    assert alive == []
