"""The data of a saved card, shortened to fit."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel

from ..domain.base_models import Data
from ..domain.contexts import Initiator, JobKind, JobStatus, StepStatus, Usage
from ..domain.effects import DataWarning
from ..domain.events import PermissionRequested, QuestionAsked
from ..domain.figures import Assumption
from ..domain.guidance import Guidance
from ..domain.messages import MessageRole, MessageType
from ..domain.role_view import RoleLook
from ..domain.roles import AgentRole


class CardMessage(Data):
    """A message with its text shortened, and of its data what draws it."""

    id: str
    job_id: str | None
    task_id: str | None
    role: MessageRole
    agent_role: AgentRole | None
    message_type: MessageType
    text: str
    cut: bool = False
    data: dict[str, Any]
    created_at: str


class Excerpt(Data):
    """Some fields of a larger model."""

    @classmethod
    def from_model(cls, whole: BaseModel) -> Self:
        return cls.model_validate(whole.model_dump(include=set(cls.model_fields)))


class CardJob(Excerpt):
    """What a card must know of each of its jobs."""

    id: str
    kind: JobKind
    role: AgentRole
    status: JobStatus
    error: str | None
    plan_id: str | None
    plan_revision: int | None
    by: Initiator
    card_id: str
    created_at: str
    completed_at: str | None
    worked_seconds: float = 0.0
    working_since: str | None = None


class CardTask(Excerpt):
    """The outcome of a step or a delegated task."""

    id: str
    job_id: str
    step_id: str
    role: AgentRole
    description: str
    status: StepStatus
    result: str | None
    error: str | None
    created_at: str
    completed_at: str | None
    worked_seconds: float = 0.0
    working_since: str | None = None
    round: int = 0


class CardStep(Data):
    """A step of the plan; of a large plan only these four, and who does it."""

    id: str
    step_number: int
    action: str
    status: StepStatus
    reason: str = ""
    tools_needed: list[str] = []
    files: list[str] = []
    depends_on: list[str] = []
    estimated_time: str = ""
    role: str | None = None
    agent: str = ""
    rounds: int = 0


class CardPlan(Data):
    """The plan."""

    type: Literal["plan"]
    id: str
    format_version: str
    goal: str
    steps: list[CardStep]
    estimated_total_time: str
    risks: list[str]
    prerequisites: list[str]
    assumptions: list[Assumption] = []
    steps_left_out: int = 0


class UserDecision(Data):
    """A call that the user has allowed or denied."""

    id: str
    job_id: str | None
    task_id: str | None
    what: str
    """The command, the file, or else the tool."""
    allowed: bool
    feedback: str
    by: str = ""
    """The client of another agent, if the user has decided there."""
    at: str


class EffectSummary(Excerpt):
    """What a run of code did to a table, without the states that it was found from."""

    of: str
    task_id: str | None = None
    call_id: str | None = None
    cell_id: str | None = None
    line: str = ""
    sampled: bool = False
    warnings: list[DataWarning] = []


class RunSnapshot(Data):
    """The state of a run when its card was saved."""

    seq: int
    status: JobStatus
    error: str | None
    role: AgentRole
    model: str | None
    goal: str
    messages: list[CardMessage]
    left_out: int
    plan: CardPlan | None
    plan_id: str | None
    revision: int
    made_at: str | None
    stale: list[str]
    """Files that had changed since the plan was made."""
    rights: str = ""
    """What approving the plan lets each role do."""
    jobs: list[CardJob]
    tasks: list[CardTask]
    questions: list[QuestionAsked]
    permissions: list[PermissionRequested]
    usage: Usage
    asked_by: str
    decisions: list[UserDecision]
    """The newest calls that they have allowed or denied, oldest first."""
    effects: list[EffectSummary] = []
    guidance: list[Guidance] = []
    """The instructions, skills and the like that its agents were given."""
    started_at: str
    ended_at: str | None


class RunCardData(Data):
    """The card of a run."""

    version: int
    kind: Literal["run"]
    host: Literal["server", "kernel"]
    context_id: str
    job_id: str
    role: AgentRole
    roles: list[RoleLook] = []
    """The looks of the roles that took part, for where no server can be asked."""
    title: str
    snapshot: RunSnapshot
    saved_at: str
