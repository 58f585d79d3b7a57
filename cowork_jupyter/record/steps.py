"""The steps of a plan, each with what the log contains about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..domain.contexts import DONE, StepStatus, Task
from ..domain.events import Event
from ..domain.message_data import TaskResultData
from ..domain.messages import Message, MessageType
from ..domain.moves import current_path
from ..domain.plan import PlanStep
from ..store import PlanRevision
from .facts import Facts
from .trail import LoggedUse, Span, TaskTiming

_OPEN = (StepStatus.PENDING, StepStatus.RUNNING, StepStatus.WAITING)


@dataclass
class Trace:
    """One step, with the tasks that carried it out and what they left in the log."""

    step: PlanStep
    tasks: list[Task]
    uses: list[LoggedUse] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    work: list[TaskTiming] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        return self.step.status in DONE

    @cached_property
    def started(self) -> Event | None:
        starts = [event for work in self.work for event in work.starts]
        return min(starts, key=lambda event: event.seq, default=None)

    @property
    def ended(self) -> Event | None:
        """None while it is running."""
        ends = [work.end for work in self.work if work.end]
        going_on = any(work.starts and not work.end for work in self.work)
        return None if going_on else max(ends, key=lambda event: event.seq, default=None)

    @cached_property
    def done(self) -> Event | None:
        """The event of its completion, or of skipping it."""
        return min(
            (work.done for work in self.work if work.done),
            key=lambda event: event.seq,
            default=None,
        )

    @property
    def attempts(self) -> int:
        return sum(len(work.starts) for work in self.work)

    @property
    def spans(self) -> list[Span]:
        return [span for work in self.work for span in work.spans]

    @property
    def failures(self) -> list[Message]:
        return [
            message
            for message in self.messages
            if isinstance(message.data, TaskResultData) and message.data.status == "failed"
        ]

    def of_type(self, kind: MessageType) -> list[Message]:
        return [message for message in self.messages if message.message_type is kind]


def traces_of(
    facts: Facts, uses: Iterable[LoggedUse], work: Mapping[str, TaskTiming]
) -> dict[str, Trace]:
    """Keyed by id, in the plan's order."""
    if facts.revision is None:
        return {}
    said = {message.task_id for message in facts.messages if message.task_id}
    begun = said | {task_id for task_id, timing in work.items() if timing.starts}
    own: dict[str, list[Task]] = {}
    for task in _tasks_of_revision(facts, facts.revision):
        own.setdefault(task.step_id, []).append(task)
    earlier = [
        task for job in facts.jobs if job.executes(facts.revision.plan_id) for task in job.tasks
    ]
    traces = {}
    for step in facts.revision.plan.steps:
        tasks = own.get(step.id, [])
        if step.status in DONE and not any(task.id in begun for task in tasks):
            tasks = _carried_over(step, [task for task in earlier if task.id in begun])
        done = [work[task.id] for task in tasks if task.id in work]
        files = [current_path(path, facts.moves) for path in step.files]
        stands = _as_it_stands(step, tasks).model_copy(update={"files": files})
        traces[step.id] = Trace(stands, tasks, work=done)
    _hand_out(facts, uses, traces)
    return traces


def _as_it_stands(step: PlanStep, tasks: list[Task]) -> PlanStep:
    """A large plan is stored less often than its tasks, so these know sooner how a step ended."""
    if step.status not in _OPEN or not tasks or tasks[-1].status in _OPEN:
        return step
    return step.model_copy(update={"status": tasks[-1].status})


def _tasks_of_revision(facts: Facts, revision: PlanRevision) -> list[Task]:
    """Tasks that executed this revision: other plans reuse step ids."""
    return [
        task
        for job in facts.jobs
        if job.executes(revision.plan_id) and job.plan_revision == revision.revision
        for task in job.tasks
    ]


def _carried_over(step: PlanStep, begun: list[Task]) -> list[Task]:
    """The task of an identical step that an earlier revision finished."""
    same = [task for task in begun if (task.step_id, task.description) == (step.id, step.action)]
    return same[-1:]


def _hand_out(facts: Facts, uses: Iterable[LoggedUse], traces: Mapping[str, Trace]) -> None:
    by_task = {task.id: trace for trace in traces.values() for task in trace.tasks}
    for message in facts.messages:
        if message.task_id in by_task:
            by_task[message.task_id].messages.append(message)
    for use in uses:
        if use.call.task_id in by_task:
            by_task[use.call.task_id].uses.append(use)
