"""The checkpoint store for the service: opened on first use, used in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from ..domain.errors import Unavailable
from ..domain.settings import Settings
from .store import CheckpointLimits, CheckpointStore, sweep
from .views import CheckpointUse
from .workspace_state import Exclusions, WorkspaceState

T = TypeVar("T")


def checkpoint_folder(settings: Settings) -> Path:
    return settings.data_dir / "checkpoints"


class LazyCheckpointStore:
    def __init__(self, settings: Settings) -> None:
        self.folder = checkpoint_folder(settings)
        self._settings = settings
        self._lock = threading.Lock()
        self._state: WorkspaceState | None = None
        self._closed = False

    @property
    def state(self) -> WorkspaceState:
        """Call it in a thread: opening may take a while."""
        with self._lock:
            if self._closed:
                raise Unavailable("The checkpoint store is closed.", code="closed")
            if self._state is None:
                settings = self._settings
                limits = CheckpointLimits(
                    settings.checkpoint_file_limit, settings.checkpoint_total_limit
                )
                private = {settings.data_dir.resolve(), settings.database.resolve().parent}
                exclusions = Exclusions(settings.checkpoint_exclude, sorted(private))
                store = CheckpointStore(self.folder, limits)
                self._state = WorkspaceState(store, settings.workspace, exclusions)
            return self._state

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever stored; then nothing is opened only to find out."""
        return self._state is None and not self.folder.exists()

    async def run(self, work: Callable[[WorkspaceState], T]) -> T:
        """Do something with the store in a thread."""
        return await asyncio.to_thread(lambda: work(self.state))

    def read(self, digest: bytes, max_size: int) -> bytes | None:
        """None if the content is larger, or not stored."""
        objects = self.state.store.objects
        size = objects.size(digest)
        return objects.read(digest) if size is not None and size <= max_size else None

    def close(self) -> None:
        """What still works with the store fails."""
        with self._lock:
            self._closed = True
            if self._state is not None:
                self._state.close()

    async def forget_context(self, *context_ids: str) -> None:
        """Delete the checkpoints of deleted conversations, and what nobody else needs."""
        if self.is_empty or not context_ids:
            return

        def forget(state: WorkspaceState) -> None:
            for context_id in context_ids:
                state.store.forget_context(context_id)
            sweep(state.store)

        await self.run(forget)

    async def by_context(self) -> dict[str, int]:
        """Bytes that the checkpoints of each conversation need; shared ones count for both."""
        return {} if self.is_empty else await self.run(lambda state: _by_context(state.store))

    async def move_file(self, old: str, new: str) -> None:
        """A file or folder was renamed: a rollback restores it at its new path."""
        if not self.is_empty:
            await self.run(lambda state: state.store.move_file(state.root, old, new))

    async def use(self) -> CheckpointUse:
        if self.is_empty:
            return CheckpointUse(bytes=0, limit=self._settings.checkpoint_total_limit)
        return await self.run(lambda state: _use(state.store))


def _use(store: CheckpointStore) -> CheckpointUse:
    with store.database.reading() as connection:
        sql = "SELECT created FROM checkpoints ORDER BY position LIMIT 1"
        row = connection.execute(sql).fetchone()
    oldest = f"{datetime.fromtimestamp(row[0], UTC):%Y-%m-%dT%H:%M:%SZ}" if row else None
    return CheckpointUse(bytes=store.objects.used(), limit=store.limits.total, oldest=oldest)


def _by_context(store: CheckpointStore) -> dict[str, int]:
    sql = (
        "SELECT context_id, sum(size) FROM (SELECT DISTINCT context_id, digest FROM checkpoints"
        " JOIN needs ON needs.checkpoint=checkpoints.position) JOIN objects USING (digest)"
        " GROUP BY context_id"
    )
    with store.database.reading() as connection:
        return dict(connection.execute(sql).fetchall())
