"""What the protocol needs from whoever runs the tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

from ...domain.errors import Unavailable
from ...domain.roles import AgentRole
from ...tools.base import Tool, ToolResult

Tell = Callable[[str], Awaitable[None]]
"""Says to the caller how its call is getting on."""


class ToolHost(Protocol):
    """Where agents of others call our tools, under one role."""

    role: AgentRole

    def tools(self) -> Sequence[Tool]:
        """What they can call."""

    async def call(
        self, guest: str, tool: str, parameters: dict[str, Any], tell: Tell
    ) -> ToolResult:
        """Run one call of the agent that calls itself `guest`; `CoworkError` says why not."""


def check_installed() -> None:
    """Say what is missing before anything is imported that needs it."""
    if find_spec("mcp") is None:
        how = "Run: pip install 'cowork-jupyter[mcp]'"
        raise Unavailable(f"A package is missing. {how}", code="no_mcp", retryable=False)
