from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cowork_jupyter.domain.base_models import Data
from cowork_jupyter.domain.contexts import Context, Job, JobKind, JobStatus, StepStatus, Task
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import Message, MessageType, ToolCallData, ToolResultData
from cowork_jupyter.domain.plan import Plan, PlanStep
from cowork_jupyter.store import PlanRevision, Store, UserRequest
from cowork_jupyter.store.recovery import ProcessLock

from .appending import append_message

TOOL_DATA: dict[MessageType, Callable[[str], Data]] = {
    MessageType.TOOL_CALL: lambda call_id: ToolCallData(call_id=call_id, tool="run_code"),
    MessageType.TOOL_RESULT: lambda call_id: ToolResultData(call_id=call_id, ok=True),
}


def tool(context: Context, kind: MessageType, call_id: str, job_id: str = "job_1") -> Message:
    return Message(
        context_id=context.id,
        job_id=job_id,
        task_id="task_1",
        role="assistant",
        message_type=kind,
        data=TOOL_DATA[kind](call_id),
    )


def leave_behind(path: Path, **job: Any) -> Context:
    """A store whose process ended in the middle of a job."""
    with Store(path) as store, store.transaction() as tx:
        context = Context()
        tx.save_context(context)
        tx.save_job(Job(**{"id": "job_1", "context_id": context.id, **job}))
    return context


def test_a_job_without_its_process_is_interrupted_once(path: Path) -> None:
    context = leave_behind(path, status=JobStatus.WAITING)
    with Store(path) as store:
        (event,) = store.recover()
        assert event.type is EventType.JOB_COMPLETED
        assert event.data.model_dump()["status"] == "interrupted"
        assert store.events(context.id) == [event]
        job = store.job("job_1")
        assert job.status is JobStatus.INTERRUPTED
        assert job.error
        assert "can resume it" in job.error
        assert store.recover() == []


def test_a_job_of_a_living_store_is_left_alone(path: Path) -> None:
    with Store(path) as first:
        context = first.save_context(Context())
        with first.transaction() as tx:
            tx.save_job(Job(id="job_1", context_id=context.id))
        with Store(path) as second:
            assert second.recover() == []
            assert first.recover() == []
            assert second.job("job_1").status is JobStatus.RUNNING


def test_finished_jobs_stay_as_they_ended(path: Path) -> None:
    leave_behind(path, status=JobStatus.FAILED, error="no")
    with Store(path) as store:
        assert store.recover() == []
        assert store.job("job_1").error == "no"


def test_open_tool_calls_get_an_interrupted_result(path: Path) -> None:
    context = leave_behind(path)
    with Store(path) as store:
        append_message(store, tool(context, MessageType.TOOL_CALL, "done"))
        append_message(store, tool(context, MessageType.TOOL_CALL, "open"))
        append_message(store, tool(context, MessageType.TOOL_RESULT, "done"))
        append_message(store, tool(context, MessageType.TOOL_CALL, "other", job_id="job_2"))
        events = store.recover()
        answer = store.messages(context.id).items[-1]
    assert [event.type for event in events] == ["message", "tool-result", "job-completed"]
    assert answer.message_type is MessageType.TOOL_RESULT
    assert (answer.role, answer.job_id, answer.task_id) == ("tool", "job_1", "task_1")
    assert answer.data.model_dump()["call_id"] == "open"
    assert answer.data.model_dump()["error"]["code"] == "interrupted"
    assert answer.text == answer.data.model_dump()["error"]["message"]
    assert events[1].data.model_dump()["ok"] is False


def test_unfinished_tasks_and_their_plan_steps_are_interrupted(path: Path) -> None:
    facts = {"kind": JobKind.PLAN, "plan_id": "plan_1", "plan_revision": 4}
    context = leave_behind(path, **facts)
    statuses = [StepStatus.COMPLETED, StepStatus.RUNNING, StepStatus.PENDING]
    steps = [
        PlanStep(id=str(n), step_number=n, action="do", status=status)
        for n, status in enumerate(statuses)
    ]
    with Store(path) as store, store.transaction() as tx:
        tx.save_plan(
            PlanRevision(
                context_id=context.id,
                plan_id="plan_1",
                revision=4,
                plan=Plan(goal="g", steps=steps),
            )
        )
        for step in steps:
            task = Task(job_id="job_1", context_id=context.id, step_id=step.id, status=step.status)
            tx.save_task(task)
    expected = [StepStatus.COMPLETED, StepStatus.INTERRUPTED, StepStatus.PENDING]
    with Store(path) as store:
        events = store.recover()
        revision = store.plan(context.id)
        assert [task.status for task in store.tasks("job_1")] == expected
        assert revision is not None
        assert [step.status for step in revision.plan.steps] == expected
    assert [event.type for event in events] == ["task-completed", "plan-update", "job-completed"]
    assert events[0].data.model_dump()["step_id"] == "1"
    assert events[1].data.model_dump()["revision"] == 4


def test_what_the_job_had_asked_the_user_waits_on(path: Path) -> None:
    context = leave_behind(path)
    asked = [
        UserRequest(id="q1", kind="question", context_id=context.id, job_id="job_1"),
        UserRequest(id="p1", kind="permission", context_id=context.id, job_id="job_1"),
    ]
    with Store(path) as store, store.transaction() as tx:
        for request in asked:
            tx.save_request(request)
    with Store(path) as store:
        events = store.recover()
        assert store.pending_requests(context.id) == asked
    assert [event.type for event in events] == ["job-completed"]


def test_a_resumed_job_belongs_to_the_process_that_resumed_it(path: Path) -> None:
    leave_behind(path)
    with Store(path) as store:
        store.recover()
        with store.transaction() as tx:
            tx.save_job(tx.job("job_1").model_copy(update={"status": JobStatus.RUNNING}))
        with Store(path) as other:
            assert other.recover() == []


def test_marks_of_the_dead_are_swept_and_those_of_the_living_stay(path: Path) -> None:
    path.parent.mkdir()
    living, other = ProcessLock(path), ProcessLock(path)
    folder = path.with_name("cowork.sqlite-owners")
    for name in ("1-dead", living.name):
        (folder / name).touch()
        os.utime(folder / name, (0, 0))
    (folder / "2-just-starting").touch()
    other.sweep()
    assert {each.name for each in folder.iterdir()} == {living.name, other.name, "2-just-starting"}
    assert other.is_alive(living.name)
    living.close()
    assert not other.is_alive(living.name)
    assert not other.is_alive(None)
    other.close()
