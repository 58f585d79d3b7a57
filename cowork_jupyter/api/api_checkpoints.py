"""Endpoints about what can be seen and taken back."""

from __future__ import annotations

from pydantic import BaseModel

from ..store import CheckpointRecord
from .calls import Call
from .routes import table


class CheckpointView(BaseModel):
    """A state of the workspace that one can go back to."""

    id: str
    created_at: str
    label: str = ""
    tool: str | None = None
    step_id: str | None = None
    files: list[str] = []
    uncovered: list[str] = []

    @classmethod
    def of(cls, record: CheckpointRecord) -> CheckpointView:
        """A stored checkpoint as the contract shows it."""
        return cls.model_validate({**record.data, "id": record.id, "created_at": record.created_at})


class CheckpointList(BaseModel):
    """The checkpoints of a conversation, oldest first."""

    items: list[CheckpointView]
    next: None = None


@table.route("GET", "context/{id}/checkpoints", answer=CheckpointList, action="read", kernel=True)
async def list_checkpoints(call: Call) -> BaseModel:
    """States that one can go back to, oldest first."""
    found = call.service.checkpoints(call.path["id"])
    return CheckpointList(items=[CheckpointView.of(one) for one in found])
