"""What a card shows, read from the store: a job, and the jobs that were started on its card."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from ..domain.contexts import DONE, Context, Initiator, Job, JobKind, JobStatus, Task, Usage
from ..domain.effects import DataEffect
from ..domain.guidance import Guidance
from ..domain.identity import now
from ..domain.messages import Message
from ..domain.roles import AgentRole
from ..store import PlanRevision, Store, UserRequest
from .card_model import UserDecision
from .conversation_log import withhold


@dataclass(frozen=True)
class RecordedRun:
    seq: int
    context: Context
    job: Job
    messages: list[Message]
    questions: list[UserRequest]
    permissions: list[UserRequest]
    revision: PlanRevision | None
    owner: str = ""
    """Whose conversation it is; empty if nobody's in particular."""
    others: list[Job] = field(default_factory=list)
    """Jobs that were started on this card, and executions of the plan that was made on it."""
    effects: list[DataEffect] = field(default_factory=list)
    guidance: list[Guidance] = field(default_factory=list)
    resolve_role: Callable[[AgentRole], AgentRole] = lambda role: role
    """Resolves a role that was stored by name to its current definition."""
    as_of: str = field(default_factory=now)
    """When reading began: what happened later may be missing."""

    @cached_property
    def jobs(self) -> list[Job]:
        return sorted([self.job, *self.others], key=lambda job: (job.created_at, job.id))

    @cached_property
    def current_job(self) -> Job:
        """The job that runs, or ran last. A check of the notebook is not what a card is about."""
        about = [job for job in self.jobs if job.kind is not JobKind.CHECK] or [self.job]
        return next((job for job in about if not job.status.is_final), about[-1])

    @property
    def role(self) -> AgentRole:
        """Who worked last, and gets the next message."""
        return self.resolve_role(self.current_job.role)

    @property
    def roles(self) -> list[AgentRole]:
        acting = [job.role for job in self.jobs] + [task.role for task in self.tasks]
        return [self.resolve_role(role) for role in dict.fromkeys(acting)]

    @property
    def usage(self) -> Usage:
        first, *others = (job.usage for job in self.jobs)
        return sum(others, first)

    @property
    def executions(self) -> list[Job]:
        """The jobs that executed the plan, each with the approved revision."""
        return [job for job in self.jobs if job.kind is JobKind.PLAN]

    @property
    def is_plan_ready(self) -> bool:
        job = self.current_job
        if self.revision is None or not job.status.is_final:
            return False
        if job.kind is not JobKind.PLAN and job.status is not JobStatus.COMPLETED:
            return False
        return all(job.plan_revision != self.revision.revision for job in self.executions)

    @property
    def goal(self) -> str:
        return self.job.request.strip()

    @property
    def title(self) -> str:
        return self.goal.partition("\n")[0]

    @cached_property
    def tasks(self) -> list[Task]:
        if self.revision is None:
            return [task for job in self.jobs for task in job.tasks]
        return tasks_of(self.revision, self.executions)


def tasks_of(revision: PlanRevision, executions: list[Job]) -> list[Task]:
    """The tasks of the newest job that executed this revision.

    If none did, those that finished its steps before it was made.
    """
    own = [job for job in executions if job.plan_revision == revision.revision]
    if own:
        return own[-1].tasks
    done = {
        (task.step_id, task.description): task
        for job in executions
        for task in job.tasks
        if task.status in DONE
    }
    finished = ((step.id, step.action) for step in revision.plan.steps if step.status in DONE)
    return [done[key] for key in finished if key in done]


def read_run(
    store: Store, job_id: str, resolve_role: Callable[[AgentRole], AgentRole] = lambda role: role
) -> RecordedRun:
    """Reads `seq` first, so that whatever is stored meanwhile is sent again."""
    as_of = now()
    seq = store.last_message_seq(store.job(job_id).context_id)
    job = store.job(job_id)
    others = [card_job for card_job in store.card_jobs(job_id) if card_job.id != job_id]
    ids = [job_id, *(other.id for other in others)]
    return RecordedRun(
        seq=seq,
        context=store.context(job.context_id),
        job=job,
        messages=withhold(store.job_messages(*ids)),
        questions=[each for key in ids for each in store.job_requests(key, "question")],
        permissions=[each for key in ids for each in store.job_requests(key, "permission")],
        revision=_plan_of(store, job, others),
        owner=store.owner(job.context_id),
        others=others,
        effects=store.data_effects(job.context_id, *ids),
        guidance=store.guidance_used(job.context_id, *ids),
        resolve_role=resolve_role,
        as_of=as_of,
    )


def _plan_of(store: Store, job: Job, others: list[Job]) -> PlanRevision | None:
    """The newest revision of the plan that was made on this card.

    The card of an execution shows what was executed, or what was planned anew on this card.
    """
    if job.plan_id is None:
        return None
    if job.kind is not JobKind.PLAN:
        return store.plan(job.context_id, plan_id=job.plan_id)
    here = {job.id, *(other.id for other in others)}
    for revision in reversed(store.plan_revisions(job.plan_id)):
        if revision.revision == job.plan_revision or revision.job_id in here:
            return revision
    return None


EXECUTED: dict[Initiator, str] = {
    "person": "was approved",
    "kernel": "was executed by code",
    "policy": "was executed by code, under a policy file",
    "guest": "was executed by another agent",
}
"""By who had a revision executed: only a person approves."""
_ANONYMOUS = re.compile(r"[0-9a-f]{32}")
"""Jupyter's names for users authenticated by token: they identify no person."""


def asked_by(run: RecordedRun) -> str:
    """Empty if the server knows no name."""
    return "" if _ANONYMOUS.fullmatch(run.owner) else run.owner


def decisions(run: RecordedRun) -> list[UserDecision]:
    return [
        UserDecision(
            id=permission.id,
            job_id=permission.job_id,
            task_id=permission.task_id,
            what=permission.data.get("resource") or permission.data.get("tool", ""),
            allowed=permission.answer.get("decision") == "allow",
            feedback=permission.answer.get("feedback", ""),
            by=permission.answer.get("by", ""),
            at=permission.resolved_at or permission.created_at,
        )
        for permission in run.permissions
        if permission.answer
    ]
