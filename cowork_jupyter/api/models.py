"""What comes in and what goes out over HTTP, where the domain's own models do not say it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
)

from ..agents.ask.inquiries import as_shown
from ..domain.contexts import Context, FoundContext, Job
from ..domain.events import Event
from ..domain.message_data import ErrorBody
from ..domain.messages import Message
from ..domain.role_view import RoleView
from ..domain.roles import AgentRole
from ..roles import RoleCatalog
from ..store import Inquiry


def _storable(text: str) -> str:
    """NUL ends strings in too many places, and half a character fits into no file."""
    if "\x00" in text:
        raise ValueError("must not contain NUL characters")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("must not contain halves of characters")
    return text


def _whole(number: Any) -> Any:
    """In JSON, 3.0 is an integer."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _chosen(role: AgentRole, info: ValidationInfo) -> AgentRole:
    """Requests are read with the workspace's roles at hand."""
    roles = info.context if isinstance(info.context, RoleCatalog) else RoleCatalog()
    return roles.chosen(role.value)


# What a `Field` says comes first: after a validator, some of it would be left out of the schema.
Text = Annotated[
    str,
    Field(max_length=4_000_000, json_schema_extra={"pattern": r"^[^\u0000]*$"}),
    AfterValidator(_storable),
]
# A path that we have listed is taken back as it is: files can have names of several lines.
ListedPath = Annotated[
    str,
    Field(max_length=1_000, json_schema_extra={"pattern": r"^[^\u0000]*$"}),
    AfterValidator(_storable),
]
# A name goes into prompts and lists, where a line break would let it pose as more.
Name = Annotated[
    str,
    Field(max_length=1_000, pattern=r"^[^\x00-\x1f\x7f\u2028\u2029]*$"),
    AfterValidator(_storable),
]
KnownRole = Annotated[AgentRole, AfterValidator(_chosen)]
MAX_SEARCH = 200
Whole = BeforeValidator(_whole)
Seq = Annotated[int, Field(ge=0, le=2**62), Whole]


class RequestBody(BaseModel):
    """Base of all that comes in: unknown fields are refused, so that typos are noticed."""

    model_config = ConfigDict(extra="forbid")


# In


class NewContext(RequestBody):
    """`POST context`."""

    notebook: Name | None = None
    title: Name = ""
    role: KnownRole | None = None
    model: Name | None = None
    system_prompt_id: Name = "default"


class ContextChange(RequestBody):
    """`PUT context/{id}`: what is not named stays as it is."""

    title: Name | None = None
    pinned: bool | None = None


class RoleChange(RequestBody):
    """`POST context/{id}/role`."""

    role: KnownRole
    confirm: bool = False
    cell_id: Name | None = None
    """The cell of the notebook that it is sent from."""


class ModeChange(RequestBody):
    """`POST context/{id}/mode`, the older name of a role change."""

    mode: Literal["plan", "act"]
    confirm: bool = False
    cell_id: Name | None = None
    """The cell of the notebook that it is sent from."""


Amount = Annotated[float, Field(ge=0, le=2**53, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**53), Whole]


class JobLimits(RequestBody):
    """Limits for one job; those of all its tasks together can be 0, which is none."""

    max_iterations: Annotated[int, Field(ge=1, le=2**53), Whole] | None = None
    max_seconds: Annotated[float, Field(ge=1, le=2**53, allow_inf_nan=False)] | None = None
    max_tokens: Count | None = None
    max_job_iterations: Count | None = None
    max_job_seconds: Amount | None = None
    max_job_tokens: Count | None = None
    max_cost: Amount | None = None


class Resumption(RequestBody):
    """`POST jobs/{id}/resume`. What a limit of the job counts includes what was spent before."""

    limits: JobLimits = JobLimits()


class AnswerBody(RequestBody):
    """`POST questions/{id}/answer`."""

    value: Text


class HealthQuery(RequestBody):
    """`GET health`."""

    fresh: bool = False


class PageQuery(RequestBody):
    """Part of a list: what comes after the cursor, at most so many."""

    after: Seq = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 200


class ContextsQuery(PageQuery):
    """`GET context`."""

    notebook: Name | None = None
    """Only the conversations of this one."""
    pinned: bool | None = None
    """Only those that are pinned, or only those that are not."""
    q: Annotated[Name, Field(max_length=MAX_SEARCH)] = ""
    """Words that each stand in the title, the notebook's path or the messages."""


class EventsQuery(RequestBody):
    """`GET context/{id}/events`."""

    after: Seq = 0
    timeout: Annotated[float, Field(ge=0, le=120)] = 25.0


# Out


class ErrorAnswer(BaseModel):
    """The answer to every request that failed."""

    error: ErrorBody


class AddresseeAnswer(BaseModel):
    """Who gets the next message of a conversation."""

    role: AgentRole
    """The one that the user has chosen since anybody worked, or else of who worked last."""


class ContextList(BaseModel):
    """Conversations, newest first."""

    items: list[FoundContext]
    next: int | None


class DeletedContext(Context):
    """A conversation that can be brought back."""

    deleted_at: str


class DeletedContextList(BaseModel):
    """What was deleted a moment ago, newest first."""

    items: list[DeletedContext]
    next: None = None


class MessageList(BaseModel):
    """Messages, oldest first."""

    items: list[Message]
    next: int | None


class RoleList(BaseModel):
    """All roles."""

    items: list[RoleView]
    next: None = None


class JobList(BaseModel):
    """Jobs of a conversation, oldest first."""

    items: list[Job]
    next: None = None


class Accepted(BaseModel):
    """The message is stored and a job works on it."""

    message_id: str
    job_id: str


class EventList(BaseModel):
    """What happened."""

    events: list[Event]


class QuestionView(BaseModel):
    """A question with its id and status."""

    model_config = ConfigDict(extra="allow")

    id: str
    context_id: str
    job_id: str | None
    task_id: str | None
    status: str
    question: str

    @classmethod
    def of(cls, question: Inquiry) -> QuestionView:
        """A stored question as the contract shows it."""
        return cls.model_validate(as_shown(question))


class QuestionList(BaseModel):
    """Questions that wait for an answer."""

    items: list[QuestionView]
    next: None = None


class Answered(BaseModel):
    """The question is answered and the job continues."""

    id: str
    status: str
    value: str
