"""One call on its way to a worker, as the coordinator sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ...domain.errors import CoworkError
from ...tools.base import ToolResult
from .parcels import Parcel
from .sent_files import Brought
from .worker import WorkerOrder


class Lost(Exception):
    """The worker is gone, and nobody knows how far it got."""


class Attempt:
    """One attempt at a call: who claimed it, and its outcome."""

    def __init__(self, order: WorkerOrder, show: Callable[[str], None]) -> None:
        self.order = order
        self._show = show
        self.only_at: str | None = None
        """The worker that has what the call needs; None for any."""
        self.claimed: Callable[[str], None] = lambda _worker: None
        """Called with the worker before it begins."""
        self.pack: Callable[[], Awaitable[Parcel]] | None = None
        """Packs the files for a worker that does not see the workspace; None if it must see it."""
        self.parcel: Parcel | None = None
        self.worker: str | None = None
        """Who runs it; None as long as nothing has begun."""
        self.outcome: asyncio.Future[ToolResult | Brought] = (
            asyncio.get_running_loop().create_future()
        )
        self.ended = asyncio.Event()

    def claim(self, worker: str) -> bool:
        """Whether this worker may run it: only the first one that asks.

        A second claim means that Dask runs it again, because the first worker is gone.
        """
        if self.outcome.done() or self.worker is not None:
            self.lose()
            return False
        self.worker = worker
        self.claimed(worker)
        return True

    def hear(self, output: str) -> None:
        """Show its output; a call whose output cannot be shown must not go on unseen."""
        try:
            self._show(output)
        except CoworkError as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)

    def lose(self) -> None:
        self.ended.set()
        self.fail(Lost())
