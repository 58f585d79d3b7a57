"""Roles as the API shows them; apart from `roles`, which must not import pydantic."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from .roles import AgentRole, Permission


class RoleLook(BaseModel):
    """How a role is displayed."""

    name: str
    label: str
    icon: str
    colour: str
    description: str

    @classmethod
    def look(cls, role: AgentRole) -> RoleLook:
        return RoleLook(**{name: getattr(role.spec, name) for name in RoleLook.model_fields})


class RoleView(RoleLook):
    """One item of `GET roles`."""

    permissions: list[Permission]
    tools: list[str]
    delegates_to: list[str]

    @classmethod
    def of(cls, role: AgentRole, tools: Iterable[str], delegates: Iterable[AgentRole]) -> RoleView:
        spec = role.spec
        return cls(
            **RoleLook.look(role).model_dump(),
            permissions=[permission for permission in Permission if permission in spec.permissions],
            tools=list(tools),
            delegates_to=[delegate.value for delegate in delegates],
        )
