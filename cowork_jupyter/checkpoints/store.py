"""The checkpoint database: what tools changed, and which of them are not finished yet.

Blocking functions, meant for worker threads. Threads may share a store, and processes may
share its folder.

A checkpoint is written before its tool runs, so that none is lost. Until it is finished, it
has a row in `unfinished`, in one of three phases. `paths`: the tool may change what it named,
whose state before is stored. `scan`: it may change anything; every scan of the workspace,
whoever makes it, adds what it finds different. `untold`: all is stored, only the record and
the event are missing. Each row names the process that owns it, by a lock that ends with the
process; then others finish it. The owner updates `alive` again and again: what was changed
after the last time may be somebody else's doing.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from ..domain.errors import NotFound, Unavailable
from ..domain.events import is_within, moved_path
from ..domain.identity import new_id
from ..store.database import Database, create_private
from ..store.recovery import ProcessLock
from ..store.schema import add_missing
from .entries import Change, Folder, Uncovered, changes_from_bytes, changes_to_bytes, merge_changes
from .objects import FRESH, Damaged, Objects, insert_contents

WAL_PAGES = 16_384
Phase = Literal["paths", "scan", "untold"]
NOBODY = ""
"""The owner of what its process could not finish, and anybody may."""

GRACE = 2 * FRESH
"""Seconds for which a content stays that nothing refers to any more.

A checkpoint that is being taken, here or in another process, refers to contents that only the
last known state holds; when a newer state drops them, they are needed for a while still.
"""
STALE = 30 * 24 * 3600
"""Seconds after which the state of an unused workspace is dropped."""

_TABLES = """
CREATE TABLE IF NOT EXISTS packs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content BLOB NOT NULL -- small contents, one behind the other
);
CREATE TABLE IF NOT EXISTS objects (
    digest BLOB NOT NULL PRIMARY KEY,
    size INTEGER NOT NULL,
    pack INTEGER, -- NULL: a file of its own
    start INTEGER NOT NULL,
    seen INTEGER NOT NULL -- when it was last of use, in seconds
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS objects_by_pack ON objects (pack) WHERE pack IS NULL;
CREATE TABLE IF NOT EXISTS workspaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    root BLOB NOT NULL,
    rules TEXT NOT NULL, -- what scans leave out: another list, another state
    scanned INTEGER NOT NULL,
    UNIQUE (root, rules)
);
CREATE TABLE IF NOT EXISTS folders (
    workspace INTEGER NOT NULL REFERENCES workspaces(id) ON DELETE CASCADE,
    path BLOB NOT NULL,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS folders_by_path ON folders (workspace, path);
CREATE TABLE IF NOT EXISTS checkpoints (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    context_id TEXT NOT NULL,
    job_id TEXT,
    task_id TEXT,
    root BLOB NOT NULL,
    changes BLOB NOT NULL,
    created INTEGER NOT NULL,
    doubted TEXT NOT NULL DEFAULT '[]' -- paths
);
CREATE INDEX IF NOT EXISTS checkpoints_by_context ON checkpoints (context_id);
CREATE TABLE IF NOT EXISTS needs (
    checkpoint INTEGER NOT NULL REFERENCES checkpoints(position) ON DELETE CASCADE,
    digest BLOB NOT NULL REFERENCES objects(digest),
    PRIMARY KEY (checkpoint, digest)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS needs_by_digest ON needs (digest);
CREATE TABLE IF NOT EXISTS unfinished (
    id TEXT NOT NULL PRIMARY KEY REFERENCES checkpoints(id) ON DELETE CASCADE,
    owner TEXT NOT NULL, -- whose process it is: when that is gone, others finish it
    alive INTEGER NOT NULL, -- when that process last said so, in nanoseconds
    phase TEXT NOT NULL,
    workspace INTEGER, -- in the phase 'scan': whose state tells what changes
    facts TEXT NOT NULL -- what will be said about it
) WITHOUT ROWID
"""
VERSION = 2
"""Raise it with every change of the tables: an older file gets the tables and columns that it
lacks."""


@dataclass(frozen=True)
class CheckpointLimits:
    """In bytes."""

    file: int = 2 * 1024**3
    total: int = 20 * 1024**3
    reserve: int = 512 * 1024**2
    """What the disk keeps free for others."""


class CheckpointDatabase(Database):
    def __init__(self, path: Path) -> None:
        create_private(path)  # here an `OSError`, not one of the errors about the record
        super().__init__(path)
        try:
            # A first scan writes much: every few megabytes would be too often to wait for.
            self._connection.execute(f"PRAGMA wal_autocheckpoint={WAL_PAGES}")
            with self.transaction() as connection:
                _bring_up_to_date(connection, path)
        except BaseException:
            self.close()
            raise

    def truncate_log(self) -> None:
        """Move the write-ahead log into the file, so that it does not take the space twice."""
        with self.alone() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise Unavailable(
            f"The checkpoints at {path} were written by a newer cowork_jupyter. "
            "Upgrade with `pip install -U cowork-jupyter`.",
            code="store_newer",
            retryable=False,
        )
    if version < VERSION:
        add_missing(connection, _TABLES.split(";"))
        connection.execute(f"PRAGMA user_version={VERSION}")


@dataclass(frozen=True)
class Checkpoint:
    """What a tool or a rollback changed, and what that belongs to."""

    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    changes: Sequence[Change] = ()
    doubted: Collection[str] = ()
    """Paths that others may have changed, because the tool was interrupted."""
    id: str = field(default_factory=lambda: new_id("cp"))
    position: int = 0
    """In the history of all conversations; 0 before it is stored."""

    # The record keeps the rest. The checkpoint store has it only until then.
    step_id: str | None = None
    tool: str | None = None
    label: str = ""
    uncovered: Sequence[Uncovered] = ()
    reverts: Sequence[str] = ()
    """The jobs whose work a rollback has reverted."""
    is_undo: bool = False
    """Whether this reverts a rollback."""


@dataclass(frozen=True)
class UnfinishedCheckpoint:
    """What a dead process left."""

    checkpoint: Checkpoint
    """In the phase `paths`, before and after of its changes are the same."""
    alive: int
    phase: Phase
    workspace: int | None


class CheckpointStore:
    def __init__(self, folder: Path, limits: CheckpointLimits | None = None) -> None:
        self.folder = folder
        self.limits = limits or CheckpointLimits()
        self.database = CheckpointDatabase(folder / "checkpoints.sqlite")
        self.objects = Objects(folder, self.database)

    @cached_property
    def _owner(self) -> ProcessLock:
        """Created when first needed: readers leave no lock file."""
        return ProcessLock(self.database.path)

    def close(self) -> None:
        """What is unfinished now is left to others."""
        if "_owner" in self.__dict__:
            self._owner.close()
        self.database.close()

    def record(
        self,
        checkpoint: Checkpoint,
        root: Path,
        phase: Phase | None = None,
        workspace: int | None = None,
    ) -> None:
        """Store a checkpoint, or update it; its contents must be stored already.

        Without a phase it is finished. In the phase `untold` it moves to the end of the history.
        """
        values = (
            checkpoint.id,
            checkpoint.context_id,
            checkpoint.job_id,
            checkpoint.task_id,
            os.fsencode(root),
            changes_to_bytes(checkpoint.changes),
            int(time.time()),
            json.dumps(sorted(checkpoint.doubted)),
        )
        with self.database.transaction() as connection:
            if phase == "untold":
                connection.execute("DELETE FROM checkpoints WHERE id=?", (checkpoint.id,))
            position = connection.execute(
                "INSERT INTO checkpoints (id, context_id, job_id, task_id, root, changes, created,"
                " doubted) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET"
                " changes=excluded.changes RETURNING position",
                values,
            ).fetchone()[0]
            _hold_contents(connection, position, checkpoint.changes)
            if phase:
                mark = (checkpoint.id, self._owner.name, time.time_ns(), phase, workspace)
                sql = "INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?, ?, ?, ?)"
                facts = {name: getattr(checkpoint, name) for name in _FACTS}
                connection.execute(sql, (*mark, json.dumps(facts)))

    def add_changes(
        self, connection: sqlite3.Connection, checkpoint_id: str, added: Iterable[Change]
    ) -> None:
        """Add what a scan found different to an unfinished checkpoint."""
        unfinished = self.checkpoint(checkpoint_id)
        changes = merge_changes((*unfinished.changes, *added))
        values = (changes_to_bytes(changes), unfinished.position)
        connection.execute("UPDATE checkpoints SET changes=? WHERE position=?", values)
        _hold_contents(connection, unfinished.position, changes)

    def move_file(self, root: Path, old: str, new: str) -> None:
        """A file or folder was renamed: its changes are those of the new path."""
        with self.database.transaction() as connection:
            for checkpoint in self._select("root=?", os.fsencode(root)):
                if any(is_within(change.path, old) for change in checkpoint.changes):
                    changes = [
                        replace(change, path=moved_path(change.path, old, new))
                        for change in checkpoint.changes
                    ]
                    doubted = sorted(moved_path(path, old, new) for path in checkpoint.doubted)
                    connection.execute(
                        "UPDATE checkpoints SET changes=?, doubted=? WHERE position=?",
                        (changes_to_bytes(changes), json.dumps(doubted), checkpoint.position),
                    )

    def checkpoint(self, checkpoint_id: str) -> Checkpoint:
        """Finished or not."""
        for checkpoint in self._select("id=?", checkpoint_id):
            return checkpoint
        raise NotFound(
            f"The content of checkpoint '{checkpoint_id}' is no longer kept.",
            details={"id": checkpoint_id},
        )

    def checkpoints(self, root: Path) -> list[Checkpoint]:
        """All finished checkpoints of a workspace, oldest first."""
        finished = "id NOT IN (SELECT id FROM unfinished WHERE phase<>'untold')"
        return self._select(f"root=? AND {finished}", os.fsencode(root))

    def _select(self, where: str, *values: object) -> list[Checkpoint]:
        sql = f"SELECT {_COLUMNS} FROM checkpoints WHERE {where} ORDER BY position"  # noqa: S608
        with self.database.reading() as connection:
            return [_checkpoint(row) for row in connection.execute(sql, values)]

    def has_job(self, job_id: str) -> bool:
        """Whether the job has a checkpoint."""
        with self.database.reading() as connection:
            sql = "SELECT 1 FROM checkpoints WHERE job_id=?"
            return connection.execute(sql, (job_id,)).fetchone() is not None

    def drop(self, checkpoint_id: str) -> None:
        self._execute("DELETE FROM checkpoints WHERE id=?", checkpoint_id)

    def forget_context(self, context_id: str) -> None:
        """Drop the checkpoints of a conversation; a sweep removes their contents."""
        self._execute("DELETE FROM checkpoints WHERE context_id=?", context_id)

    def say_alive(self, checkpoint_id: str) -> None:
        self._execute("UPDATE unfinished SET alive=? WHERE id=?", time.time_ns(), checkpoint_id)

    def mark_finished(self, checkpoint_id: str) -> None:
        self._execute("DELETE FROM unfinished WHERE id=?", checkpoint_id)

    def release(self, checkpoint_id: str) -> None:
        """We could not finish it: whoever can may do it later."""
        self._execute("UPDATE unfinished SET owner=? WHERE id=?", NOBODY, checkpoint_id)

    def _execute(self, sql: str, *values: object) -> None:
        with self.database.transaction() as connection:
            connection.execute(sql, values)

    def waiting_for_scan(self, workspace: int) -> list[str]:
        """The unfinished checkpoints to which scans of a workspace add what they find."""
        with self.database.reading() as connection:
            sql = "SELECT id FROM unfinished WHERE phase='scan' AND workspace=?"
            return [row[0] for row in connection.execute(sql, (workspace,))]

    def claim_unfinished(self, root: Path) -> list[UnfinishedCheckpoint]:
        """Take over what dead processes left in a workspace, oldest first."""
        with self.database.reading() as connection:
            if not self._dead_owners(connection):
                return []  # as nearly always
        sql = (
            f"SELECT {_COLUMNS}, alive, phase, workspace, facts"  # noqa: S608
            " FROM unfinished JOIN checkpoints USING (id) WHERE root=? AND owner=?"
            " ORDER BY position"
        )
        with self.database.transaction() as connection:
            # Asked again, because others may have claimed something just now.
            rows = [
                row
                for owner in self._dead_owners(connection)
                for row in connection.execute(sql, (os.fsencode(root), owner))
            ]
            connection.executemany(
                "UPDATE unfinished SET owner=? WHERE id=?",
                [(self._owner.name, row["id"]) for row in rows],
            )
        self._owner.sweep()
        return [_unfinished(row) for row in rows]

    def _dead_owners(self, connection: sqlite3.Connection) -> list[str]:
        # We know that we live ourselves, also where files cannot be locked.
        owners = [row[0] for row in connection.execute("SELECT DISTINCT owner FROM unfinished")]
        return [
            owner
            for owner in owners
            if owner != self._owner.name and not self._owner.is_alive(owner)
        ]


_COLUMNS = "position, id, context_id, job_id, task_id, changes, doubted"
_FACTS = ("step_id", "tool", "label", "uncovered", "reverts", "is_undo")


def _checkpoint(row: sqlite3.Row) -> Checkpoint:
    position, checkpoint_id, context_id, job_id, task_id, changes, doubted = row[:7]
    return Checkpoint(
        context_id,
        job_id,
        task_id,
        changes=changes_from_bytes(changes),
        doubted=json.loads(doubted),
        id=checkpoint_id,
        position=position,
    )


def _unfinished(row: sqlite3.Row) -> UnfinishedCheckpoint:
    facts = json.loads(row["facts"])
    facts["uncovered"] = [Uncovered(*path_and_why) for path_and_why in facts["uncovered"]]
    checkpoint = replace(_checkpoint(row), **facts)
    return UnfinishedCheckpoint(checkpoint, row["alive"], row["phase"], row["workspace"])


def _hold_contents(
    connection: sqlite3.Connection, position: int, changes: Iterable[Change]
) -> None:
    """Protect the contents of a checkpoint from sweeps."""
    needed = {
        entry.digest
        for change in changes
        for entry in (change.before, change.after)
        if entry and entry.digest
    }
    try:
        connection.execute("DELETE FROM needs WHERE checkpoint=?", (position,))
        connection.executemany(
            "INSERT INTO needs VALUES (?, ?)", [(position, digest) for digest in needed]
        )
    except sqlite3.IntegrityError as error:
        raise Damaged("A file content of this checkpoint is missing from the store.") from error


# --- keeping it small, and checking it


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
class VerificationReport:
    used: int
    checkpoints: int
    contents: int
    problems: list[str] = field(default_factory=list)


def verify(store: CheckpointStore) -> VerificationReport:
    """Read everything and check it; changes nothing."""
    problems = list(_problems(store))
    with store.database.reading() as connection:
        checkpoints = connection.execute("SELECT count(*) FROM checkpoints").fetchone()[0]
        contents = connection.execute("SELECT count(*) FROM objects").fetchone()[0]
    return VerificationReport(store.objects.used(), checkpoints, contents, problems)


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
