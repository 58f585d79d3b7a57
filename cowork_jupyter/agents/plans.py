"""Plans between being made and being carried out: read, edit, approve, resume."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ..domain.contexts import Context, Job, JobStatus, StepStatus, Task, Usage
from ..domain.errors import Conflict, InvalidInput, NotFound
from ..domain.events import EventType
from ..domain.messages import Message, TextPart
from ..domain.plan import Plan
from ..domain.roles import AgentRole, Permission
from ..store import PlanRevision
from ..workspace import fingerprint
from .agent import AgentKit
from .choices import SKIP
from .coordinator import Execution
from .delivery import propose_plan
from .jobs import Jobs
from .log import RunLog
from .loop import Outcome
from .planning import run_planning_phase
from .pool import WorkerPool
from .schedule import DONE
from .user import Inbox


@dataclass
class Plans:
    """The plans of all conversations."""

    kit: AgentKit
    jobs: Jobs
    inbox: Inbox
    pool: WorkerPool

    def stale_files(self, revision: PlanRevision) -> list[str]:
        """Files that the planner read and that have changed since."""
        workspace = self.kit.workspace
        return [
            path
            for path, known in revision.files_read.items()
            if fingerprint(workspace, path) != known
        ]

    def edit(self, context_id: str, raw: dict[str, Any], revision: int) -> PlanRevision:
        """Store an edited plan as a new revision, unless somebody else was quicker.

        Where there is none yet, which is revision 0, this is the first: one made by hand.
        """
        newest = self.kit.journal.store.plan(context_id)
        _refuse_stale(newest.revision if newest else 0, revision)
        if self.kit.journal.store.active_job(context_id):
            raise Conflict("The plan is being carried out. Stop that first.", code="job_running")
        plan = self.checked(raw)
        edited = PlanRevision(
            context_id=context_id,
            revision=revision + 1,
            plan=plan,
            files_read=newest.files_read if newest else {},
        )
        with self.kit.journal.transaction() as tx:
            tx.save_plan(edited)
            data = {**plan.model_dump(mode="json"), "revision": edited.revision}
            tx.append_event(context_id, EventType.PLAN_UPDATE, data)
        return edited

    def execute(self, context: Context, revision: int, max_parallel: int | None = None) -> Job:
        """The user's approval of this very revision: carry it out.

        Where a run stopped half way the next one goes on; a plan that is done begins anew.
        """
        approved = self._newest(context.id, revision)
        if all(step.status in DONE for step in approved.plan.steps):
            for step in approved.plan.steps:
                step.status = StepStatus.PENDING
        message = Message(
            context_id=context.id,
            role="user",
            content=[TextPart(text=f"Execute the plan (revision {revision}).")],
            data={"approved_revision": revision},
        )

        async def work(job: Job) -> Outcome:
            return await self._execution(context, job, approved, max_parallel).run_execution_phase()

        return self.jobs.start(message, work)

    async def propose(self, job: Job, plan: Plan) -> Outcome:
        """What a job does for which no planner is needed: show a plan that there is already."""
        propose_plan(RunLog(self.kit.journal, job.context_id, job.id, AgentRole.PLANNER), plan)
        return Outcome()

    async def work_on(self, context: Context, role: AgentRole, job: Job, request: str) -> Outcome:
        """What a job does that a message of the user began."""
        budget = self.kit.budget(job, role)
        if role is AgentRole.PLANNER:
            return await run_planning_phase(self.kit, context, job.id, request, budget)
        return await self.kit.run(context, role, job.id, request, budget)

    def resume(self, job_id: str, limits: Mapping[str, int | float] | None = None) -> Job:
        """Go on with an interrupted or stopped job: completed tasks are not repeated.

        What was spent before still counts; `limits` hold from now on in place of the job's.
        """
        store = self.kit.journal.store
        job = store.job(job_id)
        if job.status not in (JobStatus.INTERRUPTED, JobStatus.FAILED, JobStatus.CANCELLED):
            raise Conflict(f"The job is {job.status}; only a stopped one can be resumed.")
        context, goal = store.context(job.context_id), store.goal(job.context_id, job_id)
        if goal and "guest" in goal.data:
            raise Conflict("These were calls of another agent, which alone can make them again.")
        approved = self._approved(job)

        async def work(resumed: Job) -> Outcome:
            if approved:
                execution = self._execution(context, resumed, approved, None)
                return await execution.run_execution_phase()
            role = goal.agent_role if goal and goal.agent_role else context.role
            return await self.work_on(context, role, resumed, goal.text if goal else "")

        usage = job.usage + Usage(limits=dict(limits or {}))
        return self.jobs.restart(job.model_copy(update={"usage": usage}), work)

    def decide(self, job_id: str, task_id: str, choice: str) -> Job:
        """Try a failed task again, or skip it: now if its job asks, else by resuming the job."""
        store = self.kit.journal.store
        job, task = store.job(job_id), store.task(task_id)
        if task.job_id != job_id:
            raise NotFound(f"There is no task '{task_id}' in this job.")
        for question in store.pending_questions(job.context_id):
            offered = [option["value"] for option in question.data.get("options", [])]
            if question.task_id == task_id and choice in offered:
                self.inbox.answer(question.id, choice)
                return store.job(job_id)
        if not job.status.is_final or task.status in DONE:
            raise Conflict(f"The task is {task.status}; there is nothing to decide.")
        if choice == SKIP:
            self._mark_skipped(job, task)
        return self.resume(job_id)

    def _mark_skipped(self, job: Job, task: Task) -> None:
        approved = self._approved(job)
        if approved is None:
            raise Conflict("Only a step of a plan can be skipped.")
        context = self.kit.journal.store.context(job.context_id)
        self._execution(context, job, approved, None).skip(task)

    def _approved(self, job: Job) -> PlanRevision | None:
        """The plan that the user approved with this job, which must be the newest still.

        None for a job that carries out no plan, whatever plan there is beside it.
        """
        goal = self.kit.journal.store.goal(job.context_id, job.id)
        revision = goal.data.get("approved_revision") if goal else None
        return self._newest(job.context_id, revision) if revision else None

    def _execution(
        self, context: Context, job: Job, revision: PlanRevision, max_parallel: int | None
    ) -> Execution:
        return Execution(
            kit=self.kit,
            pool=self.pool,
            context=context.model_copy(update={"role": AgentRole.ACTOR}),
            job=job,
            revision=revision,
            max_parallel=max_parallel or self.kit.settings.max_parallel,
            when_cancelled=lambda: (
                StepStatus.INTERRUPTED if self.jobs.closing else StepStatus.CANCELLED
            ),
        )

    def _newest(self, context_id: str, revision: int) -> PlanRevision:
        newest = self.kit.journal.store.plan(context_id)
        if newest is None:
            raise NotFound("This conversation has no plan yet.", code="no_plan")
        _refuse_stale(newest.revision, revision)
        return newest

    def checked(self, raw: dict[str, Any]) -> Plan:
        """The plan, if it is sound and the actor has the tools; else an error with the place."""
        try:
            plan = Plan.model_validate(raw)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
            problems = [
                f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ")
                for one in found
            ]
            message = "; ".join(problems).replace("Value error, ", "")
            raise InvalidInput(message, code="invalid_plan") from None
        for problem in self._unknown_tools(plan):
            raise InvalidInput(problem, code="invalid_plan")
        return plan

    def _unknown_tools(self, plan: Plan) -> Iterator[str]:
        usable = {tool.name for tool in self.kit.registry.permitted(AgentRole.ACTOR)}
        known = usable | {str(one) for one in Permission} | self.kit.externals.tool_names()
        for index, step in enumerate(plan.steps):
            for name in step.tools_needed:
                if name not in known:
                    yield f"steps[{index}].tools_needed: the actor has no tool '{name}'"


def _refuse_stale(newest: int, revision: int) -> None:
    if newest != revision:
        raise Conflict(
            f"The plan has changed: it is at revision {newest}, not {revision}. Look at it again.",
            code="stale_revision",
            details={"revision": newest},
        )
