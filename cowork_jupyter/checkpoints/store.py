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
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from ..domain.errors import NotFound, Unavailable
from ..domain.events import is_within, moved_path
from ..domain.identity import new_id
from ..store.connection import Database, create_private
from ..store.recovery import ProcessLock
from .entries import Change, Uncovered, changes_from_bytes, changes_to_bytes, merge_changes
from .objects import Damaged, Objects
from .scan import CheckpointLimits

WAL_PAGES = 16_384
Phase = Literal["paths", "scan", "untold"]
NOBODY = ""
"""The owner of what its process could not finish, and anybody may."""

_TABLES = """
CREATE TABLE packs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content BLOB NOT NULL -- small contents, one behind the other
);
CREATE TABLE objects (
    digest BLOB NOT NULL PRIMARY KEY,
    size INTEGER NOT NULL,
    pack INTEGER, -- NULL: a file of its own
    start INTEGER NOT NULL,
    seen INTEGER NOT NULL -- when it was last of use, in seconds
) WITHOUT ROWID;
CREATE INDEX objects_by_pack ON objects (pack) WHERE pack IS NULL;
CREATE TABLE workspaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    root BLOB NOT NULL,
    rules TEXT NOT NULL, -- what scans leave out: another list, another state
    scanned INTEGER NOT NULL,
    UNIQUE (root, rules)
);
CREATE TABLE folders (
    workspace INTEGER NOT NULL REFERENCES workspaces(id) ON DELETE CASCADE,
    path BLOB NOT NULL,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX folders_by_path ON folders (workspace, path);
CREATE TABLE checkpoints (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    context_id TEXT NOT NULL,
    job_id TEXT,
    task_id TEXT,
    root BLOB NOT NULL,
    changes BLOB NOT NULL,
    created INTEGER NOT NULL
);
CREATE INDEX checkpoints_by_context ON checkpoints (context_id);
CREATE TABLE needs (
    checkpoint INTEGER NOT NULL REFERENCES checkpoints(position) ON DELETE CASCADE,
    digest BLOB NOT NULL REFERENCES objects(digest),
    PRIMARY KEY (checkpoint, digest)
) WITHOUT ROWID;
CREATE INDEX needs_by_digest ON needs (digest);
"""
_UNFINISHED = """
ALTER TABLE checkpoints ADD COLUMN doubted TEXT NOT NULL DEFAULT '[]'; -- paths
CREATE TABLE unfinished (
    id TEXT NOT NULL PRIMARY KEY REFERENCES checkpoints(id) ON DELETE CASCADE,
    owner TEXT NOT NULL, -- whose process it is: when that is gone, others finish it
    alive INTEGER NOT NULL, -- when that process last said so, in nanoseconds
    phase TEXT NOT NULL,
    workspace INTEGER, -- in the phase 'scan': whose state tells what changes
    facts TEXT NOT NULL -- what will be said about it
) WITHOUT ROWID;
"""
_MIGRATIONS = (_TABLES, _UNFINISHED)
VERSION = len(_MIGRATIONS)


class CheckpointDatabase(Database):
    def __init__(self, path: Path) -> None:
        create_private(path)  # here an `OSError`, not one of the errors about the record
        super().__init__(path)
        try:
            # A first scan writes much: every few megabytes would be too often to wait for.
            self._connection.execute(f"PRAGMA wal_autocheckpoint={WAL_PAGES}")
            with self.transaction() as connection:
                _migrate(connection, path)
        except BaseException:
            self.close()
            raise

    def truncate_log(self) -> None:
        """Move the write-ahead log into the file, so that it does not take the space twice."""
        with self.alone() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise Unavailable(
            f"The checkpoints at {path} were written by a newer cowork_jupyter. "
            "Upgrade with `pip install -U cowork-jupyter`.",
            code="store_newer",
            retryable=False,
        )
    for migration in _MIGRATIONS[version:]:
        for statement in migration.split(";"):
            connection.execute(statement)
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
            *(checkpoint.id, checkpoint.context_id, checkpoint.job_id, checkpoint.task_id),
            *(os.fsencode(root), changes_to_bytes(checkpoint.changes), int(time.time())),
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
        self, connection: sqlite3.Connection, checkpoint_id: str, found: Iterable[Change]
    ) -> None:
        """Add what a scan found different to an unfinished checkpoint."""
        known = self.checkpoint(checkpoint_id)
        changes = merge_changes((*known.changes, *found))
        values = (changes_to_bytes(changes), known.position)
        connection.execute("UPDATE checkpoints SET changes=? WHERE position=?", values)
        _hold_contents(connection, known.position, changes)

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
        for found in self._select("id=?", checkpoint_id):
            return found
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
        *(context_id, job_id, task_id, changes_from_bytes(changes), json.loads(doubted)),
        *(checkpoint_id, position),
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
