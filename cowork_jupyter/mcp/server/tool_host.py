"""What the protocol needs from whoever runs the tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...domain.errors import Unavailable
from ...domain.health import lack_of
from ...domain.roles import AgentRole
from ...tools.base import Tool, ToolResult

Tell = Callable[[str], Awaitable[None]]
"""Says to the caller how its call is getting on."""


@dataclass(frozen=True)
class Consent:
    """What the person in front of the caller's client has decided about a call."""

    is_given: bool
    reason: str = ""


Ask = Callable[[str], Awaitable[Consent | None]]
"""Puts a call to the person in front of the client; None if they have not decided."""


@dataclass(frozen=True)
class GuestCaller:
    """An agent of somebody else's, as far as its client says who it is and what it can do."""

    name: str
    tell: Tell
    ask: Ask | None = None
    """None where the client cannot ask its user."""


class ToolHost(Protocol):
    """Where agents of others call our tools, under one role."""

    role: AgentRole

    def tools(self) -> Sequence[Tool]:
        """What they can call."""

    async def call(self, caller: GuestCaller, tool: str, parameters: dict[str, Any]) -> ToolResult:
        """Run one call; `CoworkError` says why not."""


def check_installed() -> None:
    """Say what is missing before anything is imported that needs it."""
    if lack := lack_of("mcp"):
        raise Unavailable(lack, code="no_mcp", retryable=False)
