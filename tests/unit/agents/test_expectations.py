"""What a step, or a run, breaks of what is expected is not passed over."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.errors import Conflict
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.expectations import Expectation, Measured
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.store import PlanRevision
from cowork_jupyter.tools.kernel.state import CodeResult, CodeRun, NoKernels
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace import Workspace
from tests.scripted import ScriptedServer, call, result, text

from .conftest import Bench

pytestmark = pytest.mark.asyncio
ROWS = Expectation(id="exp_rows", of="orders", check="rows", value=3, by="person")
DONE = result("done", "All is done.")


class Kernel(NoKernels):
    """One table, whose rows code sets by saying how many."""

    home = "this kernel"

    def __init__(self, rows: int | None = 3) -> None:
        self.rows = rows
        self.asked = 0
        self.running = True

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        self.rows = int(run.code.source)
        return CodeResult(run.path)

    async def measure(
        self, workspace: Workspace, path: str, expectations: Sequence[Expectation]
    ) -> list[Measured]:
        self.asked += 1
        if not self.running:
            raise Conflict("No kernel is running.", code="no_kernel")
        if self.rows is None:
            return [Measured(problem="no_table", why=one.of) for one in expectations]
        return [Measured(value=self.rows, rows=self.rows) for _ in expectations]


@pytest.fixture
def kernel(bench: Bench) -> Kernel:
    made = Kernel()
    bench.service.factory.tools.registry = tools_with_kernels()
    bench.service.factory.tools.kernels = made
    return made


def make_plan(bench: Bench, *steps: dict[str, Any]) -> None:
    made = Plan.model_validate({"goal": "g", "steps": [{"action": "work", **one} for one in steps]})
    with bench.service.journal.transaction() as tx:
        tx.save_plan(PlanRevision(context_id=bench.context.id, plan=made))


async def execute(bench: Bench, *answers: str) -> list[dict[str, Any]]:
    """Execute the plan; the questions that were asked, which get these answers."""
    job = await bench.service.execute_plan(bench.context.id, 1)
    asked, remaining = [], iter(answers)
    async for event in bench.service.journal.bus.subscribe(bench.context.id):
        if event.type is EventType.JOB_COMPLETED and event.job_id == job.id:
            break
        if event.type is EventType.QUESTION_ASKED:
            question = event.data.model_dump()
            asked.append(question)
            bench.service.requests.answer(question["id"], next(remaining))
    await bench.service.jobs.wait(job.id)
    return asked


def statuses(bench: Bench) -> list[StepStatus]:
    revision = bench.service.plans.find(bench.context.id)
    assert revision
    return [step.status for step in revision.plan.steps]


def run(code: object) -> Any:
    return call("run_code", code=str(code), where="notebook")


async def test_a_step_that_breaks_what_is_pinned_asks(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    await bench.service.expectations.pin(bench.context.id, ROWS)
    make_plan(bench, {"tools_needed": ["run_code"]})
    scripted.add(run(5), DONE)
    (question,) = await execute(bench, "stop")
    broken = "broke an expectation (orders: expected rows = 3 — it is 5)"
    assert question["question"] == f"Step 1 says it is done, but it {broken}: work. What now?"
    offered = [option["value"] for option in question["options"]]
    assert offered[:2] == ["accept", "update"]
    assert statuses(bench) == [StepStatus.FAILED]
    (step,) = (await bench.service.audit(bench.context.id)).steps
    assert ("broken_expectation", broken) in [(one.kind, one.what) for one in step.deviations]


async def test_to_try_again_says_why_and_can_put_it_right(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    await bench.service.expectations.pin(bench.context.id, ROWS)
    make_plan(bench, {"tools_needed": ["run_code"]})
    scripted.add(run(5), DONE, run(3), DONE)
    await execute(bench, "retry")
    assert statuses(bench) == [StepStatus.COMPLETED]
    again = json.dumps(scripted.requests[2].body["messages"], ensure_ascii=False)
    assert "orders: expected rows = 3 — it is 5" in again


async def test_what_is_accepted_is_not_held_against_the_next_step(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    await bench.service.expectations.pin(bench.context.id, ROWS)
    make_plan(bench, {"tools_needed": ["run_code"]}, {"tools_needed": ["run_code"]})
    scripted.add(run(5), DONE, run(5), DONE)
    assert len(await execute(bench, "accept")) == 1
    assert statuses(bench) == [StepStatus.COMPLETED] * 2
    assert await bench.service.expectations.all(bench.context.id) == [ROWS]


async def test_what_is_expected_can_be_updated_with_it(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    await bench.service.expectations.pin(bench.context.id, ROWS)
    make_plan(bench, {"tools_needed": ["run_code"]})
    scripted.add(run(5), DONE)
    await execute(bench, "update")
    assert statuses(bench) == [StepStatus.COMPLETED]
    (updated,) = await bench.service.expectations.all(bench.context.id)
    assert (updated.id, updated.value) == ("exp_rows", 5)


@pytest.mark.parametrize("rows", [5, None])
async def test_a_steps_own_expectations_are_checked_at_its_end(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer, rows: int | None
) -> None:
    kernel.rows = rows
    own = {"of": "orders", "check": "rows", "value": 3}
    make_plan(bench, {"expects": [own]})
    scripted.add(text("Done."))
    (question,) = await execute(bench, "accept")
    found = "it is 5" if rows else "there is no table orders"
    assert f"expected rows = 3 — {found}" in question["question"]
    assert "update" not in [option["value"] for option in question["options"]]


async def test_a_pinned_table_that_is_not_there_breaks_nothing(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    await bench.service.expectations.pin(bench.context.id, ROWS)
    kernel.rows = None
    scripted.add(call("create_file", path="new.txt", content="x"), text("Done."))
    assert (await bench.tell("Write it")).status is JobStatus.COMPLETED


async def test_what_cannot_be_checked_is_said_and_not_broken(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    kernel.running = False
    make_plan(bench, {"expects": [{"of": "orders", "check": "rows", "value": 3}]})
    scripted.add(text("Done."))
    assert await execute(bench) == []
    assert statuses(bench) == [StepStatus.COMPLETED]
    said = [event.data.model_dump() for event in bench.events(EventType.NOTICE)]
    told = "orders: rows = 3 could not be checked: no kernel is running."
    assert {"code": "unchecked_expectation", "message": told} in said


async def test_a_step_that_only_looks_is_not_held_to_what_is_pinned(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    await bench.service.expectations.pin(bench.context.id, ROWS)
    make_plan(bench, {"tools_needed": ["read_file"]})
    scripted.add(call("read_file", path="a.py"), text("Done."))
    assert await execute(bench) == []
    assert kernel.asked == 1, "once, before the plan"


async def test_a_run_is_told_once_what_it_broke_and_can_put_it_right(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    await bench.service.expectations.pin(bench.context.id, ROWS)
    scripted.add(run(5), text("Done."), run(3), text("Put right."))
    job = await bench.tell("Work")
    assert job.status is JobStatus.COMPLETED
    (told,) = [one.text for one in bench.messages(MessageType.TEXT) if one.role == "system"]
    assert "orders: expected rows = 3 — it is 5" in told


async def test_a_run_that_leaves_it_broken_has_failed(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    await bench.service.expectations.pin(bench.context.id, ROWS)
    scripted.add(run(5), text("Done."), text("It must be so."))
    job = await bench.tell("Work")
    assert job.status is JobStatus.FAILED
    assert job.error == ("It ended with broken expectations: orders: expected rows = 3 — it is 5.")


async def test_what_was_broken_before_is_said_and_not_its_fault(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    await bench.service.expectations.pin(bench.context.id, ROWS)
    kernel.rows = 4
    scripted.add(run(4), text("Done."), run(9), text("Done."), text("So be it."))
    assert (await bench.tell("Work")).status is JobStatus.COMPLETED
    said = [event.data.model_dump() for event in bench.events(EventType.NOTICE)]
    told = "Even before this run: orders: expected rows = 3 — it is 4."
    assert {"code": "broken_before", "message": told} in said
    assert (await bench.tell("More")).status is JobStatus.FAILED


async def test_where_nothing_is_pinned_no_kernel_is_asked(
    bench: Bench, kernel: Kernel, scripted: ScriptedServer
) -> None:
    scripted.add(run(5), text("Done."))
    assert (await bench.tell("Work")).status is JobStatus.COMPLETED
    assert kernel.asked == 0


async def test_a_plan_with_senseless_expectations_is_shown_without_them(
    bench: Bench, scripted: ScriptedServer
) -> None:
    from cowork_jupyter.domain.roles import AgentRole

    step = {"action": "work", "expects": [{"of": "orders", "check": "nice"}]}
    scripted.add(text(json.dumps({"type": "plan", "goal": "g", "steps": [step]})))
    assert (await bench.tell("Plan it", AgentRole.PLANNER)).status is JobStatus.COMPLETED
    (shown,) = bench.messages(MessageType.PLAN)
    data = shown.data.model_dump()
    assert data["steps"][0]["expects"] == []
    assert data["order_notes"] == ["An expectation was left out: there is no check 'nice'."]
