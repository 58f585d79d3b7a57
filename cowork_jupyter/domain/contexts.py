"""Contexts, jobs and tasks: a conversation, one run in it, one plan step of that run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, computed_field

from .base_models import SparseModel
from .identity import new_id, now
from .roles import DEFAULT_ROLE, AgentRole


class JobStatus(StrEnum):
    """The status of a job."""

    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_final(self) -> bool:
        return self not in (JobStatus.RUNNING, JobStatus.WAITING)


class StepStatus(StrEnum):
    """The status of a plan step, or of the task that executes it."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


DONE = frozenset({StepStatus.COMPLETED, StepStatus.SKIPPED})
"""A skipped step blocks nothing: the user said that the rest should go on without it."""


AT_WORK = frozenset({StepStatus.RUNNING, StepStatus.WAITING})


class JobKind(StrEnum):
    """What started a job."""

    MESSAGE = "message"
    PLAN = "plan"
    DELEGATION = "delegation"
    """Another agent handed a task over. (The commander's delegations are tasks of its own job.)"""
    WORKFLOW = "workflow"
    GUEST = "guest"
    """An external agent calls our tools over MCP."""
    CHECK = "check"


Initiator = Literal["person", "kernel", "policy", "guest"]
"""A person at the page, code in a kernel, a policy file, or an MCP client."""


@dataclass(frozen=True)
class RequestOrigin:
    """Where a message or an approval comes from."""

    by: Initiator = "person"
    cell_id: str | None = None
    card_id: str | None = None
    """The job whose card was used: the request continues what that card is about."""
    sets_role: bool = True
    """Whether its role becomes the conversation's. What code sends changes none."""


BY_PERSON = RequestOrigin()


def _role_of_old_contexts(value: Any) -> Any:
    if value in (None, ""):
        return DEFAULT_ROLE
    try:
        return AgentRole(value)  # an undeclared role may only read
    except ValueError:
        return AgentRole.PLANNER


StoredRole = Annotated[AgentRole, BeforeValidator(_role_of_old_contexts)]
"""Contexts from before roles existed are actors."""


class Context(SparseModel):
    """One conversation."""

    only_if_any = frozenset({"pinned", "snippet"})

    id: str = Field(default_factory=lambda: new_id("ctx"))
    title: str = ""
    notebook: str | None = None
    role: StoredRole = DEFAULT_ROLE
    model: str | None = None
    system_prompt_id: str = "default"
    pinned: bool = False
    created_at: str = Field(default_factory=now)
    updated_at: str = Field(default_factory=now)


class FoundContext(Context):
    """A conversation in a list, possibly a search result."""

    snippet: str = ""
    """Text around a match; empty if the title or the notebook's path matches."""


class Spending(BaseModel):
    """Tokens as reported by the model's server, and whatever else is limited."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    estimated: bool = False
    """Whether some tokens were estimated because the server did not report them."""
    turns: int = 0
    seconds: float = 0.0
    """Working time, summed over all tasks, without waits for the user."""
    cost: float | None = None
    currency: str = ""
    model: str = ""


class Usage(Spending):
    """What a job has spent, and its limits."""

    limits: dict[str, int | float] = {}
    """Limits of this job that replace the configured ones."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            estimated=self.estimated or other.estimated,
            turns=self.turns + other.turns,
            seconds=round(self.seconds + other.seconds, 3),
            cost=_sum_of_known(self.cost, other.cost),
            currency=other.currency or self.currency,
            model=other.model or self.model,
            limits={**self.limits, **other.limits},
        )


def _sum_of_known(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return first if second is None else second
    return round(first + second, 9)


class WorkingTime(BaseModel):
    """How long something was worked on, without waits for the user and without downtime."""

    worked_seconds: float = 0.0
    """Until it last stopped working."""
    working_since: str | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def working_seconds(self) -> float:
        """All of it, up to now."""
        return self.worked_until(datetime.now(UTC))

    def worked_until(self, moment: datetime) -> float:
        if self.working_since is None:
            return self.worked_seconds
        since = datetime.fromisoformat(self.working_since)
        return round(self.worked_seconds + max(0.0, (moment - since).total_seconds()), 3)


class Task(WorkingTime):
    """One plan step being executed."""

    id: str = Field(default_factory=lambda: new_id("task"))
    job_id: str
    context_id: str
    step_id: str
    role: StoredRole = AgentRole.ACTOR
    description: str = ""
    status: StepStatus = StepStatus.PENDING
    dependencies: list[str] = []
    result: str | None = None
    error: str | None = None
    created_at: str = Field(default_factory=now)
    completed_at: str | None = None
    round: int = 0
    """How often a review has sent the step back before this task."""
    findings: str = ""


class Job(WorkingTime):
    """One run, started by a user message or by executing a plan.

    Its facts are fixed when it starts: cards, audit and hosts read these fields and derive nothing
    from step ids, times or texts.
    """

    id: str = Field(default_factory=lambda: new_id("job"))
    context_id: str
    kind: JobKind = JobKind.MESSAGE
    role: StoredRole = DEFAULT_ROLE
    request: str = ""
    """The user's words: of the message, or those that the executed plan was made for."""
    plan_id: str | None = None
    plan_revision: int | None = None
    """The revision it executes, or the newest one it made."""
    notebook: str | None = None
    cell_id: str | None = None
    by: Initiator = "person"
    card_id: str = ""
    """The job whose card shows this one: its own id, unless it was started on another's card."""
    status: JobStatus = JobStatus.RUNNING
    error: str | None = None
    final_response: str | None = None
    """What it said in the end, if it was completed."""
    usage: Usage = Usage()
    tasks: list[Task] = []
    created_at: str = Field(default_factory=now)
    completed_at: str | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def current_step_index(self) -> int | None:
        """Of an executed plan: its first step at work, else the first that is left, else the last.

        None without a plan.
        """
        if self.kind is not JobKind.PLAN:
            return None
        statuses = list({task.step_id: task.status for task in self.tasks}.values())
        for of_interest in (AT_WORK, set(StepStatus) - DONE, DONE):
            places = [place for place, status in enumerate(statuses) if status in of_interest]
            if places:
                return places[-1] if of_interest is DONE else places[0]
        return 0

    def executes(self, plan_id: str) -> bool:
        return self.kind is JobKind.PLAN and self.plan_id == plan_id

    def model_post_init(self, _context: Any) -> None:
        self.card_id = self.card_id or self.id


class QueuedMessage(BaseModel):
    """A message that no agent has read yet; until then the user can withdraw it."""

    id: str = Field(default_factory=lambda: new_id("queued"))
    context_id: str
    content: str
    created_at: str = Field(default_factory=now)
