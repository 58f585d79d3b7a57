"""The extension as handlers see it, without importing the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...api.calls import Host

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Sequence

    from ...service.parts import ServerObserver
    from ...service.service import CoworkService
    from ..service_thread import ServiceThread
    from .activity import ActivityFeed
    from .kernel_tokens import KernelTokens
    from .tabs import Tab, Tabs


T = TypeVar("T")


class ServerHost(Host, Protocol):
    kernel_tokens: KernelTokens
    activity: ActivityFeed
    tabs: Tabs
    observers: Sequence[ServerObserver]

    @property
    def service(self) -> CoworkService: ...

    @property
    def thread(self) -> ServiceThread: ...

    async def load(self) -> None:
        """Build the service in its own thread, once."""

    async def in_jupyter(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on Jupyter's own objects, which belong to its loop."""

    def mark_cells(self, tab: Tab, opened: Collection[str]) -> None:
        """Show a tab the agent's changes in notebooks that it has just opened."""
