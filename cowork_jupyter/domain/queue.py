"""What the user says while a job runs, kept for the agent's next turn."""

from __future__ import annotations

from pydantic import BaseModel, Field

from .identity import new_id, now


class QueuedMessage(BaseModel):
    """A message that no agent has read yet; until then the user can take it back."""

    id: str = Field(default_factory=lambda: new_id("queued"))
    context_id: str
    content: str
    created_at: str = Field(default_factory=now)
