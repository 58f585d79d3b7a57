"""Everything that is stored about one conversation, read once."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..domain.contexts import Context, Job, Task
from ..domain.events import Event
from ..domain.messages import Message
from ..store import CheckpointRecord, PlanRevision, Store
from .trail import approvals, work_by_task
from .withheld import withhold, withhold_events


@dataclass(frozen=True)
class Facts:
    """What an audit and an export are made of."""

    context: Context
    revision: PlanRevision | None = None
    jobs: list[Job] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    checkpoints: list[CheckpointRecord] = field(default_factory=list)

    @property
    def tasks(self) -> list[Task]:
        """The tasks of all jobs, oldest first."""
        return [task for job in self.jobs for task in job.tasks]


def facts_of(store: Store, context_id: str) -> Facts:
    """Read a conversation, with the plan that was carried out last."""
    context = store.context(context_id)
    messages = store.messages(context_id).items
    events = withhold_events(store.events(context_id), messages)
    messages = withhold(messages)
    begun = _newest_begun(events, messages)
    revision = store.plan(context_id, begun) if begun else None
    return Facts(
        context=context,
        revision=revision or store.plan(context_id),
        jobs=store.jobs(context_id),
        messages=messages,
        events=events,
        checkpoints=store.checkpoints(context_id),
    )


def _newest_begun(events: list[Event], messages: list[Message]) -> int | None:
    """The newest revision that was carried out: a later one is still only a proposal."""
    begun = [
        *approvals(messages).values(),
        *(one.revisions for one in work_by_task(events).values()),
    ]
    return max(set().union(*begun), default=None)
