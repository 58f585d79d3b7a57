"""The service that every host wraps. Plain Python: it knows nothing of Jupyter."""

from __future__ import annotations

from collections.abc import Iterable

from .domain.health import Health, Problem
from .domain.role_view import RoleView
from .domain.roles import AgentRole
from .domain.settings import Settings
from .health import describe
from .llm.reachable import ModelProbe


class CoworkService:
    """Wires the parts together for one workspace and one set of settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._probe = ModelProbe(settings)

    async def health(self, problems: Iterable[Problem] = (), *, fresh: bool = False) -> Health:
        """How this installation is doing; `problems` are what only the host can see."""
        return describe(self.settings, await self._probe.state(fresh=fresh), problems)

    def roles(self) -> list[RoleView]:
        """Every role, as cards and menus show them."""
        return [RoleView.of(role, tools=()) for role in AgentRole]
