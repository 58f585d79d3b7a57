"""Plans between being made and being carried out: read, edit, approve, resume."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ...domain.base_models import EXACT, describe_problems, field_problems
from ...domain.contexts import DONE, Context, Job, JobKind, JobStatus, StepStatus, Task, Usage
from ...domain.errors import Conflict, CoworkError, InvalidInput, NotFound
from ...domain.expectations import expectation_problem
from ...domain.figures import Assumption
from ...domain.guidance import Guidance, GuidanceUsed
from ...domain.messages import Message, TextData, TextPart
from ...domain.plan import Plan
from ...domain.roles import AgentRole
from ...domain.team import unknown_roles
from ...store import PlanRevision, UserRequest
from ...workspace import has_changed
from ..agent import AgentFactory
from ..ask.pending_requests import PendingRequests
from ..jobs import Jobs, role_to_resume
from ..log import RunLog
from ..pool import WorkerPool
from ..run.delivery import propose_plan, reset_steps, unfit_steps
from ..run.outcome import Outcome
from .coordinator import Execution
from .plan_progress import PlanProgress
from .step_check import SKIP

logger = logging.getLogger(__name__)


@dataclass
class Plans:
    factory: AgentFactory
    jobs: Jobs
    requests: PendingRequests
    pool: WorkerPool
    _executions: dict[str, Execution] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.requests.on_late_answer = self._take_up

    def stale_files(self, revision: PlanRevision) -> list[str]:
        """Files that the plan read or names and that have changed since, until it is executed.

        The notebook of the conversation does not count: the user works in it all the time, and
        tools that change a cell check that it is unchanged.
        """
        store, workspace = self.factory.journal.store, self.factory.tools.workspace
        executions = store.executions(revision.plan_id)
        if any(job.plan_revision == revision.revision for job in executions):
            return []
        own = store.context(revision.context_id).notebook
        return [
            path
            for path, fingerprint in revision.files_read.items()
            if path != own and has_changed(workspace, path, fingerprint)
        ]

    def find(
        self, context_id: str, plan_id: str | None = None, revision: int | None = None
    ) -> PlanRevision | None:
        """A plan of a conversation: the newest revision of the newest plan, unless named."""
        store = self.factory.journal.store
        store.context(context_id)
        plan_revision = store.plan(context_id, revision, plan_id)
        if plan_revision is None and (plan_id or revision):
            raise NotFound("This conversation has no such plan revision.", code="no_plan")
        return plan_revision

    def of(self, context_id: str) -> list[PlanRevision]:
        store = self.factory.journal.store
        store.context(context_id)
        return store.plans(context_id)

    def edit(
        self, context_id: str, raw: dict[str, Any], revision: int, plan_id: str | None = None
    ) -> PlanRevision:
        """Store an edited plan as a new revision. Raises Conflict if `revision` is not the newest.

        Revision 0 stands for no plan yet: then this is the first, made by hand.
        """
        newest = self.find(context_id, plan_id)
        _refuse_stale(newest.revision if newest else 0, revision)
        return self._revise(context_id, newest, self.validate(raw, exact=True))

    def restore(self, context_id: str, revision: int, plan_id: str | None = None) -> PlanRevision:
        newest = self.newest(context_id, plan_id)
        plan = reset_steps(self.revision(context_id, revision, newest.plan_id).plan)
        return self._revise(context_id, newest, plan, change=f"revision {revision} restored")

    def _revise(
        self, context_id: str, newest: PlanRevision | None, plan: Plan, change: str = ""
    ) -> PlanRevision:
        if self.factory.journal.store.active_job(context_id):
            raise Conflict("The plan is being executed. Stop the run first.", code="job_running")
        if newest is None:
            revised = PlanRevision(context_id=context_id, plan=plan, by="person")
        else:
            revised = newest.next(plan, by="person")
        revised.change = change or revised.change
        with self.factory.journal.transaction() as tx:
            tx.save_plan(revised)
            tx.append_event(context_id, revised.as_event())
        return revised

    def settle_assumptions(self, revision: PlanRevision, assumed: list[Assumption]) -> None:
        """Store what the user says of a plan's assumptions. Like step statuses, that does not make
        a new revision: what was approved stays.
        """
        for execution in self._executions.values():  # which stores the plan again, from its copy
            copy = execution.progress.revision
            if (copy.plan_id, copy.revision) == (revision.plan_id, revision.revision):
                revision = copy
        revision.plan.assumptions = assumed
        with self.factory.journal.transaction() as tx:
            tx.save_plan(revision)
            tx.append_event(revision.context_id, revision.as_event(), revision.job_id)

    def executable(
        self, context_id: str, revision: int, plan_id: str | None = None
    ) -> PlanRevision:
        """The plan, if this is its newest revision and nothing else runs in the conversation."""
        newest = self.newest(context_id, plan_id)
        _refuse_stale(newest.revision, revision)
        self.jobs.refuse_if_busy(context_id)
        self._refuse_unknown_roles(newest.plan)
        return newest

    def execute(self, job: Job, context: Context, max_parallel: int | None = None) -> Job:
        """Execute the very revision that the job names, which the user has approved.

        Continues where a run stopped half way; a plan that is done starts anew.
        """
        revision = job.plan_revision or 0
        approved = self.executable(context.id, revision, job.plan_id)
        if all(step.status in DONE for step in approved.plan.steps):
            approved.plan = reset_steps(approved.plan)
        message = Message(
            context_id=context.id,
            role="user",
            content=[TextPart(text=_approval(job))],
            data=TextData(approved_revision=revision, plan_id=approved.plan_id, by=job.by),
        )
        facts = {"plan_id": approved.plan_id, "request": approved.request or approved.plan.goal}

        async def work(started: Job) -> Outcome:
            return await self._execute(context, started, approved, max_parallel)

        return self.jobs.start(job.model_copy(update=facts), message, work)

    async def propose(self, job: Job, plan: Plan, used: Sequence[Guidance] = ()) -> Outcome:
        log = RunLog(self.factory.journal, job.context_id, job.id, AgentRole.PLANNER)
        propose_plan(log, plan)
        if used:
            log.event(GuidanceUsed(items=list(used)))
        return Outcome()

    def resume(
        self,
        job_id: str,
        limits: Mapping[str, int | float] | None = None,
        role: AgentRole | None = None,
    ) -> Job:
        """Resume an interrupted or stopped job: completed tasks are not repeated.

        What was spent before still counts; `limits` replace the job's from now on. It goes on in
        the conversation's role. If that has changed since, `role` says which, and is the
        conversation's from now on.
        """
        store = self.factory.journal.store
        job = store.job(job_id)
        if job.status not in (JobStatus.INTERRUPTED, JobStatus.FAILED, JobStatus.CANCELLED):
            raise Conflict(f"The job is {job.status}; only a stopped job can be resumed.")
        if job.kind is JobKind.GUEST:
            raise Conflict("These calls came from another agent. Only that agent can repeat them.")
        if job.kind is JobKind.CHECK:
            raise Conflict(
                "A check cannot be resumed. Start it again with **Check that it runs…**."
            )
        context, approved = store.context(job.context_id), self._approved_revision(job)
        acting = role_to_resume(job, context, role)

        async def work(resumed: Job) -> Outcome:
            if approved:
                return await self._execute(context, resumed, approved)
            return await self.factory.run_job(context, resumed)

        usage = job.usage + Usage(limits=dict(limits or {}))
        return self.jobs.restart(job.model_copy(update={"usage": usage, "role": acting}), work)

    def decide(self, job_id: str, task_id: str, choice: str, role: AgentRole | None = None) -> Job:
        """Retry or skip a failed task: now if its job asks, else by resuming the job."""
        store = self.factory.journal.store
        job, task = store.job(job_id), store.task(task_id)
        if task.job_id != job_id:
            raise NotFound(f"This job has no task '{task_id}'.")
        for question in store.pending_requests(job.context_id, "question"):
            offered = [option["value"] for option in question.data.get("options", [])]
            if question.task_id == task_id and choice in offered:
                if job.status.is_final:
                    role_to_resume(job, store.context(job.context_id), role)
                self.requests.answer(question.id, choice)
                job = store.job(job_id)
                return self.resume(job_id, role=role) if job.status.is_final else job
        if not job.status.is_final or task.status in DONE:
            raise Conflict(f"The task is {task.status}; there is nothing to decide.")
        role_to_resume(job, store.context(job.context_id), role)
        if choice == SKIP:
            self._mark_skipped(job, task)
        return self.resume(job_id, role=role)

    def _take_up(self, answered: UserRequest) -> None:
        """Let an interrupted job go on with the answer; if it may not now, the user resumes it."""
        job = self.factory.journal.store.job(answered.job_id or "")
        if job.status is not JobStatus.INTERRUPTED:
            return
        try:
            self.resume(job.id)
        except CoworkError as error:
            logger.info("Job %s is answered, but does not go on: %s", job.id, error.message)

    def _mark_skipped(self, job: Job, task: Task) -> None:
        approved = self._approved_revision(job)
        if approved is None:
            raise Conflict("Only a step of a plan can be skipped.")
        context = self.factory.journal.store.context(job.context_id)
        self._progress(context, job, approved).skip(task)

    def _approved_revision(self, job: Job) -> PlanRevision | None:
        """The revision that the user approved with this job, which must still be the newest.

        None for a job that executes no plan.
        """
        if job.kind is not JobKind.PLAN:
            return None
        newest = self.newest(job.context_id, job.plan_id)
        _refuse_stale(newest.revision, job.plan_revision or 0)
        self._refuse_unknown_roles(newest.plan)
        return newest

    def _refuse_unknown_roles(self, plan: Plan) -> None:
        """One may have gone, or lost its trust, since the plan was made."""
        for problem in unknown_roles(plan, self.factory.roles.all()):
            raise InvalidInput(problem, code="invalid_plan")

    async def _execute(
        self, context: Context, job: Job, revision: PlanRevision, max_parallel: int | None = None
    ) -> Outcome:
        execution = Execution(
            factory=self.factory,
            pool=self.pool,
            progress=self._progress(context, job, revision),
            max_parallel=max_parallel or self.factory.settings.max_parallel,
            when_cancelled=lambda: (
                StepStatus.INTERRUPTED if self.jobs.closing else StepStatus.CANCELLED
            ),
        )
        self._executions[job.id] = execution
        try:
            return await execution.run_execution_phase()
        finally:
            del self._executions[job.id]

    def move_file(self, old: str, new: str) -> None:
        for execution in self._executions.values():
            execution.progress.revision.move_file(old, new)

    def _progress(self, context: Context, job: Job, revision: PlanRevision) -> PlanProgress:
        acting = context.model_copy(update={"role": job.role})
        return PlanProgress(self.factory.journal, acting, job, revision)

    def newest(self, context_id: str, plan_id: str | None = None) -> PlanRevision:
        """The newest revision of the plan, by default of the current one. Raises NotFound."""
        newest = self.factory.journal.store.plan(context_id, plan_id=plan_id)
        if newest is None and plan_id:
            raise NotFound(f"This conversation has no plan '{plan_id}'.", code="no_plan")
        if newest is None:
            raise NotFound("This conversation has no plan yet.", code="no_plan")
        return newest

    def revision(
        self, context_id: str, revision: int | None, plan_id: str | None = None
    ) -> PlanRevision:
        newest = self.newest(context_id, plan_id)
        if revision in (None, newest.revision):
            return newest
        plan_revision = self.factory.journal.store.plan(context_id, revision, newest.plan_id)
        if plan_revision is None:
            raise NotFound(f"The plan has no revision {revision}.", code="no_revision")
        return plan_revision

    def validate(self, raw: dict[str, Any], *, exact: bool = False) -> Plan:
        try:
            plan = Plan.model_validate(raw, context=EXACT if exact else None)
        except ValidationError as error:
            why = describe_problems(field_problems(error))
            raise InvalidInput(why, code="invalid_plan") from None
        factory = self.factory
        plan = plan.with_roles(factory.roles.resolve)
        self._refuse_unknown_roles(plan)
        unfit = unfit_steps(plan, factory.tools.registry, factory.prompts.externals.names())
        for problem in (*unfit, *_senseless_expectations(plan)):
            raise InvalidInput(problem, code="invalid_plan")
        return plan


def _senseless_expectations(plan: Plan) -> Iterator[str]:
    for index, step in enumerate(plan.steps):
        for place, expectation in enumerate(step.expects):
            if problem := expectation_problem(expectation):
                yield f"steps[{index}].expects[{place}].{problem}"


def _approval(job: Job) -> str:
    """The message that stands for the approval. Only a person's is in their own words."""
    which = f"the plan (revision {job.plan_revision or 0})"
    if job.by == "person":
        return f"Execute {which}."
    cell = f"A cell of {job.notebook}" if job.notebook else "A program"
    return f"{cell} executes {which}{', under a policy file' if job.by == 'policy' else ''}."


def _refuse_stale(newest: int, revision: int) -> None:
    if newest != revision:
        raise Conflict(
            f"The plan has changed: it is at revision {newest}, not {revision}. Read it again.",
            code="stale_revision",
            details={"revision": newest},
        )
