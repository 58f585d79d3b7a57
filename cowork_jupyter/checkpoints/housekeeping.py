"""The checkpoint store for the service: opened on first use, used in threads, kept small."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from ..domain.errors import Unavailable
from ..domain.settings import Settings
from .entries import Folder
from .objects import FRESH, Damaged, insert_contents
from .scan import CheckpointLimits, Exclusions
from .store import CheckpointStore
from .views import CheckpointUse
from .workspace_state import WorkspaceState

GRACE = 2 * FRESH
"""Seconds for which a content stays that nothing refers to any more.

A checkpoint that is being taken, here or in another process, refers to contents that only the
last known state holds; when a newer state drops them, they are needed for a while still.
"""
STALE = 30 * 24 * 3600
"""Seconds after which the state of an unused workspace is dropped."""

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


def tidy(store: CheckpointStore, *, grace: int = GRACE) -> list[str]:
    """Sweep, and drop the oldest checkpoints beyond the limit; returns the ids of those."""
    dropped: list[str] = []
    sweep(store, grace=grace)
    while store.objects.used() > store.limits.total:
        oldest = _drop_oldest(store)
        if not oldest:
            break
        dropped += oldest
        # With a short grace: a full store must get room now.
        sweep(store, grace=min(grace, 3600))
    return dropped


def _drop_oldest(store: CheckpointStore) -> list[str]:
    """Drop a tenth of all, but at least one."""
    with store.database.transaction() as connection:
        count = connection.execute("SELECT count(*) FROM checkpoints").fetchone()[0]
        sql = "SELECT id FROM checkpoints ORDER BY position LIMIT ?"
        rows = connection.execute(sql, (max(count // 10, 1),)).fetchall()
        connection.executemany("DELETE FROM checkpoints WHERE id=?", rows)
    return [row[0] for row in rows]


def sweep(store: CheckpointStore, *, grace: int = GRACE) -> None:
    """Remove contents that no checkpoint and no state needs, and give the room back."""
    now = int(time.time())
    with store.database.transaction() as connection:
        connection.execute("DELETE FROM workspaces WHERE scanned<?", (now - STALE,))
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS marked (digest BLOB PRIMARY KEY)")
        connection.execute("DELETE FROM marked")
        for (data,) in connection.execute("SELECT data FROM folders"):
            connection.executemany(
                "INSERT OR IGNORE INTO marked VALUES (?)",
                ((digest,) for digest in Folder.from_bytes(data).contents()),
            )
        connection.execute(
            "DELETE FROM objects WHERE seen<=? AND digest NOT IN (SELECT digest FROM marked)"
            " AND digest NOT IN (SELECT digest FROM needs)",
            (now - grace,),
        )
        connection.execute("DELETE FROM marked")
        _repack(connection, now)
        store.objects.sweep_files(connection)
    with store.database.alone() as connection:
        connection.executescript("PRAGMA incremental_vacuum")  # a plain call frees one page only
    store.database.truncate_log()


def _repack(connection: sqlite3.Connection, now: int) -> None:
    """Rewrite packs of which less than half is needed."""
    sql = "SELECT pack, sum(size) FROM objects WHERE pack IS NOT NULL GROUP BY pack"
    alive = dict(connection.execute(sql).fetchall())
    for pack, length in connection.execute("SELECT id, length(content) FROM packs").fetchall():
        if alive.get(pack, 0) * 2 >= length:
            continue
        sql = "SELECT digest, substr(content, start + 1, size) FROM objects JOIN packs ON id=pack"
        rows = connection.execute(f"{sql} WHERE pack=? ORDER BY start", (pack,)).fetchall()
        insert_contents(connection, dict(rows), now)
        connection.execute("DELETE FROM packs WHERE id=?", (pack,))


@dataclass(frozen=True)
class Report:
    used: int
    checkpoints: int
    contents: int
    problems: list[str] = field(default_factory=list)


def verify(store: CheckpointStore) -> Report:
    """Read everything and check it; changes nothing."""
    problems = list(_problems(store))
    with store.database.reading() as connection:
        checkpoints = connection.execute("SELECT count(*) FROM checkpoints").fetchone()[0]
        contents = connection.execute("SELECT count(*) FROM objects").fetchone()[0]
    return Report(store.objects.used(), checkpoints, contents, problems)


def _problems(store: CheckpointStore) -> Iterator[str]:
    with store.database.reading() as connection:
        result = connection.execute("PRAGMA quick_check").fetchone()[0]
        if result != "ok":
            yield f"The index is damaged: {result}."
            return
        missing = connection.execute("PRAGMA foreign_key_check").fetchall()
        if missing:
            yield f"{len(missing)} file contents that checkpoints need are missing."
        rows = connection.execute("SELECT digest FROM objects ORDER BY pack, start").fetchall()
    damaged = sum(not _is_intact(store, digest) for (digest,) in rows)
    if damaged:
        yield f"{damaged} of {len(rows)} file contents are damaged and will not be restored."


def _is_intact(store: CheckpointStore, digest: bytes) -> bool:
    try:
        for _ in store.objects.chunks(digest):
            pass
    except (Damaged, OSError):
        return False
    return True
