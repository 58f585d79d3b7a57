"""Events: every change of state, in order, in the contract's envelope."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import BaseModel, SerializeAsAny

from .cell_changes import CellDecision
from .contexts import Initiator, Job, JobKind, JobStatus, Spending, StepStatus, Task
from .data import Data, Tagged
from .effects import DataEffect
from .guidance import GuidanceUsed
from .memory import MemoryDecision
from .message_data import PlanFacts, QuestionData, RoleChangeData, ToolCallData, ToolOutcome
from .messages import Message
from .notices import NOTICES, AnyNotice
from .roles import AgentRole


class EventType(StrEnum):
    """The kinds of event."""

    TEXT_DELTA = "text-delta"
    REASONING_DELTA = "reasoning-delta"
    MESSAGE = "message"
    TOOL_CALL = "tool-call"
    TOOL_RESULT = "tool-result"
    PERMISSION_REQUEST = "permission-request"
    PERMISSION_RESOLVED = "permission-resolved"
    QUESTION_ASKED = "question-asked"
    QUESTION_ANSWERED = "question-answered"
    PLAN_UPDATE = "plan-update"
    JOB_STARTED = "job-started"
    TASK_STARTED = "task-started"
    TASK_COMPLETED = "task-completed"
    JOB_COMPLETED = "job-completed"
    ROLE_CHANGED = "role-changed"
    CHECKPOINT_CREATED = "checkpoint-created"
    CELL_CHANGED = "cell-changed"
    DATA_EFFECT = "data-effect"
    FILE_MOVED = "file-moved"
    GUIDANCE_USED = "guidance-used"
    MEMORY_DECISION = "memory-decision"
    QUEUE_CHANGED = "queue-changed"
    USAGE = "usage"
    NOTICE = "notice"
    ERROR = "error"


class TextStreamed(Data):
    """The next piece of the model's reply."""

    text: str


class ReasoningStreamed(Data):
    """The next piece of the model's reasoning."""

    text: str


Choice = Literal["allow", "deny"]
ChosenScope = Literal["once", "session", "workspace", "global"]
ShownKind = Literal["command", "diff", "code", "path", "text"]


class CallPreview(BaseModel):
    """What a card shows of a call: all of it, so that the user can judge it."""

    kind: ShownKind
    text: str
    complete: bool = True


class PermissionRequested(Data):
    """A call is waiting for the user's approval."""

    id: str
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    status: str
    created_at: str
    agent_role: str = ""
    tool: str
    parameters: dict[str, Any] = {}
    resource: str = ""
    risk: str = ""
    why: list[str] = []
    scopes: list[ChosenScope] = []
    rules: list[str] = []
    """The rules that a lasting answer would write."""
    shown: CallPreview
    uncovered: list[str] = []
    """What a rollback could not restore."""


class PermissionResolved(Data):
    """The user has decided, or the call is no longer waiting."""

    id: str
    status: str
    decision: Choice | None = None
    scope: ChosenScope | None = None
    feedback: str = ""
    by: str = ""
    """The external agent's client, if the user decided there."""


class QuestionAsked(QuestionData):
    """A question is waiting for the user's answer."""

    id: str


class QuestionAnswered(Data):
    """The user has answered, or the question is no longer waiting."""

    id: str
    value: str | None = None
    status: str | None = None


class PlanUpdated(PlanFacts):
    """The whole plan in its current state."""

    revision: int
    rights: str = ""
    """The rights that approving it gives to each role, if it names roles."""


class JobStarted(Data):
    """A job started or resumed, with all its facts."""

    job_id: str
    status: JobStatus
    error: str | None = None
    kind: JobKind | None = None
    role: AgentRole | None = None
    request: str = ""
    plan_id: str | None = None
    plan_revision: int | None = None
    notebook: str | None = None
    cell_id: str | None = None
    by: Initiator | None = None
    card_id: str = ""
    worked_seconds: float = 0.0
    """Before, if it is resumed."""
    created_at: str = ""
    completed_at: str | None = None


class JobCompleted(Data):
    """A job has ended."""

    job_id: str
    status: JobStatus
    error: str | None = None
    worked_seconds: float | None = None

    @classmethod
    def of(cls, job: Job) -> Self:
        facts = job.model_dump(include=set(cls.model_fields) - {"job_id"})
        return cls(job_id=job.id, **facts)


class TaskStarted(Data):
    """A task has started."""

    task_id: str
    step_id: str
    role: AgentRole = AgentRole.ACTOR
    description: str = ""
    status: StepStatus
    error: str | None = None
    result: str | None = None
    round: int = 0
    worked_seconds: float | None = None

    @classmethod
    def of(cls, task: Task) -> Self:
        facts = task.model_dump(include=set(cls.model_fields) - {"task_id"})
        return cls(task_id=task.id, **facts)


class TaskCompleted(TaskStarted):
    """A task has ended."""


class ChangedPath(BaseModel):
    """A file of a checkpoint, and how many lines of it were changed."""

    path: str
    change: str
    added: int | None = None
    removed: int | None = None


class UncoveredPath(BaseModel):
    """Something that a checkpoint does not cover."""

    path: str
    why: str


class CheckpointCreated(Data):
    """A checkpoint of the workspace was taken."""

    id: str
    created_at: str
    label: str = ""
    tool: str | None = None
    step_id: str | None = None
    files: list[ChangedPath] = []
    uncovered: list[UncoveredPath] = []


class CellChanged(Data):
    """An agent changed a cell, or the user decided about such a change."""

    notebook: str
    cell_id: str
    decision: CellDecision | None


class FileMoved(Data):
    """A file or folder was renamed or moved."""

    old: str
    new: str


class QueueChanged(Data):
    """The messages waiting for a running job have changed."""

    waiting: int


class UsageCharged(Data, Spending):
    """What one turn has used."""


class ErrorReported(Data):
    """A job has failed."""

    message: str


EventData = Data | Message

_MODELS: dict[EventType, Any] = {
    EventType.TEXT_DELTA: TextStreamed,
    EventType.REASONING_DELTA: ReasoningStreamed,
    EventType.MESSAGE: Message,
    EventType.TOOL_CALL: ToolCallData,
    EventType.TOOL_RESULT: ToolOutcome,
    EventType.PERMISSION_REQUEST: PermissionRequested,
    EventType.PERMISSION_RESOLVED: PermissionResolved,
    EventType.QUESTION_ASKED: QuestionAsked,
    EventType.QUESTION_ANSWERED: QuestionAnswered,
    EventType.PLAN_UPDATE: PlanUpdated,
    EventType.JOB_STARTED: JobStarted,
    EventType.TASK_STARTED: TaskStarted,
    EventType.TASK_COMPLETED: TaskCompleted,
    EventType.JOB_COMPLETED: JobCompleted,
    EventType.ROLE_CHANGED: RoleChangeData,
    EventType.CHECKPOINT_CREATED: CheckpointCreated,
    EventType.CELL_CHANGED: CellChanged,
    EventType.DATA_EFFECT: DataEffect,
    EventType.FILE_MOVED: FileMoved,
    EventType.GUIDANCE_USED: GuidanceUsed,
    EventType.MEMORY_DECISION: MemoryDecision,
    EventType.QUEUE_CHANGED: QueueChanged,
    EventType.USAGE: UsageCharged,
    EventType.NOTICE: AnyNotice,
    EventType.ERROR: ErrorReported,
}
_TYPES = {model: kind for kind, model in _MODELS.items() if model is not AnyNotice}
_TYPES |= dict.fromkeys(NOTICES, EventType.NOTICE)


class Event(Tagged, tag="type", models=_MODELS):
    """One stored event. `seq` grows within a context and survives restarts."""

    seq: int
    type: EventType
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    created_at: str
    data: SerializeAsAny[EventData] = Data()

    @cached_property
    def as_json(self) -> str:
        """Cached for all watchers. Not pydantic's own JSON, which fails on lone surrogates."""
        return json.dumps(self.model_dump(mode="python"))


def type_of(data: EventData) -> EventType:
    return _TYPES[type(data)]


def is_within(path: str, place: str) -> bool:
    """Whether a path, as people write it, is this file or inside this folder."""
    plain = path.removeprefix("./")
    return plain == place or plain.startswith(f"{place}/")


def moved_path(path: str, old: str, new: str) -> str:
    """The path after the file or a parent folder moved from `old` to `new`."""
    return f"{new}{path.removeprefix('./')[len(old) :]}" if is_within(path, old) else path


def current_path(path: str, moves: Iterable[FileMoved]) -> str:
    for move in moves:
        path = moved_path(path, move.old, move.new)
    return path
