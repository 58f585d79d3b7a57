"""Keeping the store small and sound: how large it is, drop the oldest, sweep, verify."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from .objects import FRESH, Damaged
from .snapshot import Folder
from .store import CheckpointStore
from .views import CheckpointUse

GRACE = 2 * FRESH
"""Seconds for which a content stays that nobody needs any more.

A checkpoint that is being taken, here or in another process, holds contents that only the
last known state has; when a newer state lets go of them, they are of use for so long still.
"""
STALE = 30 * 24 * 3600
"""Seconds after which the state of a workspace that nobody looks at is dropped."""


@dataclass(frozen=True)
class Report:
    """How the store is."""

    used: int
    checkpoints: int
    contents: int
    problems: list[str] = field(default_factory=list)


def use(store: CheckpointStore) -> CheckpointUse:
    """How much there is, and how far back it goes."""
    with store.database.reading() as connection:
        sql = "SELECT created FROM checkpoints ORDER BY position LIMIT 1"
        row = connection.execute(sql).fetchone()
    oldest = f"{datetime.fromtimestamp(row[0], UTC):%Y-%m-%dT%H:%M:%SZ}" if row else None
    return CheckpointUse(bytes=store.objects.used(), limit=store.limits.total, oldest=oldest)


def by_context(store: CheckpointStore) -> dict[str, int]:
    """Bytes of the contents that the checkpoints of each conversation need."""
    sql = (
        "SELECT context_id, sum(size) FROM (SELECT DISTINCT context_id, digest FROM checkpoints"
        " JOIN needs ON needs.checkpoint=checkpoints.position) JOIN objects USING (digest)"
        " GROUP BY context_id"
    )
    with store.database.reading() as connection:
        return dict(connection.execute(sql).fetchall())


def tidy(store: CheckpointStore, *, grace: int = GRACE) -> list[str]:
    """Drop the oldest checkpoints past the limit and sweep; gives the ids of those dropped."""
    dropped: list[str] = []
    sweep(store, grace=grace)
    while store.objects.used() > store.limits.total:
        oldest = _drop_oldest(store)
        if not oldest:
            break
        dropped += oldest
        # What the oldest held is let go at once: a full store must get room now.
        sweep(store, grace=min(grace, 3600))
    return dropped


def _drop_oldest(store: CheckpointStore) -> list[str]:
    """A tenth of all, but at least one."""
    with store.database.transaction() as connection:
        count = connection.execute("SELECT count(*) FROM checkpoints").fetchone()[0]
        sql = "SELECT id FROM checkpoints ORDER BY position LIMIT ?"
        ids = [row[0] for row in connection.execute(sql, (max(count // 10, 1),))]
        connection.executemany(
            "DELETE FROM checkpoints WHERE id=?", [(checkpoint_id,) for checkpoint_id in ids]
        )
    return ids


def sweep(store: CheckpointStore, *, grace: int = GRACE) -> None:
    """Remove contents that no checkpoint and no state needs, and give their room back."""
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
        _repack(connection)
        store.objects.sweep_files(connection)
    with store.database.alone() as connection:
        connection.executescript("PRAGMA incremental_vacuum")  # a plain call frees one page only
    store.database.settle()


def _repack(connection: sqlite3.Connection) -> None:
    """Packs of which less than half is needed are written anew, with only that."""
    sql = "SELECT pack, sum(size) FROM objects WHERE pack IS NOT NULL GROUP BY pack"
    alive = dict(connection.execute(sql).fetchall())
    for pack, length in connection.execute("SELECT id, length(content) FROM packs").fetchall():
        if alive.get(pack, 0) * 2 >= length:
            continue
        sql = "SELECT digest, size, start FROM objects WHERE pack=? ORDER BY start"
        rows = connection.execute(sql, (pack,)).fetchall()
        if rows:
            sql = "SELECT content FROM packs WHERE id=?"
            _rewrite(connection, connection.execute(sql, (pack,)).fetchone()[0], rows)
        connection.execute("DELETE FROM packs WHERE id=?", (pack,))


def _rewrite(
    connection: sqlite3.Connection, content: bytes, rows: list[tuple[bytes, int, int]]
) -> None:
    pieces, places, at = [], [], 0
    for digest, size, start in rows:
        pieces.append(content[start : start + size])
        places.append((at, digest))
        at += size
    sql = "INSERT INTO packs (content) VALUES (?)"
    pack = connection.execute(sql, (b"".join(pieces),)).lastrowid
    connection.executemany(
        "UPDATE objects SET pack=?, start=? WHERE digest=?",
        [(pack, place, digest) for place, digest in places],
    )


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
        digests = [
            row[0] for row in connection.execute("SELECT digest FROM objects ORDER BY pack, start")
        ]
    damaged = sum(not _is_whole(store, digest) for digest in digests)
    if damaged:
        yield f"{damaged} of {len(digests)} file contents are damaged and will not be restored."


def _is_whole(store: CheckpointStore, digest: bytes) -> bool:
    try:
        for _ in store.objects.chunks(digest):
            pass
    except (Damaged, OSError):
        return False
    return True
