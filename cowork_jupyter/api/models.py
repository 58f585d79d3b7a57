"""Request and response models that the domain does not already have."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo

from ..domain.contexts import Context, FoundContext, Job
from ..domain.errors import InvalidInput
from ..domain.events import Event, QuestionAsked
from ..domain.messages import ErrorBody, ImagePart, Message
from ..domain.role_view import RoleView
from ..domain.roles import AgentRole
from ..roles.catalog import RoleCatalog
from ..tools.notebook.outputs import MAX_PIXELS, pixels


def _check_storable(text: str) -> str:
    """NUL ends strings in too many places, and lone surrogates cannot be written to files."""
    if "\x00" in text:
        raise ValueError("must not contain NUL characters")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("must not contain incomplete characters")
    return text


def _to_int(number: Any) -> Any:
    """In JSON, 3.0 is an integer."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _validate_role(role: AgentRole, info: ValidationInfo) -> AgentRole:
    """Requests are validated with the workspace's roles as context."""
    roles = info.context if isinstance(info.context, RoleCatalog) else RoleCatalog()
    return roles.chosen(role.value)


# `Field` comes first: after a validator, parts of it would be missing from the schema.
Text = Annotated[
    str,
    Field(max_length=4_000_000, json_schema_extra={"pattern": r"^[^\u0000]*$"}),
    AfterValidator(_check_storable),
]
# A path that we listed is accepted as it is: file names can contain line breaks.
ListedPath = Annotated[
    str,
    Field(max_length=1_000, json_schema_extra={"pattern": r"^[^\u0000]*$"}),
    AfterValidator(_check_storable),
]
# Names go into prompts and lists, where a line break could forge another entry.
Name = Annotated[
    str,
    Field(max_length=1_000, pattern=r"^[^\x00-\x1f\x7f\u2028\u2029]*$"),
    AfterValidator(_check_storable),
]
KnownRole = Annotated[AgentRole, AfterValidator(_validate_role)]
T = TypeVar("T")
MAX_SEARCH = 200
Whole = BeforeValidator(_to_int)
Seq = Annotated[int, Field(ge=0, le=2**62), Whole]


class RequestBody(BaseModel):
    """Base of all requests: unknown fields are refused, so that typos are noticed."""

    model_config = ConfigDict(extra="forbid")


class Items(BaseModel, Generic[T]):
    """Base of lists that are always complete, so there is no next page."""

    items: list[T]
    next: None = None


# Requests


class NewContext(RequestBody):
    """`POST context`."""

    notebook: Name | None = None
    title: Name = ""
    role: KnownRole | None = None
    model: Name | None = None
    system_prompt_id: Name = "default"


class ContextChange(RequestBody):
    """`PUT context/{id}`: fields that are left out stay as they are."""

    title: Name | None = None
    pinned: bool | None = None


class RoleChange(RequestBody):
    """`POST context/{id}/role`."""

    role: KnownRole
    confirm: bool = False
    cell_id: Name | None = None
    """The notebook cell that it is sent from."""


class ModeChange(RequestBody):
    """`POST context/{id}/mode`, the older name of a role change."""

    mode: Literal["plan", "act"]
    confirm: bool = False
    cell_id: Name | None = None
    """The notebook cell that it is sent from."""


Amount = Annotated[float, Field(ge=0, le=2**53, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**53), Whole]


class JobLimits(RequestBody):
    """Limits of one job; those over all its tasks can be 0, which means none."""

    max_iterations: Annotated[int, Field(ge=1, le=2**53), Whole] | None = None
    max_seconds: Annotated[float, Field(ge=1, le=2**53, allow_inf_nan=False)] | None = None
    max_tokens: Count | None = None
    max_job_iterations: Count | None = None
    max_job_seconds: Amount | None = None
    max_job_tokens: Count | None = None
    max_cost: Amount | None = None


class Resumption(RequestBody):
    """`POST jobs/{id}/resume`. Limits of a job include what was spent before."""

    limits: JobLimits = JobLimits()
    role: KnownRole | None = None
    """Needed if the conversation's role is not the job's: one of the two."""


class TaskDecision(RequestBody):
    """`POST jobs/{id}/tasks/{task}/retry` and `skip`, which resume the job."""

    role: KnownRole | None = None
    """As for `resume`."""


class AnswerBody(RequestBody):
    """`POST questions/{id}/answer`."""

    value: Text


class HealthQuery(RequestBody):
    """`GET health`."""

    fresh: bool = False


class PageQuery(RequestBody):
    """A page of a list: what comes after the cursor, at most `limit` items."""

    after: Seq = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 200


class ContextsQuery(PageQuery):
    """`GET context`."""

    notebook: Name | None = None
    """Only conversations of this notebook."""
    pinned: bool | None = None
    """Only pinned conversations, or only others."""
    q: Annotated[Name, Field(max_length=MAX_SEARCH)] = ""
    """Words that must all occur in the title, the notebook's path or the messages."""


class SocketQuery(RequestBody):
    """`WS context/{id}/events/ws`."""

    after: Seq = 0


class EventsQuery(SocketQuery):
    """`GET context/{id}/events`."""

    timeout: Annotated[float, Field(ge=0, le=120)] = 25.0


# Answers


class ErrorAnswer(BaseModel):
    """The answer to every request that failed."""

    error: ErrorBody


class CurrentRole(BaseModel):
    """The role that gets the next message of a conversation; only a person changes it."""

    role: AgentRole
    seq: int
    """The last event that it takes into account."""


class ContextList(BaseModel):
    """Conversations, newest first."""

    items: list[FoundContext]
    next: int | None


class DeletedContext(Context):
    """A conversation that can be restored."""

    deleted_at: str


class DeletedContextList(Items[DeletedContext]):
    """Recently deleted conversations, newest first."""


class MessageList(BaseModel):
    """Messages, oldest first."""

    items: list[Message]
    next: int | None


class RoleList(Items[RoleView]):
    """All roles."""


class JobList(Items[Job]):
    """Jobs of a conversation, oldest first."""


class Accepted(BaseModel):
    """The message is stored and a job works on it."""

    message_id: str
    job_id: str


class EventList(BaseModel):
    """Events, oldest first."""

    events: list[Event]


class QuestionList(Items[QuestionAsked]):
    """Questions that wait for an answer."""


class Answered(BaseModel):
    """The question is answered and the job continues."""

    id: str
    status: str
    value: str


MAX_PICTURES = 4
MAX_BYTES = 5_000_000
_MAX_CHARACTERS = (MAX_BYTES + 2) // 3 * 4

MediaType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]


class NewPicture(RequestBody):
    """A picture as base64; its first bytes must match its type."""

    media_type: MediaType
    data: Annotated[str, Field(min_length=1, max_length=_MAX_CHARACTERS)]

    def part(self) -> ImagePart:
        """Raises InvalidInput for what a schema cannot express."""
        if problem := self._problem():
            raise InvalidInput(f"A picture in this message {problem}.", code="bad_picture")
        return ImagePart.of(self.media_type, self.data, pixels(self.data))

    def _problem(self) -> str:
        try:
            start = base64.b64decode(self.data, validate=True)[:16]
        except (binascii.Error, ValueError):
            return "is not base64"
        if _type_of(start) != self.media_type:
            return f"is not a picture of type {self.media_type}"
        size = pixels(self.data)
        return "has too many pixels" if size and size[0] * size[1] > MAX_PIXELS else ""


def _type_of(start: bytes) -> MediaType | None:
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    return None


Pictures = Annotated[list[NewPicture], Field(max_length=MAX_PICTURES)]
