"""Messages: what was said, stored whole, in the contract's shape, with one data model per type."""

from __future__ import annotations

import json
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    model_serializer,
    model_validator,
)

from .base_models import Data, Tagged
from .contexts import Initiator
from .effects import SetAside
from .expectations import BrokenExpectation
from .figures import Assumption, Figure
from .guidance import Guidance
from .identity import new_id, now
from .plan import Plan, PlanStep
from .replies import Question, Review
from .roles import AgentRole

MentionKind = Literal["variable", "column", "cell", "file", "folder", "error", "output", "resource"]


class Mention(BaseModel):
    """One thing that a message refers to, as it was when the message was sent."""

    text: str
    kind: MentionKind
    title: str
    """For example `DataFrame · 6 × 3`."""
    tokens: int = 0
    problem: str = ""
    """Why it was not given to the agent."""


def column_mention(table: str, column: str) -> str:
    return f"@{table}.{column}" if column.isidentifier() else f'@{table}."{column}"'


class ShortfallKind(StrEnum):
    """How a step did less than planned."""

    NOTHING_DONE = "nothing_done"
    MISSING_FILE = "missing_file"
    BROKEN_EXPECTATION = "broken_expectation"
    OPEN_FINDINGS = "open_findings"
    """A review still asks for changes, but may not send the work back any more."""


class Shortfall(BaseModel):
    """One unmet part of a step's plan, as in the audit."""

    kind: ShortfallKind
    what: str


class HiddenState(BaseModel):
    """State that is not visible in the notebook."""

    kind: Literal["out_of_order", "defined_later", "undefined"]
    cell_id: str
    cell: int
    """Position in the notebook, from 1."""
    name: str
    message: str


class FailedCell(BaseModel):
    """The cell at which a check of the notebook failed."""

    cell_id: str
    cell: int
    line: int | None
    error: str


class Reproduction(BaseModel):
    """The result of running a notebook in a new kernel.

    The most important fields come first: a saved card has room for some only.
    """

    runs: bool | None = None
    """Whether every cell ran, once that is known."""
    failed: FailedCell | None = None
    broken: list[BrokenExpectation] = []
    expectations: int = 0
    cells: int
    hidden: list[HiddenState] = []
    ran: int = 0
    seconds: float = 0.0
    notebook: str
    left_out: int = 0
    """Cells that ask the agent, which are not run again."""
    context_id: str
    job_id: str | None


class Answer(BaseModel):
    """Which question is answered, and how."""

    question_id: str
    question: str
    value: str
    label: str


Cut = Literal["", "stopped", "killed", "length", "repetition"]
ENDED_EARLY: dict[Cut, str] = {
    "stopped": "Stopped here.",
    "killed": "Stopped here by a failure.",
    "length": "Stopped here: too long.",
    "repetition": "Stopped here: repetition.",
}


class TextData(Data):
    """Data of a text message."""

    cut: Cut = ""
    """Why the reply ended early: by the user, with its process, at a limit, or in repetition."""
    reasoning: str = ""
    thought_seconds: float = 0.0
    """How long the model reasoned before its first word."""
    problem: str = ""
    cell_id: str | None = None
    replan: bool = False
    approved_revision: int | None = None
    """The plan revision that the user approves with these words."""
    plan_id: str | None = None
    by: Initiator | None = None
    guest: str | None = None
    answer: Answer | None = None
    reproduction: Reproduction | None = None
    rollback: str | None = None
    """The checkpoint of the rollback that these words report."""
    figures: list[Figure] = []
    assumptions: list[Assumption] = []
    mentions: list[Mention] = []
    skill: str = ""
    prompt: str = ""
    """The MCP prompt whose words these are: `server:prompt`."""


class PlanFacts(Data, Plan):
    """A plan in the log, whose graph is not checked again."""

    @model_validator(mode="after")
    def _check_graph(self) -> Self:
        return self

    @classmethod
    def of(cls, plan: Plan, **facts: Any) -> Self:
        """A snapshot, independent of later changes to the steps."""
        steps = [step.model_copy() for step in plan.steps]
        return cls.model_construct(**{**dict(plan), "steps": steps, **facts})


class PlanData(PlanFacts):
    """A plan as it was proposed."""

    order_notes: list[str] = []
    figures: list[Figure] = []


class QuestionData(Data, Question):
    """A question; `id` is that of the request, if anybody can be asked."""

    id: str | None = None
    unused: list[str] = []


class ReviewData(Data, Review):
    """A review."""


class CallData(Data):
    """Base of data about one tool call."""

    call_id: str


class ToolCallData(CallData):
    """A tool is called."""

    tool: str
    parameters: dict[str, Any] = {}


class ErrorBody(BaseModel):
    """What went wrong, and what to do about it."""

    code: str
    message: str
    retryable: bool = False
    details: dict[str, Any] = {}


class ToolFacts(Data):
    """Facts about a tool's work for cards, checkpoints and the audit; tools may add their own."""

    paths: list[str] = []
    diff: str | None = None
    notebook: str | None = None
    cell_id: str | None = None
    fingerprint: str | None = None
    """Of the cell after the call."""
    exit_code: int | None = None
    set_aside: SetAside | None = None


class ToolOutcome(CallData):
    """The result of a call, in short."""

    ok: bool
    summary: str = ""
    error: ErrorBody | None = None
    tool: str = ""
    seconds: float = 0.0
    """How long it worked, without waits for the user."""


class ToolResultData(ToolOutcome):
    """The result of a call."""

    facts: ToolFacts = ToolFacts()
    approved: bool = False
    """Whether the user was asked before it ran."""
    sensitive: bool = False
    """Whether it holds a secret that the user let the agent read."""
    figures: list[Figure] = []
    guidance: Guidance | None = None
    """Set if the text is guidance that the user trusts."""

    @classmethod
    def of(cls, outcome: ToolOutcome, tool: str, facts: ToolFacts | None = None) -> Self:
        fields = outcome.model_dump(exclude={"tool"})
        return cls(**fields, tool=tool, facts=facts or ToolFacts())


class TaskAssignmentData(Data):
    """A task for an agent: a step of the plan, or what a commander delegates."""

    step: PlanStep | None = None
    task_id: str | None = None
    role: AgentRole | None = None
    agent: str = ""
    goal: str = ""
    results: dict[str, str] = {}
    """Results of the steps it depends on, by id."""
    hint: str = ""
    findings: str = ""
    replan: bool = False


class TaskResultData(Data):
    """The result of a task."""

    status: Literal["completed", "partly", "failed"] | None = None
    step_id: str | None = None
    left_undone: str = ""
    shortfalls: list[Shortfall] = []
    figures: list[Figure] = []
    assumptions: list[Assumption] = []
    ok: bool | None = None
    """For delegated tasks."""


class RoleChangeData(Data):
    """The conversation continues in another role."""

    before: AgentRole = Field(alias="from")
    to: AgentRole
    by: Initiator | None = None
    """None if a person switched it."""

    @model_serializer(mode="wrap")
    def _as_written(self, handler):  # type: ignore[no-untyped-def] # a type would be its schema
        written = handler(self)
        if self.by is None:
            del written["by"]
        return {"from": written.pop("before"), **written}


class ErrorData(Data):
    """Data of an error message."""


class MessageType(StrEnum):
    """What a message is, so that each kind can have its own card."""

    TEXT = "text"
    PLAN = "plan"
    QUESTION = "question"
    REVIEW = "review"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TASK_ASSIGNMENT = "task_assignment"
    TASK_RESULT = "task_result"
    ROLE_CHANGE = "role_change"
    ERROR = "error"


class TextPart(BaseModel):
    """A piece of text."""

    type: Literal["text"] = "text"
    text: str


class ImagePart(BaseModel):
    """A picture, as base64 with its media type."""

    model_config = ConfigDict(extra="allow")

    type: Literal["image"] = "image"
    media_type: str = "image/png"
    data: str = ""

    @classmethod
    def of(cls, media_type: str, data: str, size: tuple[int, int] | None = None) -> Self:
        pixels = {"width": size[0], "height": size[1]} if size else {}
        return cls.model_validate({"media_type": media_type, "data": data, **pixels})

    @property
    def size(self) -> tuple[int, int] | None:
        extra = self.model_extra or {}
        width, height = extra.get("width"), extra.get("height")
        return (width, height) if isinstance(width, int) and isinstance(height, int) else None


ContentPart = Annotated[TextPart | ImagePart, Field(discriminator="type")]
MessageRole = Literal["user", "assistant", "system", "tool"]


def _type_of_old_messages(value: Any) -> Any:
    """Messages stored before types existed, or as `normal`, are text."""
    return MessageType.TEXT if value in (None, "", "normal") else value


def _parts_of_plain_text(value: Any) -> Any:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


_MODELS: dict[MessageType, type[Data]] = {
    MessageType.TEXT: TextData,
    MessageType.PLAN: PlanData,
    MessageType.QUESTION: QuestionData,
    MessageType.REVIEW: ReviewData,
    MessageType.TOOL_CALL: ToolCallData,
    MessageType.TOOL_RESULT: ToolResultData,
    MessageType.TASK_ASSIGNMENT: TaskAssignmentData,
    MessageType.TASK_RESULT: TaskResultData,
    MessageType.ROLE_CHANGE: RoleChangeData,
    MessageType.ERROR: ErrorData,
}
_TYPES = {model: kind for kind, model in _MODELS.items()}


class Message(Tagged, tag="message_type", models=_MODELS):
    """One stored message."""

    id: str = Field(default_factory=lambda: new_id("msg"))
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    role: MessageRole
    agent_role: AgentRole | None = None
    message_type: Annotated[MessageType, BeforeValidator(_type_of_old_messages)] = MessageType.TEXT
    content: Annotated[list[ContentPart], BeforeValidator(_parts_of_plain_text)] = []
    data: SerializeAsAny[Data] = Field(default_factory=dict, validate_default=True)
    created_at: str = Field(default_factory=now)

    @property
    def text(self) -> str:
        return "".join([part.text for part in self.content if isinstance(part, TextPart)])

    @property
    def pictures(self) -> list[ImagePart]:
        return [part for part in self.content if isinstance(part, ImagePart)]

    @cached_property
    def data_as_text(self) -> str:
        """The data as JSON: what a model reads of a message without text.

        The data of plain text is not for the model. Cached, because every turn asks for it.
        """
        data = {} if self.message_type is MessageType.TEXT else self.data.model_dump()
        return json.dumps(data, ensure_ascii=False, default=str) if data else ""


def message_type_of(data: Data) -> MessageType:
    return _TYPES[type(data)]
