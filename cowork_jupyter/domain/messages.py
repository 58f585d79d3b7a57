"""Messages: what was said, stored whole, in the contract's shape."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from .identity import new_id, now
from .roles import AgentRole


class MessageType(StrEnum):
    """What a message is, so that each kind can have its own card."""

    TEXT = "text"
    PLAN = "plan"
    QUESTION = "question"
    ANSWER = "answer"
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
        """A picture, with its pixels if they are known."""
        pixels = {"width": size[0], "height": size[1]} if size else {}
        return cls.model_validate({"media_type": media_type, "data": data, **pixels})

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height in pixels, if they are known."""
        known = self.model_extra or {}
        width, height = known.get("width"), known.get("height")
        return (width, height) if isinstance(width, int) and isinstance(height, int) else None


ContentPart = Annotated[TextPart | ImagePart, Field(discriminator="type")]
MessageRole = Literal["user", "assistant", "system", "tool"]


def _type_of_old_messages(value: Any) -> Any:
    """Messages stored before types existed, or as `normal`, are text."""
    return MessageType.TEXT if value in (None, "", "normal") else value


def _parts_of_plain_text(value: Any) -> Any:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


class Answer(BaseModel):
    """What a message of type `answer` says: which question it answers, and how."""

    question_id: str
    question: str
    value: str
    label: str
    """The value as the user saw it."""


class Message(BaseModel):
    """One stored message."""

    id: str = Field(default_factory=lambda: new_id("msg"))
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    role: MessageRole
    agent_role: AgentRole | None = None
    message_type: Annotated[MessageType, BeforeValidator(_type_of_old_messages)] = MessageType.TEXT
    content: Annotated[list[ContentPart], BeforeValidator(_parts_of_plain_text)] = []
    data: dict[str, Any] = {}
    created_at: str = Field(default_factory=now)

    @property
    def text(self) -> str:
        """The text of all its text parts."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))
