"""Keeps the database small: removes old conversations, and gives the space back."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from .bus import Journal
from .checkpoints import LazyCheckpointStore
from .domain.errors import CoworkError

logger = logging.getLogger(__name__)

DAY = 24 * 3600.0
_BETWEEN = 0.05
"""Seconds between two steps, for other writers."""


class Retention:
    """Runs when the database is opened, and then once a day."""

    def __init__(self, journal: Journal, checkpoints: LazyCheckpointStore, days: int) -> None:
        """With 0 `days` all conversations stay."""
        self._journal = journal
        self._checkpoints = checkpoints
        self._days = days
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._each_day())

    async def close(self) -> None:
        """The rest is done by whoever opens the database next."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _each_day(self) -> None:
        while True:
            try:
                if self._days:
                    await self.remove_unused(self._days)
                await self.give_back()
            except CoworkError as error:  # a full disk, say; tomorrow it may work
                logger.warning("Old conversations are not removed yet: %s", error)
            await asyncio.sleep(DAY)

    async def remove_unused(self, days: float) -> list[str]:
        then = datetime.now(UTC) - timedelta(days=days)
        since = then.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        removed: list[str] = []
        while context_id := self._remove_one(since):
            removed.append(context_id)
            await asyncio.sleep(_BETWEEN)
        await self._checkpoints.forget_context(*removed)
        if removed:
            logger.info("Removed %d conversations not used for %g days.", len(removed), days)
        return removed

    def _remove_one(self, since: str) -> str | None:
        """One transaction each, which checks once more: it may have been used just now."""
        with self._journal.transaction() as tx:
            found = tx.unused_contexts(since, limit=1)
            for context_id in found:
                tx.delete_context(context_id)
        return found[0] if found else None

    async def give_back(self) -> None:
        """Give free pages back to the disk, a little at a time."""
        more = True
        while more and self._journal.store.free_bytes():
            with self._journal.transaction() as tx:
                more = tx.give_back()
            await asyncio.sleep(_BETWEEN)
