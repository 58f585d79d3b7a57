"""What messages hold beside their text: one model for each type of message."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_serializer, model_validator

from .contexts import Initiator
from .data import Data
from .expectations import BrokenExpectation
from .figures import Assumption, Figure
from .guidance import Guidance
from .plan import Plan, PlanStep
from .replies import Question, Review
from .roles import AgentRole

MentionKind = Literal["variable", "column", "cell", "file", "folder", "error", "output", "resource"]


class Mention(BaseModel):
    """One thing that a message points at, as it was when the message was sent."""

    text: str
    """As written, with the `@`."""
    kind: MentionKind
    title: str
    """What it is, in a few words: `DataFrame · 6 × 3`."""
    tokens: int = 0
    """What it adds to the conversation."""
    problem: str = ""
    """Why the agent was not given it."""


class ShortfallKind(StrEnum):
    """How a step did less than planned."""

    NOTHING_DONE = "nothing_done"
    MISSING_FILE = "missing_file"
    BROKEN_EXPECTATION = "broken_expectation"
    OPEN_FINDINGS = "open_findings"
    """A review asks for changes still, and may not send the work back any more."""


class Shortfall(BaseModel):
    """One thing that was planned and is not so, as the audit says it of the step."""

    kind: ShortfallKind
    what: str


class HiddenState(BaseModel):
    """State that you cannot see by reading the notebook."""

    kind: Literal["out_of_order", "defined_later", "undefined"]
    cell_id: str
    cell: int
    """Its place in the notebook, from 1."""
    name: str
    message: str


class FailedCell(BaseModel):
    """The cell at which a check of the notebook failed."""

    cell_id: str
    cell: int
    line: int | None
    error: str


class Reproduction(BaseModel):
    """A notebook that runs in a new kernel, and what comes of it.

    What matters most stands first: a saved card has room for some of it only.
    """

    runs: bool | None = None
    """Whether every cell ran, once that is known."""
    failed: FailedCell | None = None
    broken: list[BrokenExpectation] = []
    """What is pinned in the notebook and was not so after the last cell."""
    expectations: int = 0
    """How many were checked then."""
    cells: int
    """Code cells that are run."""
    hidden: list[HiddenState] = []
    ran: int = 0
    """Those that ran without an error so far."""
    seconds: float = 0.0
    notebook: str
    left_out: int = 0
    """Cells that ask the agent, which are not run again."""
    context_id: str
    job_id: str | None
    """The job that runs it, and says how that stands."""


class Answer(BaseModel):
    """Which question is answered, and how."""

    question_id: str
    question: str
    value: str
    label: str
    """The value as the user saw it."""


class TextData(Data):
    """Beside plain words, of whoever said them."""

    reasoning: str = ""
    """What the model thought before it wrote this."""
    problem: str = ""
    """Why this reply could not be used."""
    cell_id: str | None = None
    """The cell in which the user wrote it."""
    replan: bool = False
    """Whether the user wants the plan made anew."""
    approved_revision: int | None = None
    """The revision of the plan that the user approves with these words."""
    plan_id: str | None = None
    """The plan that has it."""
    by: Initiator | None = None
    """Who approves it."""
    guest: str | None = None
    """The agent of somebody else whose calls these are."""
    answer: Answer | None = None
    """The question that these words of the user answer."""
    reproduction: Reproduction | None = None
    """What was found when the notebook ran anew."""
    rollback: str | None = None
    """The checkpoint of the rollback that these words tell of."""
    figures: list[Figure] = []
    """The numbers in the agent's words, each with where it can be seen."""
    assumptions: list[Assumption] = []
    """What the agent's answer takes for granted."""
    mentions: list[Mention] = []
    """What the user's words point at."""
    skill: str = ""
    """The skill that the user wants followed."""
    prompt: str = ""
    """The prompt of an MCP server whose words these are: `server:prompt`."""


class PlanFacts(Data, Plan):
    """A plan in the log, where nobody checks its graph again."""

    @model_validator(mode="after")
    def _check_graph(self) -> Self:
        return self

    @classmethod
    def of(cls, plan: Plan, **facts: Any) -> Self:
        """The plan at this moment, whatever becomes of its steps later."""
        steps = [step.model_copy() for step in plan.steps]
        return cls.model_construct(**{**dict(plan), "steps": steps, **facts})


class PlanData(PlanFacts):
    """A plan as it was proposed."""

    order_notes: list[str] = []
    """What was improved about the order that the planner had in mind."""
    figures: list[Figure] = []
    """The numbers in its words, each with where it can be seen."""


class QuestionData(Data, Question):
    """A question; its id is that of what waits for the answer, if anybody can be asked."""

    id: str | None = None


class ReviewData(Data, Review):
    """A review."""


class CallData(Data):
    """Something about one call of a tool."""

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
    """What a tool says of its work for cards, checkpoints and the audit: these, and its own."""

    paths: list[str] = []
    """The files that it dealt with."""
    diff: str | None = None
    """What it changed, as a unified diff."""
    notebook: str | None = None
    cell_id: str | None = None
    fingerprint: str | None = None
    """The cell's, as the tool left it."""
    exit_code: int | None = None


class ToolOutcome(CallData):
    """The result of a call, in short."""

    ok: bool
    summary: str = ""
    error: ErrorBody | None = None
    tool: str = ""


class ToolResultData(ToolOutcome):
    """The result of a call."""

    facts: ToolFacts = ToolFacts()
    approved: bool = False
    """Whether the user was asked before it ran."""
    sensitive: bool = False
    """Whether it holds what the user let the agent read although it is secret."""
    figures: list[Figure] = []
    """The numbers in text that it wrote into a notebook, each with where it can be seen."""
    guidance: Guidance | None = None
    """What guides the agent with this text, which the user trusts."""

    @classmethod
    def of(cls, outcome: ToolOutcome, tool: str, facts: ToolFacts | None = None) -> Self:
        """The outcome with all that is stored beside it."""
        fields = outcome.model_dump(exclude={"tool"})
        return cls(**fields, tool=tool, facts=facts or ToolFacts())


class TaskAssignmentData(Data):
    """A task is handed to an agent: a step of the plan, or what a commander delegates."""

    step: PlanStep | None = None
    task_id: str | None = None
    role: AgentRole | None = None
    agent: str = ""
    """The agent of somebody else that does it."""
    goal: str = ""
    """Of the plan that has the step."""
    results: dict[str, str] = {}
    """Of the steps that it depends on, by their ids."""
    hint: str = ""
    """What the user said to a step that failed."""
    findings: str = ""
    """Of the review that sent the step back."""
    replan: bool = False
    """Whether the task is to plan the rest anew."""


class TaskResultData(Data):
    """The result of a task."""

    status: Literal["completed", "partly", "failed"] | None = None
    step_id: str | None = None
    left_undone: str = ""
    shortfalls: list[Shortfall] = []
    """What is lacking although the agent says that the step is done."""
    figures: list[Figure] = []
    """The numbers in its words, each with where it can be seen."""
    assumptions: list[Assumption] = []
    """What the result takes for granted."""
    ok: bool | None = None
    """Of a task that was delegated."""


class RoleChangeData(Data):
    """The conversation continues in another role."""

    before: AgentRole = Field(alias="from")
    to: AgentRole
    by: Initiator | None = None
    """Who switched it, if no person did."""

    @model_serializer(mode="wrap")
    def _as_written(self, handler):  # type: ignore[no-untyped-def] # a type would be its schema
        written = handler(self)
        if self.by is None:
            del written["by"]
        return {"from": written.pop("before"), **written}


class ErrorData(Data):
    """Beside the words that say what went wrong."""
