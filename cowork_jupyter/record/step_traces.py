"""The log, read for the audit: which tools were called, and when each task was worked on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from ..domain.contexts import DONE, StepStatus, Task
from ..domain.events import (
    Event,
    FileMoved,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
    TaskCompleted,
    TaskStarted,
    current_path,
)
from ..domain.messages import (
    CallData,
    Message,
    MessageType,
    TaskResultData,
    ToolCallData,
    ToolResultData,
)
from ..domain.plan import PlanStep
from .conversation_log import ConversationLog

Span = tuple[float, float]

_NOTHING_DONE = frozenset({"unknown_tool", "bad_parameters"})


@dataclass
class LoggedToolUse:
    tool: str
    call: Message
    """The call, or a result whose call is missing."""
    message_ids: list[str]
    result: Message | None = None
    moves: Sequence[FileMoved] = ()

    @property
    def call_id(self) -> str | None:
        return self.call.data.call_id if isinstance(self.call.data, CallData) else None

    @property
    def parameters(self) -> dict[str, Any]:
        return self.call.data.parameters if isinstance(self.call.data, ToolCallData) else {}

    @property
    def outcome(self) -> ToolResultData | None:
        """None if there is no result, or none that can be parsed."""
        data = self.result.data if self.result else None
        return data if isinstance(data, ToolResultData) else None

    @property
    def was_approved(self) -> bool:
        """Whether the user approved it before it ran."""
        return self.outcome is not None and self.outcome.approved

    @property
    def ok(self) -> bool:
        """False if it was cut off."""
        return self.outcome is not None and self.outcome.ok

    @property
    def summary(self) -> str:
        return " ".join(self.outcome.summary.split()) if self.outcome else ""

    @property
    def did_nothing(self) -> bool:
        """Whether the call was invalid, so that nothing can have happened."""
        error = self.outcome.error if self.outcome else None
        return error is not None and error.code in _NOTHING_DONE

    @property
    def paths(self) -> list[str]:
        paths = self.outcome.facts.paths if self.outcome and self.ok else []
        return [current_path(path, self.moves) for path in paths]

    @property
    def diff(self) -> str:
        return self.outcome.facts.diff or "" if self.outcome else ""


def tool_uses(messages: Iterable[Message], moves: Sequence[FileMoved] = ()) -> list[LoggedToolUse]:
    """All calls in order, each with its result; files by their names after these moves."""
    uses: list[LoggedToolUse] = []
    open_uses: dict[str, LoggedToolUse] = {}
    for message in messages:
        call_id = message.data.call_id if isinstance(message.data, CallData) else message.id
        is_call = message.message_type is MessageType.TOOL_CALL
        if not is_call and message.message_type is not MessageType.TOOL_RESULT:
            continue
        if is_call or call_id not in open_uses:
            data = message.data
            tool = data.tool if isinstance(data, ToolCallData | ToolResultData) else ""
            use = LoggedToolUse(tool or "unknown", message, [message.id], moves=moves)
            open_uses[call_id] = use
            uses.append(use)
        if not is_call:
            use = open_uses.pop(call_id)
            use.result = message
            use.message_ids = list(dict.fromkeys([*use.message_ids, message.id]))
    return uses


@dataclass
class TaskTiming:
    """When one task was worked on, excluding waits for the user."""

    starts: list[Event] = field(default_factory=list)
    end: Event | None = None
    done: Event | None = None
    """The event of its first completion, or of skipping it."""
    _spans: list[Span] = field(default_factory=list)
    _since: float | None = None
    _last: float = 0.0
    _waits_for: set[str] = field(default_factory=set)

    @property
    def spans(self) -> list[Span]:
        """If it is still running, up to its last known event."""
        going_on = [] if self._since is None else [(self._since, max(self._since, self._last))]
        return [*self._spans, *going_on]

    def read(self, event: Event) -> None:
        at = timestamp(event.created_at)
        if at is None:
            return
        self._last = at
        match event.data:
            case TaskCompleted(status=status, worked_seconds=worked):
                self._pause(at if worked is None else min(at, self._worked_until(worked)))
                self.end = event
                if self.done is None and status in DONE:
                    self.done = event
            case TaskStarted():
                self.starts.append(event)
                self.end = None
                self._waits_for.clear()
                self._since = at if self._since is None else self._since
            case QuestionAsked(id=request_id) | PermissionRequested(id=request_id):
                self._pause(at)
                self._waits_for.add(request_id)
            case QuestionAnswered(id=request_id) | PermissionResolved(id=request_id):
                self._resume(request_id, at)

    def _worked_until(self, worked: float) -> float:
        """When it really stopped, if a crash was noticed only later."""
        before = sum(stop - start for start, stop in self._spans)
        return (self._since or 0.0) + max(0.0, worked - before)

    def _resume(self, request_id: str, at: float) -> None:
        self._waits_for.discard(request_id)
        if self.starts and self.end is None and self._since is None and not self._waits_for:
            self._since = at

    def _pause(self, at: float) -> None:
        if self._since is not None:
            self._spans.append((self._since, max(self._since, at)))
            self._since = None


def timing_by_task(events: Iterable[Event]) -> dict[str, TaskTiming]:
    work: dict[str, TaskTiming] = {}
    for event in events:
        if event.task_id:
            work.setdefault(event.task_id, TaskTiming()).read(event)
    return work


def total_seconds(spans: Iterable[Span]) -> float:
    """Total length of the spans; overlaps count once."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return round(total, 3)


def timestamp(time: str) -> float | None:
    """None for formats that older versions may have stored."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def strings_in(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


_OPEN = (StepStatus.PENDING, StepStatus.RUNNING, StepStatus.WAITING)


@dataclass
class StepTrace:
    """One step, with the tasks that carried it out and what they left in the log."""

    step: PlanStep
    tasks: list[Task]
    uses: list[LoggedToolUse] = field(default_factory=list)
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
        ends = [work.end for work in self.work if work.end]
        going_on = any(work.starts and not work.end for work in self.work)
        return None if going_on else max(ends, key=lambda event: event.seq, default=None)

    @cached_property
    def done(self) -> Event | None:
        ends = [work.done for work in self.work if work.done]
        return min(ends, key=lambda event: event.seq, default=None)

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


def step_traces(
    log: ConversationLog, uses: Iterable[LoggedToolUse], work: Mapping[str, TaskTiming]
) -> dict[str, StepTrace]:
    """Keyed by id, in the plan's order."""
    if log.revision is None:
        return {}
    begun = {message.task_id for message in log.messages if message.task_id}
    begun |= {task_id for task_id, timing in work.items() if timing.starts}
    # Only tasks of this revision: other plans reuse step ids.
    own: dict[str, list[Task]] = {}
    for task in (task for job in log.executions(log.revision) for task in job.tasks):
        own.setdefault(task.step_id, []).append(task)
    executions = (job for job in log.jobs if job.executes(log.revision.plan_id))
    earlier = [task for job in executions for task in job.tasks]
    traces = {}
    for step in log.revision.plan.steps:
        tasks = own.get(step.id, [])
        if step.status in DONE and not any(task.id in begun for task in tasks):
            tasks = _carried_over(step, [task for task in earlier if task.id in begun])
        done = [work[task.id] for task in tasks if task.id in work]
        files = [current_path(path, log.moves) for path in step.files]
        current = _with_status(step, tasks).model_copy(update={"files": files})
        traces[step.id] = StepTrace(current, tasks, work=done)
    _assign(log, uses, traces)
    return traces


def _with_status(step: PlanStep, tasks: list[Task]) -> PlanStep:
    """A large plan is stored less often than its tasks, so these know sooner how a step ended."""
    if step.status not in _OPEN or not tasks or tasks[-1].status in _OPEN:
        return step
    return step.model_copy(update={"status": tasks[-1].status})


def _carried_over(step: PlanStep, begun: list[Task]) -> list[Task]:
    """The task of an identical step that an earlier revision finished."""
    same = [task for task in begun if (task.step_id, task.description) == (step.id, step.action)]
    return same[-1:]


def _assign(
    log: ConversationLog, uses: Iterable[LoggedToolUse], traces: Mapping[str, StepTrace]
) -> None:
    by_task = {task.id: trace for trace in traces.values() for task in trace.tasks}
    for message in log.messages:
        if message.task_id in by_task:
            by_task[message.task_id].messages.append(message)
    for use in uses:
        if use.call.task_id in by_task:
            by_task[use.call.task_id].uses.append(use)
