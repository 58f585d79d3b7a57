"""Everything that is stored about one conversation, read once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from ..domain.contexts import Context, Initiator, Job, JobKind, Task
from ..domain.events import Event, FileMoved, ToolOutput
from ..domain.messages import Message, TextPart, ToolFacts, ToolResultData
from ..store import CheckpointRecord, PlanRevision, Store

T = TypeVar("T")


@dataclass(frozen=True)
class ConversationLog:
    context: Context
    revision: PlanRevision | None = None
    jobs: list[Job] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    checkpoints: list[CheckpointRecord] = field(default_factory=list)
    revisions: list[PlanRevision] = field(default_factory=list)

    @property
    def tasks(self) -> list[Task]:
        return [task for job in self.jobs for task in job.tasks]

    @property
    def executed_by(self) -> Initiator | None:
        executions = self.executions(self.revision) if self.revision else []
        return executions[-1].by if executions else None

    def executions(self, revision: PlanRevision) -> list[Job]:
        jobs = (job for job in self.jobs if job.executes(revision.plan_id))
        return [job for job in jobs if job.plan_revision == revision.revision]

    @cached_property
    def moves(self) -> list[FileMoved]:
        """Renamed and moved files, oldest first: an audit uses the current names."""
        return self.event_data(FileMoved)

    def event_data(self, kind: type[T]) -> list[T]:
        """The data of all events of one kind, oldest first."""
        return [event.data for event in self.events if isinstance(event.data, kind)]


def read_log(store: Store, context_id: str, job_id: str | None = None) -> ConversationLog:
    """Read a conversation, with the plan that was executed last, or on the card of that job."""
    context = store.context(context_id)
    jobs = store.jobs(context_id)
    card = store.card_jobs(job_id) if job_id else []
    messages = store.messages(context_id).items
    return ConversationLog(
        context=context,
        revision=_audited(store, context_id, card or jobs, card[0].plan_id if card else None),
        jobs=jobs,
        messages=withhold(messages),
        events=withhold_events(store.events(context_id), messages),
        checkpoints=store.checkpoints(context_id),
        revisions=[
            revision
            for plan in store.plans(context_id)
            for revision in store.plan_revisions(plan.plan_id)
        ],
    )


def _audited(
    store: Store, context_id: str, jobs: list[Job], plan_id: str | None
) -> PlanRevision | None:
    """The newest revision that these jobs executed: a later one is still only a proposal. If they
    executed none, that of the plan, or the current one.
    """
    for job in reversed(jobs):
        if job.kind is JobKind.PLAN:
            return store.plan(context_id, job.plan_revision, job.plan_id)
    return store.plan(context_id, plan_id=plan_id)


WITHHELD = "[hidden: it may contain secrets]"


def withhold(messages: Iterable[Message]) -> list[Message]:
    """Replace the content of secret files."""
    return [_without_content(message) for message in messages]


def withhold_events(events: Iterable[Event], messages: Iterable[Message]) -> list[Event]:
    """The same for events that carry those messages, or streamed the output."""
    facts = (message.data for message in messages)
    calls = {data.call_id for data in facts if isinstance(data, ToolResultData) and data.sensitive}
    return [_without_text(event, calls) for event in events]


def _without_content(message: Message) -> Message:
    match message.data:
        case ToolResultData(sensitive=True) as result:
            data = result.model_copy(update={"facts": ToolFacts()})
            return message.model_copy(update={"content": [TextPart(text=WITHHELD)], "data": data})
    return message


def _without_text(event: Event, calls: set[str]) -> Event:
    match event.data:
        case Message() as message:
            return event.model_copy(update={"data": _without_content(message)})
        case ToolOutput(call_id=call_id) as output if call_id in calls:
            return event.model_copy(update={"data": output.model_copy(update={"text": WITHHELD})})
    return event
