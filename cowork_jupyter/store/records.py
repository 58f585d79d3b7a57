"""What is stored beside contexts, jobs, tasks and messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field

from ..domain.identity import now
from ..domain.plan import Plan

T = TypeVar("T")
PENDING = "pending"


class Inquiry(BaseModel):
    """Something only the user can decide: a question, or a request for permission."""

    id: str
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    status: str = PENDING
    data: dict[str, Any] = {}
    """What is asked, as the contract shows it."""
    answer: dict[str, Any] | None = None
    created_at: str = Field(default_factory=now)
    resolved_at: str | None = None


class PlanRevision(BaseModel):
    """One version of a context's plan, and what the planner had read when it made it."""

    context_id: str
    revision: int
    plan: Plan
    made_at: str = Field(default_factory=now)
    files_read: dict[str, str] = {}
    """Fingerprint by path: how one sees later that the plan is stale."""


class CheckpointRecord(BaseModel):
    """That a checkpoint was taken; what is in it is the business of its maker."""

    id: str
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    data: dict[str, Any] = {}
    created_at: str = Field(default_factory=now)


@dataclass(frozen=True)
class Page(Generic[T]):
    """Part of a list, and the cursor that gives the next part, if there is one."""

    items: list[T]
    next: int | None
