"""What to learn from: a run that was kept, and the messages that led to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...domain.contexts import DONE, Job, JobKind, JobStatus
from ...domain.effects import DataEffect
from ...domain.message_data import TaskResultData, ToolCallData, ToolResultData
from ...domain.messages import Message
from ...domain.roles import Permission
from ...domain.shortfalls import ShortfallKind
from ...store import Inquiry, PlanRevision, Store
from ..facts import withhold


@dataclass(frozen=True)
class Evidence:
    """A job that changed something, with all that was said about it before."""

    job: Job
    request: str
    messages: list[Message]
    """Of the job and of those that planned it, without the content of secret files."""
    questions: list[Inquiry] = field(default_factory=list)
    permissions: list[Inquiry] = field(default_factory=list)
    effects: list[DataEffect] = field(default_factory=list)
    revisions: list[PlanRevision] = field(default_factory=list)
    """Of the plan that it executed, up to the approved one."""

    def succeeded(self) -> list[tuple[ToolCallData, ToolResultData]]:
        calls = {
            message.data.call_id: message.data
            for message in self.messages
            if isinstance(message.data, ToolCallData) and message.job_id == self.job.id
        }
        known = (message.data for message in self.messages)
        results = (data for data in known if isinstance(data, ToolResultData) and data.ok)
        return [
            (calls[result.call_id], result)
            for result in results
            if not result.sensitive and result.call_id in calls
        ]


def may_teach(job: Job) -> bool:
    """Whether a person had something changed, and it was completed."""
    if job.by != "person" or job.status is not JobStatus.COMPLETED:
        return False
    if job.kind is JobKind.PLAN:
        return all(task.status in DONE for task in job.tasks)
    changes = job.role.permits([Permission.WRITE_FILES])
    return changes and job.kind in (JobKind.MESSAGE, JobKind.WORKFLOW)


def is_kept(store: Store, job: Job) -> bool:
    """Whether it was not rolled back, and meets all expectations."""
    return may_teach(job) and not _is_rolled_back(store, job) and not _is_broken(store, job)


def _is_rolled_back(store: Store, job: Job) -> bool:
    """By the newest rollback of the job, which may have been an undo."""
    made = [checkpoint.data for checkpoint in store.checkpoints(job.context_id)]
    about = [data for data in made if job.id in data.get("reverts", ())]
    return bool(about) and not about[-1].get("is_undo")


def _is_broken(store: Store, job: Job) -> bool:
    ends = {
        message.data.step_id: message.data.shortfalls
        for message in store.job_messages(job.id)
        if isinstance(message.data, TaskResultData)
    }
    kinds = [shortfall.kind for shortfalls in ends.values() for shortfall in shortfalls]
    return ShortfallKind.BROKEN_EXPECTATION in kinds


def evidence_of(store: Store, job: Job) -> Evidence:
    """Collects from the job, those of its card, and those that made its plan."""
    revisions = [
        revision
        for revision in (store.plan_revisions(job.plan_id) if job.plan_id else [])
        if revision.revision <= (job.plan_revision or revision.revision)
    ]
    cards = dict.fromkeys([job.card_id, *(each.job_id for each in revisions if each.job_id)])
    about = {card_job.id: card_job for card in cards for card_job in store.card_jobs(card)}
    before = [each for each in about.values() if each.created_at < job.created_at]
    jobs = [*(each for each in before if each.by == "person"), job]
    ids = [each.id for each in jobs]
    return Evidence(
        job=job,
        request=jobs[0].request,
        messages=withhold(store.job_messages(*ids)),
        questions=[each for key in ids for each in store.job_inquiries(key, "question")],
        permissions=[each for key in ids for each in store.job_inquiries(key, "permission")],
        effects=store.data_effects(job.context_id, job.id),
        revisions=revisions,
    )
