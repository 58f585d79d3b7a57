"""Messages: what was said, stored whole, in the contract's shape."""

from __future__ import annotations

import json
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializeAsAny

from .data import Data, Tagged
from .identity import new_id, now
from .message_data import (
    ErrorData,
    PlanData,
    QuestionData,
    ReviewData,
    RoleChangeData,
    TaskAssignmentData,
    TaskResultData,
    TextData,
    ToolCallData,
    ToolResultData,
)
from .roles import AgentRole


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
        said = {} if self.message_type is MessageType.TEXT else self.data.model_dump()
        return json.dumps(said, ensure_ascii=False, default=str) if said else ""


def message_type_of(data: Data) -> MessageType:
    return _TYPES[type(data)]
