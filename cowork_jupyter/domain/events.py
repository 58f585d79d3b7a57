"""Events: every change of state, in order, in the contract's envelope.

Notices are events about what the user should know although nothing waits for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, Field, SerializeAsAny

from .base_models import Data, Tagged
from .contexts import (
    Initiator,
    Job,
    JobKind,
    JobStatus,
    Spending,
    StepStatus,
    Task,
    Usage,
)
from .effects import CellDecision, DataEffect, SetAside
from .guidance import GuidanceUsed, MemoryDecision
from .messages import (
    Message,
    PlanFacts,
    QuestionData,
    RoleChangeData,
    ToolCallData,
    ToolOutcome,
)
from .roles import AgentRole
from .suggestions import Decision, SuggestionKind


class Notice(Data):
    """A notice in one sentence."""

    code: Literal[
        "context_overflow",
        "truncated",
        "left_out",
        "no_pictures",
        "no_native_calls",
        "no_price",
        "prompt_missing",
        "role_unknown",
        "worker_lost",
        "waiting_for_worker",
        "no_checkpoint",
        "external-call",
        "external-permission",
        "broken_before",
        "unchecked_expectation",
        "expectations_changed",
        "resource_changed",
    ]
    message: str


class LeftBehind(Data):
    """An external agent left something that would run later."""

    code: Literal["left_behind"] = "left_behind"
    message: str
    set_aside: SetAside


class Restart(Data):
    """The model's server failed and is asked again: discard what was streamed of its reply."""

    code: Literal["restarted"] = "restarted"
    message: str
    attempt: int
    delay: float


class HistorySummary(Data):
    """What the model reads instead of messages that no longer fit, until the next summary."""

    code: Literal["history_summary"] = "history_summary"
    message: str
    text: str
    last: str
    count: int


class ReplyProgress(Data):
    """How fast the model writes its reply, and what is left of the run's limits."""

    code: Literal["reply_progress"] = "reply_progress"
    tokens: int
    rate: float
    turns_left: int
    seconds_left: float
    """For waiting; time in which the model writes does not count."""


class ToolOutput(Data):
    """Output of a tool while it runs."""

    code: Literal["tool-output"] = "tool-output"
    call_id: str
    text: str


class PlanDeviation(Data):
    """A step goes beyond its plan; the user is asked if the deviation is large."""

    code: Literal["deviation"] = "deviation"
    message: str
    size: Literal["small", "large"]
    tool: str


class HeadlessDenial(Data):
    """A call was not run because nobody could be asked."""

    code: Literal["denied_headless"] = "denied_headless"
    message: str
    tool: str


class PlanReordered(Data):
    """The order of a plan's steps was improved before it was shown."""

    code: Literal["plan_order"] = "plan_order"
    message: str
    revision: int


class NotebookSeen(Data):
    """What the model was told about the user's notebook, and the state of its cells."""

    code: Literal["notebook_seen"] = "notebook_seen"
    notebook: str
    text: str
    cells: dict[str, tuple[str, int | str | None]] = {}
    """Fingerprint and execution count by cell id."""


class ReproductionProgress(Data):
    """The progress of a check that runs a notebook."""

    code: Literal["reproduction"] = "reproduction"
    ran: int
    cells: int


class SuggestionMade(Data):
    """What was suggested for a cell, at the user's request."""

    code: Literal["suggestion"] = "suggestion"
    id: str
    kind: SuggestionKind
    notebook: str = ""
    cell_id: str
    instruction: str = ""
    before: str = ""
    source: str = ""
    """The proposed source, or the Markdown of an explanation."""
    explanation: str = ""
    model: str = ""
    usage: Usage = Usage()


class SuggestionDecided(Data):
    """What the user did with a suggestion; of several decisions the last one counts."""

    code: Literal["suggestion_decided"] = "suggestion_decided"
    id: str
    decision: Decision
    source: str = ""
    """The accepted source, if the user had edited it."""


AnyNotice = Annotated[
    Notice
    | LeftBehind
    | Restart
    | HistorySummary
    | ReplyProgress
    | ToolOutput
    | PlanDeviation
    | HeadlessDenial
    | PlanReordered
    | NotebookSeen
    | ReproductionProgress
    | SuggestionMade
    | SuggestionDecided,
    Field(discriminator="code"),
]

NOTICES: tuple[type[Data], ...] = get_args(get_args(AnyNotice)[0])


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


class CallRequest(BaseModel):
    """What the user is told of a call that they are to approve."""

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


class PermissionRequested(CallRequest, Data):
    """A call that is or was waiting for the user's approval."""

    id: str
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    status: str
    created_at: str


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
    """A question that is or was waiting for the user's answer."""

    id: str
    context_id: str = ""
    job_id: str | None = None
    task_id: str | None = None
    status: str = ""
    created_at: str = ""


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
