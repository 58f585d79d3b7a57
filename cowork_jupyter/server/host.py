"""The server as its handlers know it; the extension is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..api.calls import Host

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..mcp.server.http import HttpSessions
    from ..service import CoworkService
    from .activity import ActivityFeed
    from .kernel_tokens import KernelTokens
    from .tabs import Tab, Tabs


class ServerHost(Host, Protocol):
    """Hosts the service, and knows the kernels, the pages and the agents that call."""

    kernel_tokens: KernelTokens
    activity: ActivityFeed
    tabs: Tabs

    @property
    def service(self) -> CoworkService:
        """The one service of this server."""

    @property
    def http_sessions(self) -> HttpSessions:
        """Where agents of others come in over MCP."""

    def mark_cells(self, tab: Tab, opened: Collection[str]) -> None:
        """Show a tab which cells of notebooks it has just opened were changed by an agent."""
