"""Removes conversations for good: deleted ones after a few minutes, unused ones after some days."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from ..checkpoints import LazyCheckpointStore
from ..domain.contexts import Context
from ..domain.errors import CoworkError
from ..domain.plurals import count_of
from ..store.journal import Journal

logger = logging.getLogger(__name__)

UNDO_SECONDS = 10 * 60.0
_MARGIN_SECONDS = 0.01
"""Seconds: stored times are in milliseconds, so they may be slightly behind."""

DAY = 24 * 3600.0
_PAUSE_SECONDS = 0.05
"""Seconds between two steps, for other writers."""


class DeletedConversations:
    """What was deleted, until its time is up: also across a restart."""

    def __init__(
        self, journal: Journal, checkpoints: LazyCheckpointStore, undo_seconds: float = UNDO_SECONDS
    ) -> None:
        self._journal = journal
        self._checkpoints = checkpoints
        self._kept_for = timedelta(seconds=undo_seconds)
        self._removing: asyncio.Task[None] | None = None

    def contexts(self) -> list[tuple[Context, str]]:
        """Those that can be restored, each with its time of deletion; newest first."""
        deadline = self._deadline()
        return [entry for entry in self._journal.store.deleted_contexts() if entry[1] >= deadline]

    def add(self, context_id: str) -> None:
        with self._journal.transaction() as tx:
            tx.trash_context(context_id)
        self.schedule_removal()

    def restore(self, context_id: str) -> Context:
        with self._journal.transaction() as tx:
            return tx.restore_context(context_id)

    def schedule_removal(self) -> None:
        """Schedule removal for good, once the time is up."""
        if self._removing is None or self._removing.done():
            self._removing = asyncio.get_running_loop().create_task(self._remove_each())

    async def close(self) -> None:
        """The rest is removed by whoever opens the database next."""
        if self._removing:
            self._removing.cancel()
            with suppress(asyncio.CancelledError):
                await self._removing

    async def _remove_each(self) -> None:
        try:
            while kept := self._journal.store.deleted_contexts():
                _, oldest = kept[-1]
                due = datetime.fromisoformat(oldest) + self._kept_for - datetime.now(UTC)
                await asyncio.sleep(max(due.total_seconds(), 0) + _MARGIN_SECONDS)
                await self.remove_overdue()
        except CoworkError as error:  # a full disk, say; the next start tries again
            logger.warning("Deleted conversations are not removed yet: %s", error)

    async def remove_overdue(self) -> None:
        with self._journal.transaction() as tx:
            removed = tx.remove_deleted(self._deadline())
        for context_id in removed:
            await self._checkpoints.forget_context(context_id)

    def _deadline(self) -> str:
        """What was deleted before this is gone."""
        return _time_before(self._kept_for)


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
                await self.release_space()
            except CoworkError as error:  # a full disk, say; tomorrow it may work
                logger.warning("Old conversations are not removed yet: %s", error)
            await asyncio.sleep(DAY)

    async def remove_unused(self, days: float) -> list[str]:
        since = _time_before(timedelta(days=days))
        removed: list[str] = []
        while context_id := self._remove_one(since):
            removed.append(context_id)
            await asyncio.sleep(_PAUSE_SECONDS)
        await self._checkpoints.forget_context(*removed)
        if removed:
            conversations = count_of(len(removed), "conversation")
            logger.info("Removed %s not used for %g days.", conversations, days)
        return removed

    def _remove_one(self, since: str) -> str | None:
        """One transaction each, which checks once more: it may have been used just now."""
        with self._journal.transaction() as tx:
            context_ids = tx.unused_contexts(since, limit=1)
            for context_id in context_ids:
                tx.delete_context(context_id)
        return context_ids[0] if context_ids else None

    async def release_space(self) -> None:
        """Give free pages back to the disk, a little at a time."""
        more = True
        while more and self._journal.store.free_bytes():
            with self._journal.transaction() as tx:
                more = tx.release_space()
            await asyncio.sleep(_PAUSE_SECONDS)


def _time_before(delta: timedelta) -> str:
    """In the store's time format."""
    then = datetime.now(UTC) - delta
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")
