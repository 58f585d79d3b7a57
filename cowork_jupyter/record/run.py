"""One run, read from the store: what a card in a notebook tells about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..domain.contexts import Context, Job
from ..domain.messages import Message, MessageType
from ..domain.roles import AgentRole
from ..store import Inquiry, PlanRevision, Store
from .withheld import withhold


@dataclass(frozen=True)
class Run:
    """A job with all that belongs to it."""

    seq: int
    """Every event up to here is in the rest."""
    context: Context
    job: Job
    messages: list[Message]
    questions: list[Inquiry]
    permissions: list[Inquiry]
    revision: PlanRevision | None
    """The plan that the job made, or carries out."""
    owner: str = ""
    """Whose conversation it is; empty if nobody's in particular."""

    @property
    def goal(self) -> str:
        """What was asked for: the user's words, or the plan's when it is carried out."""
        if self.revision and self.job.tasks:
            return self.revision.plan.goal
        return next((one.text for one in self.messages if one.role == "user"), "").strip()

    @property
    def title(self) -> str:
        """The first line of it."""
        return self.goal.partition("\n")[0]

    @cached_property
    def role(self) -> AgentRole:
        """Who works on it."""
        acting = (one.agent_role for one in self.messages if one.agent_role)
        return AgentRole.ACTOR if self.job.tasks else next(acting, self.context.role)


def run_of(store: Store, job_id: str) -> Run:
    """Read a run. The place comes first, so that whatever is stored meanwhile is told again."""
    job = store.job(job_id)
    seq = store.last_message_seq(job.context_id)
    job = store.job(job_id)
    messages = withhold(store.job_messages(job_id))
    return Run(
        seq=seq,
        context=store.context(job.context_id),
        job=job,
        messages=messages,
        questions=store.job_questions(job_id),
        permissions=store.job_permissions(job_id),
        revision=_plan_of(store, job, messages),
        owner=store.owner(job.context_id),
    )


def _plan_of(store: Store, job: Job, messages: list[Message]) -> PlanRevision | None:
    """The newest plan up to when this job was over, or the next one after planning began."""
    if not job.tasks and not any(one.message_type is MessageType.PLAN for one in messages):
        return None
    until = job.completed_at if job.tasks else _next_began(store, job)
    revision = store.plan(job.context_id)
    while revision and until and revision.made_at > until and revision.revision > 1:
        revision = store.plan(job.context_id, revision.revision - 1)
    return revision


def _next_began(store: Store, job: Job) -> str | None:
    later = (one.created_at for one in store.jobs(job.context_id) if one.id > job.id)
    return min(later, default=None)
