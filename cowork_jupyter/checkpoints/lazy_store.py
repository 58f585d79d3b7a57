"""The store as a service sees it: opened when first needed, asked in threads, kept tidy."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..domain.errors import Unavailable
from ..domain.settings import Settings
from .exclude import Exclusions
from .housekeeping import Report, by_context, sweep, tidy, use, verify
from .scan import CheckpointLimits
from .store import CheckpointStore, WorkspaceState
from .views import CheckpointUse

FOLDER = "checkpoints"

T = TypeVar("T")


class LazyCheckpointStore:
    """The checkpoints of one workspace."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._state: WorkspaceState | None = None
        self._closed = False

    @property
    def folder(self) -> Path:
        """Where all of it is kept."""
        return self._settings.data_dir / FOLDER

    @property
    def state(self) -> WorkspaceState:
        """The workspace in its store. To be asked for in a thread: opening may take a while."""
        with self._lock:
            if self._closed:
                raise Unavailable("The checkpoint store is closed.", code="closed")
            if self._state is None:
                self._state = self._opened()
            return self._state

    def _opened(self) -> WorkspaceState:
        settings = self._settings
        limits = CheckpointLimits(settings.checkpoint_file_limit, settings.checkpoint_total_limit)
        store = CheckpointStore(self.folder, limits)
        private = {settings.data_dir.resolve(), settings.database.resolve().parent}
        exclusions = Exclusions(settings.checkpoint_exclude, sorted(private))
        return WorkspaceState(store, settings.workspace, exclusions)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever kept; then nothing is opened only to find out."""
        return self._state is None and not self.folder.exists()

    async def ask(self, question: Callable[[WorkspaceState], T]) -> T:
        """Let a thread do something with the store."""
        return await asyncio.to_thread(lambda: question(self.state))

    def read(self, digest: bytes, most: int) -> bytes | None:
        """A content, if it is not larger than this."""
        objects = self.state.store.objects
        size = objects.size(digest)
        return objects.read(digest) if size is not None and size <= most else None

    def close(self) -> None:
        """Let go of the store. What still works with it fails."""
        with self._lock:
            self._closed = True
            if self._state is not None:
                self._state.close()

    # --- housekeeping

    async def tidy(self) -> list[str]:
        """Drop what is past the limit; gives the ids of the checkpoints that went."""
        return await self.ask(lambda state: tidy(state.store))

    async def forget_context(self, *context_ids: str) -> None:
        """Conversations were deleted: their checkpoints go too, with what nobody else needs."""
        if self.is_empty or not context_ids:
            return

        def forget(state: WorkspaceState) -> None:
            for context_id in context_ids:
                state.store.forget_context(context_id)
            sweep(state.store)

        await self.ask(forget)

    async def by_context(self) -> dict[str, int]:
        """What the checkpoints of each conversation take; what two share counts for both."""
        return {} if self.is_empty else await self.ask(lambda state: by_context(state.store))

    async def move_file(self, old: str, new: str) -> None:
        """A file, or a folder, has another path: what was there can be brought back there."""
        if not self.is_empty:
            await self.ask(lambda state: state.store.move_file(state.root, old, new))

    async def use(self) -> CheckpointUse:
        """How much all checkpoints take."""
        if self.is_empty:
            return CheckpointUse(bytes=0, limit=self._settings.checkpoint_total_limit)
        return await self.ask(lambda state: use(state.store))

    async def verify(self) -> Report:
        """Whether all that is kept is whole."""
        return await self.ask(lambda state: verify(state.store))
