"""A step that says it is done is held against what it did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cowork_jupyter.agents.ask.user import Nobody
from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.store import PlanRevision
from tests.scripted import Scripted, ScriptedServer, call, result, text

from .conftest import Bench

pytestmark = pytest.mark.asyncio

DONE = result("done", "All is done.")


def make_plan(bench: Bench, **step: Any) -> None:
    """Store a plan of one step."""
    made = Plan.model_validate({"goal": "g", "steps": [{"action": "write it", **step}]})
    with bench.service.journal.transaction() as tx:
        tx.save_plan(PlanRevision(context_id=bench.context.id, plan=made))


async def asks(bench: Bench, *replies: Scripted, answer: str = "stop") -> str | None:
    """Execute the plan; what the user is asked, if anything, which gets the answer."""
    remaining = iter(replies)
    with ScriptedServer(lambda _: next(remaining)) as model:
        bench.connect(model.base_url)
        job = await bench.service.execute_plan(bench.context.id, 1)
        async for event in bench.service.journal.bus.subscribe(bench.context.id):
            if event.type is EventType.JOB_COMPLETED:
                return None
            if event.type is EventType.QUESTION_ASKED:
                bench.service.requests.answer(event.data.model_dump()["id"], answer)
                await bench.service.jobs.wait(job.id)
                return str(event.data.model_dump()["question"])
    raise AssertionError("the bus was closed")


async def deviations(bench: Bench) -> list[tuple[str, str]]:
    (step,) = (await bench.service.audit(bench.context.id)).steps
    return [(one.kind, one.what) for one in step.deviations]


def status(bench: Bench) -> StepStatus:
    revision = bench.service.plans.find(bench.context.id)
    assert revision
    return revision.plan.steps[0].status


@pytest.mark.parametrize("tools", [["create_file"], ["write"], ["read_file", "execute_command"]])
@pytest.mark.parametrize("last", [text("I could not do it."), DONE])
async def test_a_step_that_did_none_of_its_planned_work_asks(
    bench: Bench, tools: list[str], last: Scripted
) -> None:
    make_plan(bench, tools_needed=tools)
    asked = await asks(bench, call("read_file", path="a.py"), last)
    assert asked
    assert asked.startswith("Step 1 says it is done, but it did none of its planned work (")
    assert status(bench) is StepStatus.FAILED
    assert bench.job_statuses() == [JobStatus.FAILED]


async def test_the_question_shows_what_the_agent_said(bench: Bench) -> None:
    make_plan(bench, tools_needed=["create_file"])
    await asks(bench, text("I could not do it."))
    (asked,) = bench.events(EventType.QUESTION_ASKED)
    data = asked.data.model_dump()
    assert data["context"] == "Its report: I could not do it.", "the question says the rest"
    offered = [option["value"] for option in data["options"]]
    assert offered == ["accept", "retry", "hint", "skip", "replan", "stop"]


async def test_a_call_that_failed_is_no_work(bench: Bench) -> None:
    make_plan(bench, tools_needed=["create_file"])
    assert await asks(bench, call("create_file", path="a.py", content="x"), text("It is there."))


async def test_a_file_that_was_to_be_written_must_be_there(bench: Bench) -> None:
    make_plan(bench, tools_needed=["create_file"], files=["report.md"])
    asked = await asks(bench, call("create_file", path="reprot.md", content="x"), DONE)
    assert asked == "Step 1 says it is done, but it did not create report.md: write it. What now?"


@pytest.mark.parametrize(
    ("step", "replies"),
    [
        ({}, [text("Nothing to do.")]),
        ({"tools_needed": ["read_file", "grep"], "files": ["nowhere.md"]}, [DONE]),
        ({"tools_needed": ["read"]}, [DONE]),
        ({"tools_needed": ["create_file"], "files": ["src/*.py", "/etc/x", "~/x"]}, None),
        ({"tools_needed": ["create_file"], "files": ["./new.md", "a.py"]}, None),
        ({"tools_needed": ["write_files"]}, None),  # by another tool, which is shown as such
        (
            {"tools_needed": ["delete_file"], "files": ["a.py"]},
            [call("delete_file", path="a.py"), DONE],
        ),
        ({"files": ["a.py"]}, [call("delete_file", path="a.py"), DONE]),
    ],
)
async def test_a_step_that_did_its_work_is_done(
    bench: Bench, step: dict[str, Any], replies: list[Scripted] | None
) -> None:
    make_plan(bench, **step)
    works = [call("create_file", path="new.md", content="x"), DONE]
    assert await asks(bench, *(replies or works)) is None
    assert status(bench) is StepStatus.COMPLETED


@pytest.mark.process
@pytest.mark.parametrize(("command", "is_work"), [("echo x > new.md", True), ("ls", False)])
async def test_of_a_command_beyond_the_plan_counts_what_it_changed(
    bench: Bench, command: str, is_work: bool
) -> None:
    make_plan(bench, tools_needed=["create_file"])
    asked = await asks(bench, call("execute_command", command=command), DONE)
    assert (asked is None) is is_work


async def test_work_of_an_earlier_attempt_counts(bench: Bench) -> None:
    make_plan(bench, tools_needed=["create_file"], files=["new.md"])
    made = call("create_file", path="new.md", content="x")
    assert await asks(bench, made, result("failed", "oh"), DONE, answer="retry")
    assert status(bench) is StepStatus.COMPLETED


async def test_the_next_attempt_is_told_why_the_last_one_does_not_count(bench: Bench) -> None:
    make_plan(bench, tools_needed=["create_file"])
    made = call("create_file", path="new.md", content="x")
    assert await asks(bench, DONE, made, DONE, answer="retry")
    assert status(bench) is StepStatus.COMPLETED
    assert await deviations(bench) == []
    sent = json.dumps([one.model_dump() for one in bench.messages()])
    assert "Your last attempt does not count. It says it is done, but it did none" in sent


async def test_what_the_user_accepts_is_completed_and_not_as_planned(bench: Bench) -> None:
    make_plan(bench, tools_needed=["create_file"], files=["new.md"])
    assert await asks(bench, DONE, answer="accept")
    assert status(bench) is StepStatus.COMPLETED
    assert bench.job_statuses() == [JobStatus.COMPLETED]
    assert await deviations(bench) == [
        ("nothing_done", "did none of its planned work (create_file)"),
        ("missing_file", "did not create new.md"),
    ]


async def test_headless_it_fails_with_the_reason(bench: Bench) -> None:
    bench.service.factory.tools.user = Nobody()
    make_plan(bench, tools_needed=["create_file"])
    assert await asks(bench, text("I could not do it.")) is None
    job = bench.service.jobs.of(bench.context.id)[0]
    assert job.status is JobStatus.FAILED
    assert "did none of its planned work (create_file)" in (job.error or "")
    assert "I could not do it." in (job.error or "")
