"""The role's ceiling: what it does not hold, it does not do, whoever says otherwise."""

from __future__ import annotations

from collections.abc import Set

from ..domain.errors import Forbidden
from ..domain.roles import AgentRole, Permission


def check_ceiling(role: AgentRole, tool: str, needed: Set[Permission]) -> None:
    """Refuse a tool unless the role holds ALL permissions that it needs."""
    missing = sorted(set(needed) - role.spec.permissions)
    if missing:
        raise Forbidden(
            f"The role {role} may not use {tool}: it lacks {', '.join(missing)}.",
            code="not_permitted",
            advice="Do not try again; say what should be done instead.",
            details={"role": role.value, "tool": tool, "missing": [str(one) for one in missing]},
        )
