"""After a crash: what was left hanging is closed, and said so in the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..domain.contexts import Job, JobKind, JobStatus, StepStatus
from ..domain.errors import CoworkError
from ..domain.events import EventType
from ..domain.identity import now
from ..domain.messages import Message, MessageType, TextPart
from .records import Inquiry
from .writing import Transaction

_UNFINISHED = (StepStatus.RUNNING, StepStatus.WAITING)
_JOB_ERROR = "The program ended before the job did. It can be resumed."
_CALL_ERROR = CoworkError(
    "The program ended before this tool gave its result. It may have done some or all of its work.",
    code="interrupted",
).as_dict()
_NOT_RUN = CoworkError(
    "The program ended while this tool waited for the user's permission. It did nothing yet.",
    code="not_run",
).as_dict()


def orphaned_jobs(tx: Transaction, is_alive: Callable[[str | None], bool]) -> list[Job]:
    """Jobs that ought to run or wait, but whose process is gone."""
    return [tx.job(job_id) for job_id, owner in tx.owners().items() if not is_alive(owner)]


def interrupt(tx: Transaction, job: Job) -> None:
    """Close everything of the job that is open, innermost first, then the job."""
    _answer_open_calls(tx, job)
    _withdraw_inquiries(tx, job)
    _interrupt_tasks(tx, job)
    _interrupt_plan_steps(tx, job)
    stopped = job.model_copy(
        update={"status": JobStatus.INTERRUPTED, "error": _JOB_ERROR, "completed_at": now()}
    )
    tx.save_job(stopped)
    data = {"job_id": job.id, "status": stopped.status, "error": _JOB_ERROR}
    tx.append_event(job.context_id, EventType.JOB_COMPLETED, data, job.id)


def _answer_open_calls(tx: Transaction, job: Job) -> None:
    waiting = {one.data.get("call_id") for one in tx.pending_permissions(job.context_id)}
    for call in _open_calls(tx, job):
        error = _NOT_RUN if call.data.get("call_id") in waiting else _CALL_ERROR
        facts = {
            "call_id": call.data.get("call_id"),
            "tool": call.data.get("tool"),
            "ok": False,
            "summary": "interrupted",
            "error": error,
        }
        answer = Message(
            context_id=call.context_id,
            job_id=call.job_id,
            task_id=call.task_id,
            role="tool",
            agent_role=call.agent_role,
            message_type=MessageType.TOOL_RESULT,
            content=[TextPart(text=error["message"])],
            data=facts,
        )
        tx.append_message(answer)
        tx.append_event(call.context_id, EventType.TOOL_RESULT, facts, call.job_id, call.task_id)


def _open_calls(tx: Transaction, job: Job) -> list[Message]:
    """Tool calls of the job that have no result."""
    open_calls: dict[str, Message] = {}
    for message in tx.tool_messages(job.id):
        call_id = message.data.get("call_id")
        if message.message_type is MessageType.TOOL_CALL:
            open_calls[call_id or message.id] = message
        elif message.message_type is MessageType.TOOL_RESULT:
            open_calls.pop(call_id or "", None)
    return list(open_calls.values())


def _withdraw_inquiries(tx: Transaction, job: Job) -> None:
    """Nobody waits for these answers any more; a resumed job asks again.

    Requests for permission stay: the user can decide now, and the resumed job takes it up.
    """
    for question in _of_job(job, tx.pending_questions(job.context_id)):
        tx.save_question(question)
        _tell(tx, EventType.QUESTION_ANSWERED, question)


def _of_job(job: Job, inquiries: list[Inquiry]) -> Iterator[Inquiry]:
    withdrawn = {"status": JobStatus.INTERRUPTED.value, "resolved_at": now()}
    return (each.model_copy(update=withdrawn) for each in inquiries if each.job_id == job.id)


def _tell(tx: Transaction, kind: EventType, inquiry: Inquiry) -> None:
    data: dict[str, Any] = {"id": inquiry.id, "status": inquiry.status}
    tx.append_event(inquiry.context_id, kind, data, inquiry.job_id, inquiry.task_id)


def _interrupt_tasks(tx: Transaction, job: Job) -> None:
    for task in job.tasks:
        if task.status not in _UNFINISHED:
            continue
        stopped = task.model_copy(
            update={"status": StepStatus.INTERRUPTED, "error": _JOB_ERROR, "completed_at": now()}
        )
        tx.save_task(stopped)
        data = {
            "task_id": task.id,
            "step_id": task.step_id,
            "status": stopped.status,
            "error": _JOB_ERROR,
        }
        tx.append_event(job.context_id, EventType.TASK_COMPLETED, data, job.id, task.id)


def _interrupt_plan_steps(tx: Transaction, job: Job) -> None:
    """The plan shows how its steps stand, so it changes with the tasks that carried them out."""
    if job.kind is not JobKind.PLAN:
        return
    revision = tx.plan(job.context_id, job.plan_revision, job.plan_id)
    if revision is None:
        return
    stopped = [step for step in revision.plan.steps if step.status in _UNFINISHED]
    if not stopped:
        return
    for step in stopped:
        step.status = StepStatus.INTERRUPTED
    tx.save_plan(revision)
    tx.append_event(job.context_id, EventType.PLAN_UPDATE, revision.as_event(), job.id)
