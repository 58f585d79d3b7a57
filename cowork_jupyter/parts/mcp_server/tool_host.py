"""The interface between the protocol and whoever runs the tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...domain.errors import Unavailable
from ...domain.health import missing_extra
from ...domain.roles import AgentRole
from ...tools.base import Tool, ToolResult

Tell = Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class Consent:
    """The decision of the client's user about a call."""

    is_given: bool
    reason: str = ""


Ask = Callable[[str], Awaitable[Consent | None]]
"""Asks the client's user about a call; None if they have not decided."""


@dataclass(frozen=True)
class GuestCaller:
    """A foreign agent, as its client describes it."""

    name: str
    tell: Tell
    ask: Ask | None = None
    """None where the client cannot ask its user."""


class ToolHost(Protocol):
    role: AgentRole

    def tools(self) -> Sequence[Tool]: ...

    async def call(self, caller: GuestCaller, tool: str, parameters: dict[str, Any]) -> ToolResult:
        """Raises CoworkError if the call is refused or fails."""


def check_installed() -> None:
    """Raises Unavailable before anything is imported that needs the extra."""
    if lack := missing_extra("mcp"):
        raise Unavailable(lack, code="no_mcp", retryable=False)
