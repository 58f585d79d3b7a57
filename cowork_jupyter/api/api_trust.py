"""Endpoints about what is allowed and what can be taken back."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from ..domain.roles import AgentRole
from ..policy.decision import Decision
from ..store import CheckpointRecord, Inquiry
from .calls import Call
from .models import Name, Request
from .routes import table


class RuleCheck(Request):
    """`POST rules/check`."""

    role: AgentRole
    tool: Name
    parameters: dict[str, Any] = {}
    context_id: Name | None = None


class PermissionView(BaseModel):
    """A call that waits for the user's permission."""

    id: str
    context_id: str
    job_id: str | None
    task_id: str | None
    tool: str
    parameters: dict[str, Any] = {}
    resource: str = ""
    risk: str = ""
    why: list[str] = []
    scopes: list[str] = []
    status: str

    @classmethod
    def of(cls, request: Inquiry) -> PermissionView:
        """A stored request as the contract shows it."""
        return cls.model_validate({**request.data, **request.model_dump(exclude={"data"})})


class PermissionList(BaseModel):
    """Calls that wait for permission."""

    items: list[PermissionView]
    next: None = None


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


@table.route("POST", "rules/check", body=RuleCheck, answer=Decision, action="read")
async def check_rule(call: Call) -> BaseModel:
    """What would happen to a call, and why; nothing is run."""
    if call.body.context_id:
        call.service.context(call.body.context_id)
    return call.service.check_call(call.body.role, call.body.tool)


@table.route("GET", "context/{id}/permissions", answer=PermissionList, action="read")
async def list_permissions(call: Call) -> BaseModel:
    """Calls that wait for the user's permission."""
    found = call.service.pending_permissions(call.path["id"])
    return PermissionList(items=[PermissionView.of(one) for one in found])


@table.route("GET", "context/{id}/checkpoints", answer=CheckpointList, action="read", kernel=True)
async def list_checkpoints(call: Call) -> BaseModel:
    """States that one can go back to, oldest first."""
    found = call.service.checkpoints(call.path["id"])
    return CheckpointList(items=[CheckpointView.of(one) for one in found])
