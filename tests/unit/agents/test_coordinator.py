"""Plans carried out, against a scripted model over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.errors import Conflict, InvalidInput, NotFound
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import ErrorBody, MessageType, ToolResultData
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.record import ExportFormat
from cowork_jupyter.store import PlanRevision
from cowork_jupyter.tools.base import Tool, ToolContext, ToolParameters, ToolResult
from tests.scripted import Scripted, ScriptedServer, call, plan, result, stall, text
from tests.scripted.server import last_words

from .conftest import Bench
from .helpers import add_tools, ended, eventually

pytestmark = pytest.mark.asyncio

Graph = dict[str, list[str]]
DIAMOND: Graph = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}


def make_plan(bench: Bench, graph: Graph, **fields: Any) -> int:
    """Store a plan with these steps; gives its revision."""
    steps = [
        {"id": one, "action": f"do {one}", "depends_on": needed, **fields}
        for one, needed in graph.items()
    ]
    made = Plan.model_validate({"goal": "g", "steps": steps})
    with bench.service.journal.transaction() as tx:
        tx.save_plan(PlanRevision(context_id=bench.context.id, revision=1, plan=made))
    return 1


async def execute(bench: Bench, revision: int = 1, **more: Any) -> str:
    return (await bench.service.execute_plan(bench.context.id, revision, **more)).id


async def run(bench: Bench, revision: int = 1, **more: Any) -> JobStatus:
    job = await bench.service.jobs.wait(await execute(bench, revision, **more))
    return job.status


def statuses(bench: Bench) -> dict[str, StepStatus]:
    revision = bench.service.plans.find(bench.context.id)
    assert revision
    return {step.id: step.status for step in revision.plan.steps}


def by_step(**replies: Callable[[], Scripted] | Scripted) -> Callable[[dict[str, Any]], Scripted]:
    """A model that answers by the step it was given."""

    def answer(body: dict[str, Any]) -> Scripted:
        said = json.dumps(body["messages"])
        for step, reply in replies.items():
            if f"The step: do {step}" in said:
                return reply() if callable(reply) else reply
        return text("Done.")

    return answer


async def test_every_step_becomes_a_task_and_all_complete(bench: Bench) -> None:
    make_plan(bench, DIAMOND)
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        assert await run(bench) is JobStatus.COMPLETED
    assert set(statuses(bench).values()) == {StepStatus.COMPLETED}
    job = bench.service.jobs.of(bench.context.id)[0]
    assert [task.status for task in job.tasks] == [StepStatus.COMPLETED] * 4
    assert len(bench.messages(MessageType.TASK_ASSIGNMENT)) == 4
    assert len(bench.messages(MessageType.TASK_RESULT)) == 4


async def test_a_task_starts_only_after_what_it_depends_on_has_completed(bench: Bench) -> None:
    make_plan(bench, DIAMOND)
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        await run(bench)
    order = [
        (event.type, event.data.model_dump()["step_id"])
        for event in bench.events(EventType.TASK_STARTED, EventType.TASK_COMPLETED)
    ]
    for step, needed in DIAMOND.items():
        for one in needed:
            completed = order.index((EventType.TASK_COMPLETED, one))
            assert completed < order.index((EventType.TASK_STARTED, step))
    kinds = [event.type for event in bench.events()]
    assert kinds[0] is EventType.JOB_STARTED
    assert kinds[-1] is EventType.JOB_COMPLETED


async def test_independent_steps_run_side_by_side_up_to_the_limit(bench: Bench) -> None:
    make_plan(bench, {name: [] for name in "abcd"})
    together, seen = asyncio.Barrier(3), 0

    async def meet(_parameters: ToolParameters, _context: ToolContext) -> ToolResult:
        nonlocal seen
        seen += 1
        if seen <= together.parties:
            await together.wait()  # for ever, unless three of them run at once
        return ToolResult("met", "met")

    add_tools(bench, Tool("meet", "test", "For tests.", frozenset(), ToolParameters, meet))
    with ScriptedServer(lambda _: call("meet", terminate=True)) as model:
        bench.connect(model.base_url)
        await ended(bench, await execute(bench, max_parallel=3))
    kinds = [event.type for event in bench.events(EventType.TASK_STARTED, EventType.TASK_COMPLETED)]
    assert kinds[:3] == [EventType.TASK_STARTED] * 3
    assert kinds[3] is EventType.TASK_COMPLETED


async def test_one_at_a_time_if_so_asked(bench: Bench) -> None:
    make_plan(bench, {name: [] for name in "abc"})
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        await run(bench, max_parallel=1)
    kinds = [event.type for event in bench.events(EventType.TASK_STARTED, EventType.TASK_COMPLETED)]
    assert kinds == [EventType.TASK_STARTED, EventType.TASK_COMPLETED] * 3


async def test_two_steps_on_one_file_never_run_at_once(bench: Bench) -> None:
    make_plan(bench, {name: [] for name in "abc"}, files=["a.py"])
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        await run(bench)
    kinds = [event.type for event in bench.events(EventType.TASK_STARTED, EventType.TASK_COMPLETED)]
    assert kinds == [EventType.TASK_STARTED, EventType.TASK_COMPLETED] * 3


async def test_a_task_gets_its_step_the_goal_and_the_results_it_builds_on(bench: Bench) -> None:
    make_plan(bench, {"a": [], "b": ["a"]})
    with ScriptedServer(by_step(a=text("Found 214 duplicates."))) as model:
        bench.connect(model.base_url)
        await run(bench)
        asked = model.requests[1].body["messages"][-1]["content"]
    assert "The plan's goal: g" in asked
    assert "The step: do b" in asked
    assert "Result of step a: Found 214 duplicates." in asked


async def test_executing_is_an_approval_that_makes_the_role_actor(bench: Bench) -> None:
    await bench.service.conversations.switch_role(bench.context.id, AgentRole.PLANNER)
    make_plan(bench, {"a": []})
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        await run(bench)
    assert bench.service.conversations.get(bench.context.id).role is AgentRole.ACTOR
    approval = next(one for one in bench.messages() if "approved_revision" in one.data.model_dump())
    assert approval.role == "user"


FAILED = result("failed", "the file is locked")


async def asked_more_than(bench: Bench, number: int) -> None:
    await eventually(lambda: len(bench.events(EventType.QUESTION_ASKED)) > number)


async def fail_and_answer(bench: Bench, *answers: str, graph: Graph | None = None) -> JobStatus:
    """Run a plan whose step b fails once, and answer what is asked then."""
    make_plan(bench, graph or {"a": [], "b": ["a"], "c": ["b"], "d": []})
    failures = iter([FAILED])
    model = ScriptedServer(by_step(b=lambda: next(failures, text("Done now."))))
    with model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        for number, answer in enumerate(answers):
            await asked_more_than(bench, number)
            # What does not depend on the step goes on meanwhile, and would be cut off by a stop.
            await eventually(lambda: statuses(bench).get("d") in (None, StepStatus.COMPLETED))
            asked = bench.events(EventType.QUESTION_ASKED)[number]
            bench.service.requests.answer(asked.data.model_dump()["id"], answer)
        job = await bench.service.jobs.wait(job_id)
        bench.requests = model.requests  # type: ignore[attr-defined]
    return job.status


async def test_a_step_whose_last_act_came_to_nothing_has_failed(bench: Bench) -> None:
    make_plan(bench, {"a": []})
    with ScriptedServer(by_step(a=call("read_file", terminate=True, path="nowhere"))) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        asked = await bench.until(EventType.QUESTION_ASKED)
        assert "nowhere" in asked.data.model_dump()["context"]
        bench.service.requests.answer(asked.data.model_dump()["id"], "stop")
        assert (await bench.service.jobs.wait(job_id)).status is JobStatus.FAILED


async def test_a_failure_asks_while_the_independent_rest_goes_on(bench: Bench) -> None:
    make_plan(bench, {"a": [], "b": ["a"], "c": ["b"], "d": []})
    with ScriptedServer(by_step(b=FAILED)) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        asked = await bench.until(EventType.QUESTION_ASKED)
        await eventually(lambda: statuses(bench)["d"] is StepStatus.COMPLETED)
        assert asked.data.model_dump()["context"] == "the file is locked"
        offered = [option["value"] for option in asked.data.model_dump()["options"]]
        assert offered == ["retry", "hint", "skip", "replan", "stop"]
        assert statuses(bench)["b"] is StepStatus.WAITING
        assert statuses(bench)["c"] is StepStatus.PENDING
        await bench.service.jobs.cancel(job_id)
    assert statuses(bench)["b"] is StepStatus.CANCELLED


async def test_retry_runs_the_step_again(bench: Bench) -> None:
    assert await fail_and_answer(bench, "retry") is JobStatus.COMPLETED
    assert set(statuses(bench).values()) == {StepStatus.COMPLETED}


async def test_a_hint_reaches_the_next_attempt(bench: Bench) -> None:
    status = await fail_and_answer(bench, "hint", "close the editor first")
    assert status is JobStatus.COMPLETED
    sent = json.dumps([one.body for one in bench.requests])  # type: ignore[attr-defined]
    assert "close the editor first" in sent


async def test_skip_lets_the_rest_go_on_without_it(bench: Bench) -> None:
    assert await fail_and_answer(bench, "skip") is JobStatus.COMPLETED
    assert statuses(bench)["b"] is StepStatus.SKIPPED
    assert statuses(bench)["c"] is StepStatus.COMPLETED


async def test_a_step_says_in_a_structure_how_it_ended(bench: Bench) -> None:
    make_plan(bench, {"a": [], "b": ["a"]})
    done = result("done", "FAILED: is a word in the file")
    with ScriptedServer(by_step(a=done)) as model:
        bench.connect(model.base_url)
        assert await run(bench) is JobStatus.COMPLETED
        asked = last_words(model.requests[-1].body, "user")
    assert [task.result for task in bench.service.jobs.of(bench.context.id)[0].tasks] == [
        "FAILED: is a word in the file",
        "Done.",
    ]
    assert "Result of step a: FAILED: is a word in the file" in asked
    told = bench.messages(MessageType.TASK_RESULT)[0]
    assert (told.text, told.data.model_dump()["status"]) == (
        "FAILED: is a word in the file",
        "completed",
    )


@pytest.mark.parametrize(
    ("answer", "ended"), [("accept", StepStatus.COMPLETED), ("skip", StepStatus.SKIPPED)]
)
async def test_what_was_done_in_part_the_user_decides_about(
    bench: Bench, answer: str, ended: StepStatus
) -> None:
    make_plan(bench, {"a": []})
    with ScriptedServer(by_step(a=result("partly", "Two are read.", "the third"))) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        asked = await bench.until(EventType.QUESTION_ASKED)
        assert asked.data.model_dump()["context"] == "Two are read.\n\nLeft undone: the third"
        assert asked.data.model_dump()["options"][0]["value"] == "accept"
        bench.service.requests.answer(asked.data.model_dump()["id"], answer)
        assert (await bench.service.jobs.wait(job_id)).status is JobStatus.COMPLETED
    assert statuses(bench) == {"a": ended}
    (told,) = bench.messages(MessageType.TASK_RESULT)
    assert (told.data.model_dump()["status"], told.data.model_dump()["left_undone"]) == (
        "partly",
        "the third",
    )


async def test_stop_ends_the_job_and_says_why(bench: Bench) -> None:
    assert await fail_and_answer(bench, "stop") is JobStatus.FAILED
    assert statuses(bench)["b"] is StepStatus.FAILED
    assert statuses(bench)["c"] is StepStatus.PENDING
    job = bench.service.jobs.of(bench.context.id)[0]
    assert "the file is locked" in (job.error or "")


async def test_replanning_keeps_what_is_finished_and_only_the_rest_is_executed(
    bench: Bench,
) -> None:
    make_plan(bench, {"a": [], "b": ["a"]})
    new = plan("g", {"id": "x", "action": "another way", "depends_on": []})

    def answer(body: dict[str, Any]) -> Scripted:
        said = json.dumps(body["messages"])
        if "PLANNER role" in said:
            return new
        return FAILED if "The step: do b" in said else text("Done.")

    with ScriptedServer(answer) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        await bench.answer("replan")
        failed = await bench.service.jobs.wait(job_id)
        # What was approved has failed, whatever was planned since.
        assert (failed.status, failed.error) == (
            JobStatus.FAILED, "Step b failed: the file is locked"
        )  # fmt: skip
        assert statuses(bench) == {"a": StepStatus.COMPLETED, "x": StepStatus.PENDING}
        with pytest.raises(Conflict, match="revision 2"):
            bench.service.plans.resume(job_id)
        begun = len(bench.events(EventType.TASK_STARTED))
        assert await run(bench, 2) is JobStatus.COMPLETED
    again = [
        event.data.model_dump()["step_id"] for event in bench.events(EventType.TASK_STARTED)[begun:]
    ]
    assert again == ["x"]
    assert set(statuses(bench).values()) == {StepStatus.COMPLETED}
    first = bench.service.jobs.of(bench.context.id)[-1].tasks[0]
    assert (first.step_id, first.status, first.result) == ("a", StepStatus.COMPLETED, "Done.")


async def test_nobody_is_said_to_have_asked_for_the_new_plan(bench: Bench) -> None:
    make_plan(bench, {"a": []})
    new = plan("g", {"id": "x", "action": "another way", "depends_on": []})
    with ScriptedServer(
        lambda body: new if "PLANNER role" in json.dumps(body["messages"]) else FAILED
    ) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        await bench.answer("replan")
        await bench.service.jobs.wait(job_id)
    words = [one.text for one in bench.messages(MessageType.TEXT) if one.role == "user"]
    assert words == ["Execute the plan (revision 1).", "replan"]
    exported = (await bench.service.export(bench.context.id, ExportFormat.MARKDOWN)).body.decode()
    assert "must not be repeated" not in exported
    assert "**Planner** re-plans from here." in exported


async def test_without_a_new_plan_the_job_says_why_there_is_none(bench: Bench) -> None:
    make_plan(bench, {"a": []})
    with ScriptedServer(
        lambda body: text("") if "PLANNER role" in json.dumps(body["messages"]) else FAILED
    ) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        await bench.answer("replan")
        job = await bench.service.jobs.wait(job_id)
    assert job.status is JobStatus.FAILED
    assert (job.error or "").startswith("Step a failed: the file is locked\nThere is no new plan: ")
    assert statuses(bench) == {"a": StepStatus.FAILED}


async def test_a_small_deviation_is_mentioned_and_goes_on(bench: Bench) -> None:
    make_plan(bench, {"a": []}, tools_needed=["read_file"])
    replies = iter([call("create_file", path="new.txt", content="x"), text("Done.")])
    with ScriptedServer(lambda _: next(replies)) as model:
        bench.connect(model.base_url)
        assert await run(bench) is JobStatus.COMPLETED
    assert (bench.workspace / "new.txt").exists()
    notices = [event.data.model_dump() for event in bench.events(EventType.NOTICE)]
    assert [one["size"] for one in notices if one["code"] == "deviation"] == ["small"]


async def test_cancelling_ends_running_steps_and_leaves_the_rest_pending(bench: Bench) -> None:
    make_plan(bench, {"a": [], "b": ["a"]})
    with ScriptedServer(lambda _: stall(after=0)) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        await bench.until(EventType.TASK_STARTED)
        assert (await bench.service.jobs.cancel(job_id)).status is JobStatus.CANCELLED
    assert statuses(bench) == {"a": StepStatus.CANCELLED, "b": StepStatus.PENDING}


async def test_a_resumed_job_repeats_no_completed_task(bench: Bench) -> None:
    assert await fail_and_answer(bench, "stop") is JobStatus.FAILED
    job_id = bench.service.jobs.of(bench.context.id)[0].id
    before = len(bench.events(EventType.TASK_STARTED))
    await bench.service.factory.llm.model.aclose()  # it was talking to another server
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        bench.service.plans.resume(job_id)
        job = await bench.service.jobs.wait(job_id)
    assert job.status is JobStatus.COMPLETED
    again = [
        event.data.model_dump()["step_id"]
        for event in bench.events(EventType.TASK_STARTED)[before:]
    ]
    assert "a" not in again
    assert again == ["b", "c"]


async def test_a_resumed_job_that_is_stopped_again_shows_no_failure_of_the_run_before(
    bench: Bench,
) -> None:
    make_plan(bench, {"a": [], "b": []}, files=["shared.csv"])  # so that b waits for a
    replies = iter([FAILED, FAILED])
    with ScriptedServer(lambda _body: next(replies, stall())) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        await eventually(lambda: len(bench.events(EventType.QUESTION_ASKED)) == 2)
        asked = bench.events(EventType.QUESTION_ASKED)[-1]
        assert asked.task_id
        bench.service.plans.decide(job_id, asked.task_id, "stop")
        await bench.service.jobs.wait(job_id)
        assert statuses(bench)["b"] is StepStatus.FAILED
        bench.service.plans.resume(job_id)
        await eventually(lambda: len(model.requests) == 3)
        job = await bench.service.jobs.cancel(job_id)
    tasks = {task.step_id: (task.status, task.error) for task in job.tasks}
    assert tasks["b"] == (StepStatus.PENDING, None)
    assert {step: status for step, (status, _) in tasks.items()} == statuses(bench)


async def test_a_plan_that_is_done_is_carried_out_anew_when_it_is_approved_again(
    bench: Bench,
) -> None:
    make_plan(bench, DIAMOND)
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        assert await run(bench) is JobStatus.COMPLETED
        before = len(bench.events(EventType.TASK_STARTED))
        assert await run(bench) is JobStatus.COMPLETED
    again = [
        event.data.model_dump()["step_id"]
        for event in bench.events(EventType.TASK_STARTED)[before:]
    ]
    assert sorted(again) == ["a", "b", "c", "d"]


async def test_a_plan_that_stopped_half_way_goes_on_when_it_is_approved_again(
    bench: Bench,
) -> None:
    assert await fail_and_answer(bench, "stop") is JobStatus.FAILED
    before = len(bench.events(EventType.TASK_STARTED))
    await bench.service.factory.llm.model.aclose()  # it was talking to another server
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        assert await run(bench) is JobStatus.COMPLETED
    again = [
        event.data.model_dump()["step_id"]
        for event in bench.events(EventType.TASK_STARTED)[before:]
    ]
    assert again == ["b", "c"]


async def test_an_old_revision_cannot_be_approved_or_edited(bench: Bench) -> None:
    make_plan(bench, {"a": []})
    with pytest.raises(Conflict) as refusal:
        await execute(bench, revision=7)
    assert refusal.value.code == "stale_revision"
    steps = [{"id": "z", "action": "do z"}]
    edited = bench.service.plans.edit(bench.context.id, {"goal": "g", "steps": steps}, 1)
    assert edited.revision == 2
    with pytest.raises(Conflict):
        bench.service.plans.edit(bench.context.id, {"goal": "g", "steps": steps}, 1)


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ([{"id": "a", "action": "x", "depends_on": ["a"]}], "depend on each other"),
        ([{"id": "a", "action": "x", "depends_on": ["q"]}], "steps[0].depends_on"),
        ([{"id": "a", "action": "x"}, {"id": "a", "action": "y"}], "steps[1].id"),
        ([{"id": "a", "action": "x", "tools_needed": ["fly"]}], "steps[0].tools_needed"),
        ([], "steps"),
    ],
)
async def test_an_edit_that_cannot_run_is_refused_with_the_place(
    bench: Bench, steps: list[dict[str, Any]], place: str
) -> None:
    make_plan(bench, {"a": []})
    with pytest.raises(InvalidInput) as refusal:
        bench.service.plans.edit(bench.context.id, {"goal": "g", "steps": steps}, 1)
    assert place in refusal.value.message


async def test_without_a_plan_there_is_nothing_to_execute(bench: Bench) -> None:
    with pytest.raises(NotFound):
        await execute(bench)


async def test_a_plan_says_which_files_it_read_have_changed(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("read_file", path="a.py"), plan("g", "change a.py"))
    await bench.tell("plan it", AgentRole.PLANNER)
    revision = bench.service.plans.find(bench.context.id)
    assert revision
    assert bench.service.plans.stale_files(revision) == []
    (bench.workspace / "a.py").write_text("answer = 43  # changed\n")
    assert bench.service.plans.stale_files(revision) == ["a.py"]


async def test_a_plan_is_not_out_of_date_before_a_file_it_needs_has_other_content(
    bench: Bench, scripted: ScriptedServer
) -> None:
    own, other = bench.workspace / "own.ipynb", bench.workspace / "other.ipynb"
    own.write_text("{}")
    cell = {"cell_type": "code", "source": ["x = 1"], "outputs": []}
    other.write_text(json.dumps({"cells": [cell]}))
    bench.service.journal.store.save_context(
        bench.context.model_copy(update={"notebook": "own.ipynb"})
    )
    step = {"action": "write", "files": ["b.txt", "own.ipynb", "other.ipynb"]}
    scripted.add(
        call("list_directory", path="."),
        call("read_file", path="a.py"),
        plan("g", step),
    )
    await bench.tell("plan it", AgentRole.PLANNER)
    revision = bench.service.plans.find(bench.context.id)
    assert revision
    stale_files = bench.service.plans.stale_files

    (bench.workspace / "a.py").touch()
    (bench.workspace / "checkpoint.tmp").write_text("x")
    own.write_text('{"cells": []}')
    other.write_text(json.dumps({"cells": [{**cell, "outputs": [{"output_type": "stream"}]}]}))
    assert stale_files(revision) == []

    (bench.workspace / "b.txt").write_text("somebody else's")
    other.write_text(json.dumps({"cells": [{**cell, "source": ["x = 2"]}]}))
    assert sorted(stale_files(revision)) == ["b.txt", "other.ipynb"]


async def crash_in_the_middle_of(bench: Bench, tool: str, **parameters: Any) -> str:
    """A job whose only step was cut off while this tool ran; gives the job's id."""
    make_plan(bench, {"a": []}, tools_needed=[tool])
    with ScriptedServer([call(tool, **parameters), stall(after=0)]) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        await bench.until(EventType.TOOL_RESULT)
        await bench.service.jobs.cancel(job_id)
    await bench.service.factory.llm.model.aclose()
    cut_off = ErrorBody(code="interrupted", message="The program ended.")
    with bench.service.journal.transaction() as tx:
        task = tx.tasks(job_id)[0]
        tx.append_message(
            bench.messages(MessageType.TOOL_RESULT)[-1].model_copy(
                update={
                    "id": "msg_cut",
                    "task_id": task.id,
                    "data": ToolResultData(call_id="cut", tool=tool, ok=False, error=cut_off),
                }
            )
        )
    return job_id


@pytest.mark.process
async def test_a_half_done_change_is_not_repeated_without_asking(bench: Bench) -> None:
    job_id = await crash_in_the_middle_of(bench, "execute_command", command="true")
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        bench.service.plans.resume(job_id)
        asked = await bench.until(EventType.QUESTION_ASKED)
        assert "interrupted in the middle of execute_command" in asked.data.model_dump()["question"]
        assert model.requests == []
        await bench.answer("skip")
        job = await bench.service.jobs.wait(job_id)
    assert job.status is JobStatus.COMPLETED
    assert statuses(bench)["a"] is StepStatus.SKIPPED


async def test_looking_again_after_a_crash_needs_no_question(bench: Bench) -> None:
    job_id = await crash_in_the_middle_of(bench, "read_file", path="a.py")
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        bench.service.plans.resume(job_id)
        job = await bench.service.jobs.wait(job_id)
    assert job.status is JobStatus.COMPLETED
    assert bench.events(EventType.QUESTION_ASKED) == []


@pytest.mark.parametrize(
    ("choice", "status"), [("retry", StepStatus.COMPLETED), ("skip", StepStatus.SKIPPED)]
)
async def test_a_failed_task_can_be_retried_or_skipped_by_name(
    bench: Bench, choice: str, status: StepStatus
) -> None:
    make_plan(bench, {"b": []})
    failures = iter([FAILED])
    with ScriptedServer(by_step(b=lambda: next(failures, text("Done now.")))) as model:
        bench.connect(model.base_url)
        job_id = await execute(bench)
        asked = await bench.until(EventType.QUESTION_ASKED)
        assert asked.task_id
        bench.service.plans.decide(job_id, asked.task_id, choice)
        await bench.service.jobs.wait(job_id)
        assert statuses(bench)["b"] is status
        with pytest.raises(Conflict):
            bench.service.plans.decide(job_id, asked.task_id, choice)


async def test_skipping_a_task_of_a_stopped_job_resumes_it_without_the_task(bench: Bench) -> None:
    assert await fail_and_answer(bench, "stop") is JobStatus.FAILED
    job = bench.service.jobs.of(bench.context.id)[0]
    failed = next(task for task in job.tasks if task.status is StepStatus.FAILED)
    await bench.service.factory.llm.model.aclose()
    with ScriptedServer(by_step()) as model:
        bench.connect(model.base_url)
        bench.service.plans.decide(job.id, failed.id, "skip")
        ended = await bench.service.jobs.wait(job.id)
    assert ended.status is JobStatus.COMPLETED
    assert statuses(bench)["b"] is StepStatus.SKIPPED
    assert statuses(bench)["c"] is StepStatus.COMPLETED
