"""Jobs: one at a time in each context, each ending in exactly one final status."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from ..domain.contexts import Context, Job, JobStatus
from ..domain.errors import Conflict, CoworkError, InvalidInput, NotFound
from ..domain.events import ErrorReported, JobCompleted, JobStarted
from ..domain.health import Problem
from ..domain.identity import now
from ..domain.messages import Message, MessageType, TextPart
from ..domain.roles import AgentRole
from ..store import JobEnd, Store, Transaction
from ..store.journal import Journal
from ..store.recovery import interrupt_parts, store_cut_replies
from .ask.pending_requests import status_of, withdraw
from .run.outcome import Outcome

logger = logging.getLogger(__name__)

_STOPPED = "Cowork stopped before the job ended. You can resume it."

Work = Callable[[Job], Awaitable[Outcome]]
RETRY_SECONDS = 1.0


class Jobs:
    def __init__(self, journal: Journal, on_end: Callable[[Job], None] | None = None) -> None:
        self._journal = journal
        self._on_end = on_end
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stopping: set[asyncio.Task[None]] = set()
        self._unstored: dict[str, CoworkError] = {}
        """Jobs whose end cannot be stored yet, and why."""
        self.closing = False
        """Whether the service is stopping: what is cancelled now can be resumed."""

    def start(
        self, job: Job, message: Message | None, work: Work, *, sets_role: bool = False
    ) -> Job:
        """`sets_role`: its role is the conversation's from now on."""
        with self._journal.transaction() as tx:
            _refuse_if_busy(tx, job.context_id)
            if sets_role:
                _set_role(tx, job)
            tx.save_job(job)
            _announce(tx, job)
            if message:
                tx.append_message(message.model_copy(update={"job_id": job.id}))
        return self._begin(job, work)

    def restart(self, stopped: Job, work: Work) -> Job:
        if stopped.id in self._unstored:
            raise self._unstored[stopped.id]  # its end, once stored, would end the new run
        with self._journal.transaction() as tx:
            _refuse_if_busy(tx, stopped.context_id)
            fresh = {"status": status_of(tx, stopped.id), "error": None, "completed_at": None}
            job = stopped.model_copy(update=fresh)
            _set_role(tx, job)
            tx.save_job(job)
            _announce(tx, job)
        return self._begin(job, work)

    def refuse_if_busy(self, context_id: str) -> None:
        """Raise what starting a job there now would."""
        _refuse_if_busy(self._journal.store, context_id)

    def get(self, job_id: str) -> Job:
        return self._journal.store.job(job_id)

    def of(self, context_id: str) -> list[Job]:
        self._journal.store.context(context_id)
        return self._journal.store.jobs(context_id)

    def working(self) -> list[Job]:
        jobs: list[Job] = []
        for job_id in tuple(self._running):
            with suppress(NotFound):  # the conversation was deleted, and the job with it
                jobs.append(self._journal.store.job(job_id))
        return [job for job in jobs if job.status is JobStatus.RUNNING]

    def _begin(self, job: Job, work: Work) -> Job:
        task = asyncio.get_running_loop().create_task(self._run(job, work))
        self._running[job.id] = task
        task.add_done_callback(partial(self._forget, job.id))
        return job

    def _forget(self, job_id: str, ended: asyncio.Task[None]) -> None:
        """The job may have been restarted by now; then that run stays registered."""
        self._stopping.discard(ended)
        if self._running.get(job_id) is ended:
            del self._running[job_id]

    async def cancel(self, job_id: str) -> Job:
        """Stop a job and wait until it has stopped. No effect on one that has ended.

        Raises why its end cannot be stored; it ends as soon as it can.
        """
        tasks = await self._begin_stop(job_id)
        while tasks and not (await asyncio.wait(tasks, timeout=RETRY_SECONDS))[0]:
            if job_id in self._unstored:
                raise self._unstored[job_id]
        return self._journal.store.job(job_id)

    async def wait(self, job_id: str) -> Job:
        task = self._running.get(job_id)
        if task:
            await asyncio.wait([task])
        return self._journal.store.job(job_id)

    async def close(self) -> None:
        self.closing = True
        if tasks := await self._begin_stop(*self._running):
            await asyncio.wait(tasks)

    def problems(self) -> list[Problem]:
        errors = {error.code: error.message for error in self._unstored.values()}
        return [Problem(code=code, message=message) for code, message in errors.items()]

    async def _begin_stop(self, *job_ids: str) -> list[asyncio.Task[None]]:
        # A task that has not begun when it is cancelled never begins, and so could not end its job.
        await asyncio.sleep(0)
        tasks = [self._running[job_id] for job_id in job_ids if job_id in self._running]
        for task in tasks:
            if task not in self._stopping:  # twice would cut short how its parts end
                self._stopping.add(task)
                task.cancel()
        return tasks

    async def _run(self, job: Job, work: Work) -> None:
        try:
            outcome = await work(job)
        except asyncio.CancelledError:
            stopped = JobStatus.INTERRUPTED if self.closing else JobStatus.CANCELLED
            outcome = Outcome(stopped, _STOPPED if self.closing else None)
        except CoworkError as error:
            outcome = Outcome(JobStatus.FAILED, error.message)
        except Exception:
            logger.exception("Job %s broke", job.id)
            why = "Something went wrong inside Cowork. See its log."
            outcome = Outcome(JobStatus.FAILED, why)
        with suppress(NotFound):  # the conversation was deleted, and the job with it
            if await self._end_with_retry(job, outcome) and self._on_end:
                self._on_end(self._journal.store.job(job.id))

    async def _end_with_retry(self, job: Job, outcome: Outcome) -> bool:
        """Retry while the end cannot be stored (a full disk); until then only readers here see it.

        Returns False if the service stops first; the next one then recovers the job.
        """
        ends = self._journal.store.unstored_ends
        answer_text = outcome.words if outcome.status is JobStatus.COMPLETED else ""
        end = JobEnd(outcome.status, outcome.error, now(), answer_text or None)
        task = asyncio.current_task()
        assert task is not None
        self._stopping.add(task)  # it has nothing left to cancel
        try:
            while True:
                try:
                    self._end(job, end)
                    return True
                except NotFound:
                    raise
                except CoworkError as error:
                    if job.id not in self._unstored:
                        logger.warning("The end of job %s waits: %s", job.id, error.message)
                    self._unstored[job.id] = error
                    ends[job.id] = replace(end, error=end.error or error.message)
                if self.closing:
                    return False
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            self._unstored.pop(job.id, None)
            ends.pop(job.id, None)

    def _end(self, job: Job, end: JobEnd) -> None:
        with self._journal.transaction() as tx:
            if end.status is not JobStatus.COMPLETED:
                is_stopped = end.status is JobStatus.CANCELLED
                store_cut_replies(tx, tx.job(job.id), "stopped" if is_stopped else "killed")
            if end.status is JobStatus.FAILED:
                interrupt_parts(tx, tx.job(job.id))  # what could not say itself how it ended
            if end.status is JobStatus.FAILED and end.error:
                tx.append_message(_error_message(job, end.error))
                tx.append_event(job.context_id, ErrorReported(message=end.error), job.id)
            if end.status is not JobStatus.INTERRUPTED:
                for request in tx.pending_requests(job.context_id):
                    withdraw(tx, request)  # nobody took it up, here or in a job before this one
            tx.save_job(tx.job(job.id).model_copy(update=vars(end)))
            tx.append_event(job.context_id, JobCompleted.of(tx.job(job.id)), job.id)


def role_to_resume(job: Job, context: Context, chosen: AgentRole | None) -> AgentRole:
    """The conversation's role. If the job ran in another, the request must name one of them."""
    if chosen is None and context.role != job.role:
        raise Conflict(
            f"The role has changed: the job ran as {job.role.spec.label}, and the conversation is "
            f"now {context.role.spec.label}'s. Say in which of them it goes on.",
            code="role_changed",
            details={"job_role": job.role.value, "current_role": context.role.value},
        )
    if chosen not in (None, job.role, context.role):
        raise InvalidInput(f"role: choose {job.role} or {context.role}.", code="other_role")
    return chosen or job.role


def _set_role(tx: Transaction, job: Job) -> None:
    if tx.context(job.context_id).role != job.role:
        tx.set_role(job.context_id, job.role)


def _announce(tx: Transaction, job: Job) -> None:
    facts = job.model_dump(include=set(JobStarted.model_fields) - {"job_id"})
    tx.append_event(job.context_id, JobStarted(job_id=job.id, **facts), job.id)


def _refuse_if_busy(stored: Store | Transaction, context_id: str) -> None:
    running = stored.active_job(context_id)
    if running:
        raise Conflict(
            "A job is running in this conversation. Wait for it, or cancel it.",
            code="job_running",
            details={"job_id": running.id},
        )


def _error_message(job: Job, text: str) -> Message:
    return Message(
        context_id=job.context_id,
        job_id=job.id,
        role="system",
        message_type=MessageType.ERROR,
        content=[TextPart(text=text)],
    )
