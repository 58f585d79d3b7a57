"""The server as its handlers know it; the extension is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...api.calls import Host

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine

    from ...mcp.server.http import HttpSessions
    from ...service import CoworkService
    from ..service_thread import ServiceThread
    from .activity import ActivityFeed
    from .kernel_tokens import KernelTokens
    from .tabs import Tab, Tabs


T = TypeVar("T")


class ServerHost(Host, Protocol):
    """Hosts the service, and knows the kernels, the pages and the agents that call."""

    kernel_tokens: KernelTokens
    activity: ActivityFeed
    tabs: Tabs

    @property
    def service(self) -> CoworkService:
        """The one service of this server."""

    @property
    def thread(self) -> ServiceThread:
        """Where the service works, and all that asks it something."""

    async def load(self) -> None:
        """Have the service made beside Jupyter's loop, if it is not yet."""

    async def in_jupyter(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work with Jupyter's own objects, which belong to its loop."""

    @property
    def http_sessions(self) -> HttpSessions:
        """Where agents of others come in over MCP."""

    def mark_cells(self, tab: Tab, opened: Collection[str]) -> None:
        """Show a tab which cells of notebooks it has just opened were changed by an agent."""
