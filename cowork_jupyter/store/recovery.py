"""Closes what ended early: the jobs of dead processes, and replies that were cut off."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..domain.contexts import Job, JobKind, JobStatus, StepStatus
from ..domain.events import (
    Event,
    JobCompleted,
    ReasoningStreamed,
    Restart,
    TaskCompleted,
    TextStreamed,
)
from ..domain.identity import now
from ..domain.messages import (
    Cut,
    ErrorBody,
    Message,
    MessageType,
    TextData,
    TextPart,
    ToolCallData,
    ToolOutcome,
    ToolResultData,
)
from .transaction import Transaction

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class ProcessLock:
    """A lock file beside the database that marks this process as alive."""

    def __init__(self, database: Path) -> None:
        self._folder = database.with_name(f"{database.name}-owners")
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self.name = f"{os.getpid()}-{secrets.token_hex(8)}"
        path = self._folder / self.name
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        _try_lock(self._file)

    def is_alive(self, name: str | None) -> bool:
        """Whether the process with this mark still holds it."""
        if not name:
            return False
        try:
            file = os.open(self._folder / name, os.O_RDWR)
        except OSError:
            return False
        try:
            return not _try_lock(file)
        finally:
            os.close(file)

    def sweep(self) -> None:
        """Remove the marks of dead processes; recent ones may not be locked yet."""
        for path in self._folder.iterdir():
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > 60 and not self.is_alive(path.name):
                    path.unlink()

    def close(self) -> None:
        """Give up the mark; unfinished jobs that carry it then count as orphaned."""
        if self._file is None:
            return
        (self._folder / self.name).unlink(missing_ok=True)
        os.close(self._file)
        self._file = None


def _try_lock(file: int) -> bool:
    """Try to lock the file; the lock is released when the file is closed or the process ends."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A filesystem without locks: report every process as dead, because a job that looks alive
        # forever would block its conversation forever.
        return sys.platform != "win32"
    return True


UNFINISHED = (StepStatus.RUNNING, StepStatus.WAITING)
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
    return [tx.job(job_id) for job_id, owner in tx.owners().items() if not is_alive(owner)]


def interrupt(tx: Transaction, job: Job) -> None:
    """Close everything of the job that is open, innermost first, then the job.

    Its requests stay open: the user can answer them, and the resumed job takes the answer up.
    """
    tx.end_working_time(job)
    store_cut_replies(tx, job, "killed")
    interrupt_parts(tx, job)
    stopped = job.model_copy(
        update={"status": JobStatus.INTERRUPTED, "error": _JOB_ERROR, "completed_at": now()}
    )
    tx.save_job(stopped)
    tx.append_event(job.context_id, JobCompleted.of(tx.job(job.id)), job.id)


def interrupt_parts(tx: Transaction, job: Job) -> None:
    _answer_open_calls(tx, job)
    _interrupt_tasks(tx, job)
    _interrupt_plan_steps(tx, job)


def _answer_open_calls(tx: Transaction, job: Job) -> None:
    waiting = {request.data.get("call_id") for request in tx.pending_requests(job.context_id)}
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
        if task.status not in UNFINISHED:
            continue
        stopped = task.model_copy(
            update={"status": StepStatus.INTERRUPTED, "error": _JOB_ERROR, "completed_at": now()}
        )
        tx.save_task(stopped)
        tx.append_event(job.context_id, TaskCompleted.of(tx.task(task.id)), job.id, task.id)


def _interrupt_plan_steps(tx: Transaction, job: Job) -> None:
    """The plan shows the status of its steps, so it changes with their tasks."""
    if job.kind is not JobKind.PLAN:
        return
    revision = tx.plan(job.context_id, job.plan_revision, job.plan_id)
    if revision is None:
        return
    stopped = [step for step in revision.plan.steps if step.status in UNFINISHED]
    if not stopped:
        return
    for step in stopped:
        step.status = StepStatus.INTERRUPTED
    tx.save_plan(revision)
    tx.append_event(job.context_id, revision.as_event(), job.id)


# --- replies that were cut off


@dataclass
class _CutReply:
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    at: str = ""


def store_cut_replies(tx: Transaction, job: Job, cut: Cut) -> None:
    """Store what models have streamed in this job and no message holds, one message for each task.

    The words of replies that were started over are void.
    """
    roles = {task.id: task.role for task in job.tasks}
    for task_id, streamed in _by_task(tx.streamed_since_messages(job)):
        text, reasoning = "".join(streamed.texts).strip(), "".join(streamed.reasoning).strip()
        if not (text or reasoning):
            continue
        data = TextData(cut=cut)
        if reasoning:
            data.reasoning = reasoning
        message = Message(
            context_id=job.context_id,
            job_id=job.id,
            task_id=task_id,
            role="assistant",
            agent_role=roles.get(task_id or "", job.role),
            content=[TextPart(text=text)] if text else [],
            data=data,
            created_at=streamed.at,
        )
        tx.append_message(message)


def _by_task(events: list[Event]) -> Iterator[tuple[str | None, _CutReply]]:
    replies: dict[str | None, _CutReply] = {}
    for event in events:
        streamed = replies.setdefault(event.task_id, _CutReply())
        streamed.at = event.created_at
        match event.data:
            case TextStreamed(text=text):
                streamed.texts.append(text)
            case ReasoningStreamed(text=text):
                streamed.reasoning.append(text)
            case Restart():
                replies[event.task_id] = _CutReply()
    yield from replies.items()
