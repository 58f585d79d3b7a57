"""How far an approved plan is: the statuses of its steps and their tasks, stored as they change."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from ...domain.contexts import DONE, Context, Job, StepStatus, Task
from ...domain.events import TaskCompleted, TaskStarted
from ...domain.identity import now
from ...domain.plan import Plan, PlanStep
from ...domain.roles import AgentRole
from ...store import PlanRevision, Transaction
from ...store.journal import Journal
from ..log import RunLog

LARGE_PLAN = 50
"""Steps beyond which the whole plan is no longer stored with every change of one of them."""
PLAN_PAUSE = 0.25


@dataclass
class PlanProgress:
    journal: Journal
    context: Context
    job: Job
    revision: PlanRevision
    tasks: dict[str, Task] = field(default_factory=dict)
    """By step id."""
    resumed_steps: set[str] = field(default_factory=set)
    """Steps that an earlier run of this job, or a lost worker, had begun or ended."""
    _storing: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self.steps: dict[str, PlanStep] = {step.id: step for step in self.plan.steps}

    @property
    def plan(self) -> Plan:
        return self.revision.plan

    def role_of(self, step: PlanStep) -> AgentRole:
        """Steps that name no role are the actor's, unless the job was resumed in another role."""
        return step.role or self.job.role

    def skip(self, task: Task) -> None:
        self.tasks[task.step_id] = task
        self.update(task.step_id, StepStatus.SKIPPED)
        self.store_now()

    def update(
        self,
        step_id: str,
        status: StepStatus,
        *,
        result: str | None = None,
        error: str | None = None,
    ) -> None:
        self.steps[step_id].status = status
        ended = status not in (StepStatus.PENDING, StepStatus.RUNNING, StepStatus.WAITING)
        changes = {
            "status": status,
            "result": result,
            "error": error,
            "completed_at": now() if ended else None,
        }
        task = self.tasks[step_id].model_copy(update=changes)
        self.tasks[step_id] = task
        log = self.log(task)
        with self.journal.transaction() as tx:
            tx.save_task(task)
            if status is StepStatus.RUNNING:
                log.append(tx, TaskStarted.of(tx.task(task.id)))
            elif ended:
                log.append(tx, TaskCompleted.of(tx.task(task.id)))
            if len(self.steps) <= LARGE_PLAN:
                self.store_plan(tx)
        if len(self.steps) > LARGE_PLAN and self._storing is None:
            self._storing = asyncio.get_running_loop().call_later(PLAN_PAUSE, self.store_now)

    def store_plan(self, tx: Transaction) -> None:
        tx.save_plan(self.revision)
        self.log().append(tx, self.revision.as_event())

    def store_now(self) -> None:
        """A large plan is stored a few times a second; its tasks are stored at once."""
        if self._storing is not None:
            self._storing.cancel()
            self._storing = None
            with self.journal.transaction() as tx:
                self.store_plan(tx)

    def prepare(self) -> None:
        """Make a task for each step; tasks of an earlier run are taken up as they ended."""
        earlier_tasks = {task.step_id: task for task in self.journal.store.tasks(self.job.id)}
        done, rounds = self._tasks_done_before(), self._rounds_before()
        self.resumed_steps = set(earlier_tasks)
        with self.journal.transaction() as tx:
            for step in self.plan.steps:
                earlier = earlier_tasks.get(step.id)
                reached = earlier.status if earlier else step.status
                step.status = reached if reached in DONE else StepStatus.PENDING
                before = done.get((step.id, step.action)) if step.status in DONE else None
                task = earlier or Task(
                    job_id=self.job.id,
                    context_id=self.context.id,
                    step_id=step.id,
                    role=self.role_of(step),
                    description=step.action,
                    dependencies=step.depends_on,
                    status=step.status,
                    result=before.result if before else None,
                    completed_at=before.completed_at if before else None,
                    **(rounds.get(step.id, {}) if step.status not in DONE else {}),
                )
                if task.status != step.status:  # it ended without success, and is to run again
                    again = {"status": step.status, "error": None, "completed_at": None}
                    task = task.model_copy(update=again)
                if step.status not in DONE:
                    task = task.model_copy(update={"role": self.role_of(step)})
                self.tasks[step.id] = task
                tx.save_task(task)
            tx.save_plan(self.revision)

    def _tasks_done_before(self) -> dict[tuple[str, str], Task]:
        jobs = self.journal.store.executions(self.revision.plan_id)
        return {
            (task.step_id, task.description): task
            for job in jobs
            for task in job.tasks
            if task.status in DONE
        }

    def _rounds_before(self) -> dict[str, dict[str, Any]]:
        """The round and findings with which the last job that executed this revision left its
        steps.
        """
        jobs = self.journal.store.executions(self.revision.plan_id)
        same = [job for job in jobs if job.plan_revision == self.revision.revision]
        last = next((job for job in reversed(same) if job.id != self.job.id), None)
        return {
            task.step_id: task.model_dump(include={"round", "findings"})
            for task in (last.tasks if last else [])
            if task.status not in DONE
        }

    def end_running(self, status: StepStatus) -> None:
        for step in self.plan.steps:
            if step.status in (StepStatus.RUNNING, StepStatus.WAITING):
                self.update(step.id, status)

    def log(self, task: Task | None = None) -> RunLog:
        task_id = task.id if task else None
        role = task.role if task else AgentRole.ACTOR
        return RunLog(self.journal, self.context.id, self.job.id, role, task_id)
