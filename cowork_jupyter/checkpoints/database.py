"""The index of the store: one SQLite file, which is what makes every change atomic."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ..domain.errors import Unavailable
from ..store.connection import BUSY_SECONDS, Database, create_private

LOG_PAGES = 16_384

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
_VERSIONS = (_TABLES, _UNFINISHED)
VERSION = len(_VERSIONS)


class CheckpointDatabase(Database):
    """The index, made when it is first opened."""

    def __init__(self, path: Path) -> None:
        _prepare(path)
        super().__init__(path)
        try:
            # A first scan writes much: every few megabytes would be too often to wait for.
            self._connection.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")
            with self.transaction() as connection:
                _create_tables(connection, path)
        except BaseException:
            self.close()
            raise

    def settle(self) -> None:
        """Bring what is in the write-ahead log into the file, so that it takes no room twice."""
        with self.alone() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _prepare(path: Path) -> None:
    """Make the file, if there is none. Only one that is empty can learn to give room back."""
    create_private(path)
    if path.stat().st_size:
        return
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("BEGIN IMMEDIATE")
        _create_tables(connection, path)
        connection.execute("COMMIT")


def _create_tables(connection: sqlite3.Connection, path: Path) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise Unavailable(
            f"The checkpoints at {path} were written by a newer cowork_jupyter. "
            "Upgrade with `pip install -U cowork-jupyter`.",
            code="store_newer",
            retryable=False,
        )
    for missing in _VERSIONS[version:]:
        for statement in missing.split(";"):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version={VERSION}")
