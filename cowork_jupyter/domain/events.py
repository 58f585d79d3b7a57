"""Events: every change of state, in order, in the contract's envelope."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel


class EventType(StrEnum):
    """The kinds of event."""

    TEXT_DELTA = "text-delta"
    REASONING_DELTA = "reasoning-delta"
    MESSAGE = "message"
    TOOL_CALL = "tool-call"
    TOOL_RESULT = "tool-result"
    PERMISSION_REQUEST = "permission-request"
    PERMISSION_RESOLVED = "permission-resolved"
    QUESTION_ASKED = "question-asked"
    QUESTION_ANSWERED = "question-answered"
    PLAN_UPDATE = "plan-update"
    JOB_STARTED = "job-started"
    TASK_STARTED = "task-started"
    TASK_COMPLETED = "task-completed"
    JOB_COMPLETED = "job-completed"
    ROLE_CHANGED = "role-changed"
    CHECKPOINT_CREATED = "checkpoint-created"
    USAGE = "usage"
    NOTICE = "notice"
    ERROR = "error"


class Event(BaseModel):
    """One stored event. `seq` grows by one within a context and survives restarts."""

    seq: int
    type: EventType
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    created_at: str
    data: dict[str, Any] = {}
