"""A role as the outside sees it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from .roles import AgentRole, Permission


class RoleLook(BaseModel):
    """What draws a role."""

    name: str
    label: str
    icon: str
    colour: str
    description: str

    @classmethod
    def look(cls, role: AgentRole) -> RoleLook:
        """The look that a role has now."""
        spec = role.spec
        return RoleLook(
            name=spec.name,
            label=spec.label,
            icon=spec.icon,
            colour=spec.colour,
            description=spec.description,
        )


class RoleView(RoleLook):
    """One item of `GET roles`."""

    permissions: list[Permission]
    tools: list[str]
    delegates_to: list[str]

    @classmethod
    def of(cls, role: AgentRole, tools: Iterable[str]) -> RoleView:
        """The view of one role and the tools it may call."""
        spec = role.spec
        return cls(
            **RoleLook.look(role).model_dump(),
            permissions=[permission for permission in Permission if permission in spec.permissions],
            tools=list(tools),
            delegates_to=list(spec.delegates_to),
        )
