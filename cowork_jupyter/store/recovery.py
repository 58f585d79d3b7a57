"""After a crash: what was left hanging is closed, and said so in the log."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.contexts import Job, JobKind, JobStatus, StepStatus
from ..domain.events import JobCompleted, TaskCompleted
from ..domain.identity import now
from ..domain.message_data import ErrorBody, ToolCallData, ToolOutcome, ToolResultData
from ..domain.messages import Message, MessageType, TextPart
from .writing import Transaction

_UNFINISHED = (StepStatus.RUNNING, StepStatus.WAITING)
_JOB_ERROR = "Cowork stopped before the job ended. You can resume it."
_CALL_ERROR = ErrorBody(
    code="interrupted",
    message="Cowork stopped before this tool returned a result. "
    "It may have done some or all of its work.",
)
_NOT_RUN = ErrorBody(
    code="not_run",
    message="Cowork stopped while this tool was waiting for the user's approval. "
    "It had not done anything yet.",
)


def orphaned_jobs(tx: Transaction, is_alive: Callable[[str | None], bool]) -> list[Job]:
    """Jobs that ought to run or wait, but whose process is gone."""
    return [tx.job(job_id) for job_id, owner in tx.owners().items() if not is_alive(owner)]


def interrupt(tx: Transaction, job: Job) -> None:
    """Close everything of the job that is open, innermost first, then the job.

    What it has asked the user stays: they can answer now, and the resumed job takes it up.
    """
    interrupt_parts(tx, job)
    stopped = job.model_copy(
        update={"status": JobStatus.INTERRUPTED, "error": _JOB_ERROR, "completed_at": now()}
    )
    tx.save_job(stopped)
    ended = JobCompleted(job_id=job.id, status=stopped.status, error=_JOB_ERROR)
    tx.append_event(job.context_id, ended, job.id)


def interrupt_parts(tx: Transaction, job: Job) -> None:
    """Close the calls, tasks and steps of a job that are open."""
    _answer_open_calls(tx, job)
    _interrupt_tasks(tx, job)
    _interrupt_plan_steps(tx, job)


def _answer_open_calls(tx: Transaction, job: Job) -> None:
    waiting = {inquiry.data.get("call_id") for inquiry in tx.pending_inquiries(job.context_id)}
    for message, call in _open_calls(tx, job):
        error = _NOT_RUN if call.call_id in waiting else _CALL_ERROR
        outcome = ToolOutcome(
            call_id=call.call_id, tool=call.tool, ok=False, summary="interrupted", error=error
        )
        answer = Message(
            context_id=message.context_id,
            job_id=message.job_id,
            task_id=message.task_id,
            role="tool",
            agent_role=message.agent_role,
            message_type=MessageType.TOOL_RESULT,
            content=[TextPart(text=error.message)],
            data=ToolResultData.of(outcome, call.tool),
        )
        tx.append_message(answer)
        tx.append_event(message.context_id, outcome, message.job_id, message.task_id)


def _open_calls(tx: Transaction, job: Job) -> list[tuple[Message, ToolCallData]]:
    """Tool calls of the job that have no result."""
    open_calls: dict[str, tuple[Message, ToolCallData]] = {}
    for message in tx.tool_messages(job.id):
        match message.data:
            case ToolCallData() as call:
                open_calls[call.call_id] = message, call
            case ToolResultData() as result:
                open_calls.pop(result.call_id, None)
    return list(open_calls.values())


def _interrupt_tasks(tx: Transaction, job: Job) -> None:
    for task in job.tasks:
        if task.status not in _UNFINISHED:
            continue
        stopped = task.model_copy(
            update={"status": StepStatus.INTERRUPTED, "error": _JOB_ERROR, "completed_at": now()}
        )
        tx.save_task(stopped)
        tx.append_event(job.context_id, TaskCompleted.of(stopped), job.id, task.id)


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
    tx.append_event(job.context_id, revision.as_event(), job.id)
