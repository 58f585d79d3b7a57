"""Agents of others, to which tasks can be handed over."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from ..domain.errors import NotFound
from ..domain.plan import PlanStep
from ..domain.roles import AgentRole
from .log import RunLog
from .run.budget import JobBudget
from .run.outcome import Outcome
from .run.tool_environment import ToolEnvironment


class ExternalAgents(Protocol):
    def names(self) -> Collection[str]:
        """Those that the user has now."""

    def facts(self, role: AgentRole) -> dict[str, str]:
        """What the prompt of a role says of them."""

    async def run(
        self,
        agent: str,
        text: str,
        tools: ToolEnvironment,
        log: RunLog,
        budget: JobBudget,
        step: PlanStep | None = None,
    ) -> Outcome:
        """Let one work. Raises CoworkError where it cannot."""


class NoExternalAgents:
    def names(self) -> Collection[str]:
        return ()

    def facts(self, role: AgentRole) -> dict[str, str]:  # noqa: ARG002
        return {}

    async def run(
        self,
        agent: str,
        text: str,  # noqa: ARG002
        tools: ToolEnvironment,  # noqa: ARG002
        log: RunLog,  # noqa: ARG002
        budget: JobBudget,  # noqa: ARG002
        step: PlanStep | None = None,  # noqa: ARG002
    ) -> Outcome:
        raise NotFound(f"There is no external agent '{agent}'.", code="unknown_agent")
