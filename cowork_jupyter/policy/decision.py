"""What would happen to a call, and why. So far the role's ceiling decides it alone."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from pydantic import BaseModel

from ..domain.errors import Forbidden
from ..domain.roles import AgentRole, Permission
from .ceiling import check_ceiling


class Decision(BaseModel):
    """Allow, ask or deny, with the reasons in the order in which they counted."""

    decision: Literal["allow", "ask", "deny"]
    because: list[str]


def decide(role: AgentRole, tool: str, needed: Set[Permission]) -> Decision:
    """Decide about a call without making it."""
    try:
        check_ceiling(role, tool, needed)
    except Forbidden as refusal:
        return Decision(decision="deny", because=[refusal.message])
    if Permission.EXECUTE_COMMANDS in needed and not role.spec.commands_may_write:
        why = f"Commands of the {role} must not write, and nothing here keeps them from it yet."
        return Decision(decision="deny", because=[why])
    held = ", ".join(sorted(needed)) or "no permission, which is all that it needs"
    return Decision(decision="allow", because=[f"The role {role} holds {held}."])
