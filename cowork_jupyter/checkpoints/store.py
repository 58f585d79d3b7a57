"""The checkpoint store: contents, the last known state of each workspace, what tools changed.

Plain functions that block, meant for worker threads. Threads may share a store, and
processes may share its folder.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..domain.errors import NotFound
from ..domain.events import is_at, moved_path
from .capture import Capture
from .database import CheckpointDatabase
from .entries import Change, FileEntry, changes_from_bytes, changes_to_bytes
from .exclude import Exclusions
from .looker import Looker
from .no_follow_fs import NoFollowFs
from .objects import Damaged, Objects
from .scan import CheckpointLimits, Scan
from .snapshot import Folder, Snapshot
from .unfinished import Unfinished, UnfinishedNote, merged

SETTLE = 4 * 1024**2
"""A write-ahead log larger than this is brought into the file at the end of a scan."""


@dataclass(frozen=True)
class Stored:
    """One checkpoint, as the store knows it."""

    position: int
    id: str
    context_id: str
    job_id: str | None
    task_id: str | None
    changes: list[Change]
    doubted: frozenset[str] = frozenset()
    """Paths that others may have changed, because the tool was cut off."""


class CheckpointStore:
    """One folder with all checkpoints."""

    def __init__(self, folder: Path, limits: CheckpointLimits | None = None) -> None:
        self.folder = folder
        self.limits = limits or CheckpointLimits()
        path = folder / "checkpoints.sqlite"
        self.database = CheckpointDatabase(path)
        self.objects = Objects(folder, self.database)
        self.unfinished = Unfinished(self.database, path)

    def close(self) -> None:
        """Let go of the files."""
        self.unfinished.close()
        self.database.close()

    def record(
        self,
        checkpoint_id: str,
        context_id: str,
        root: Path,
        changes: Sequence[Change],
        job_id: str | None = None,
        task_id: str | None = None,
        *,
        doubted: Iterable[str] = (),
        note: UnfinishedNote | None = None,
    ) -> None:
        """Store what a tool changed, or change that; the contents must be kept already.

        One that is only to be told any more gets a new place: after all that were stored before.
        """
        values = (
            *(checkpoint_id, context_id, job_id, task_id, os.fsencode(root)),
            *(changes_to_bytes(changes), int(time.time()), json.dumps(sorted(doubted))),
        )
        with self.database.transaction() as connection:
            if note and note.phase == "untold":
                connection.execute("DELETE FROM checkpoints WHERE id=?", (checkpoint_id,))
            position = connection.execute(
                "INSERT INTO checkpoints (id, context_id, job_id, task_id, root, changes, created,"
                " doubted) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET"
                " changes=excluded.changes RETURNING position",
                values,
            ).fetchone()[0]
            _hold(connection, position, changes)
            if note:
                self.unfinished.note(connection, checkpoint_id, note)

    def add(
        self, connection: sqlite3.Connection, checkpoint_id: str, found: Iterable[Change]
    ) -> None:
        """What a scan found different, added to what an open checkpoint knows so far."""
        known = self.checkpoint(checkpoint_id)
        changes = merged((*known.changes, *found))
        values = (changes_to_bytes(changes), known.position)
        connection.execute("UPDATE checkpoints SET changes=? WHERE position=?", values)
        _hold(connection, known.position, changes)

    def move_file(self, root: Path, old: str, new: str) -> None:
        """A file, or a folder, has another path: its changes are those of that path."""
        with self.database.transaction() as connection:
            for checkpoint in self._select("root=?", os.fsencode(root)):
                if any(is_at(change.path, old) for change in checkpoint.changes):
                    changes = [
                        replace(change, path=moved_path(change.path, old, new))
                        for change in checkpoint.changes
                    ]
                    doubted = sorted(moved_path(path, old, new) for path in checkpoint.doubted)
                    connection.execute(
                        "UPDATE checkpoints SET changes=?, doubted=? WHERE position=?",
                        (changes_to_bytes(changes), json.dumps(doubted), checkpoint.position),
                    )

    def drop(self, checkpoint_id: str) -> None:
        """Forget a checkpoint, if there is one of this name."""
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM checkpoints WHERE id=?", (checkpoint_id,))

    def checkpoint(self, checkpoint_id: str) -> Stored:
        """One checkpoint, finished or not."""
        for found in self._select("id=?", checkpoint_id):
            return found
        raise NotFound(
            f"The content of checkpoint '{checkpoint_id}' is no longer kept.",
            details={"id": checkpoint_id},
        )

    def checkpoints(self, root: Path, since: int = 0) -> list[Stored]:
        """All finished checkpoints of a workspace from a position on, oldest first."""
        finished = "id NOT IN (SELECT id FROM unfinished WHERE phase<>'untold')"
        return self._select(f"root=? AND position>=? AND {finished}", os.fsencode(root), since)

    def has_job(self, job_id: str) -> bool:
        """Whether there is a checkpoint of this job."""
        with self.database.reading() as connection:
            sql = "SELECT 1 FROM checkpoints WHERE job_id=?"
            return connection.execute(sql, (job_id,)).fetchone() is not None

    def _select(self, where: str, *values: object) -> list[Stored]:
        columns = "position, id, context_id, job_id, task_id, changes, doubted"
        sql = f"SELECT {columns} FROM checkpoints WHERE {where} ORDER BY position"  # noqa: S608
        with self.database.reading() as connection:
            rows = connection.execute(sql, values).fetchall()
        return [_stored(*row) for row in rows]

    def forget_context(self, context_id: str) -> None:
        """Drop the checkpoints of a conversation; contents go when nobody needs them."""
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM checkpoints WHERE context_id=?", (context_id,))


def _hold(connection: sqlite3.Connection, position: int, changes: Iterable[Change]) -> None:
    """See to it that the contents of a checkpoint stay."""
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


def _stored(
    position: int,
    checkpoint_id: str,
    context_id: str,
    job_id: str | None,
    task_id: str | None,
    changes: bytes,
    doubted: str,
) -> Stored:
    place = (position, checkpoint_id, context_id, job_id, task_id)
    return Stored(*place, changes_from_bytes(changes), frozenset(json.loads(doubted)))


class WorkspaceState:
    """One workspace in the store: what it looked like when it was last looked at."""

    def __init__(self, store: CheckpointStore, root: Path, exclusions: Exclusions) -> None:
        self.store = store
        self.fs = NoFollowFs(root)
        self._exclusions = exclusions
        self._lock = threading.Lock()
        self._last: Snapshot | None = None
        self._id = 0
        self._capture = Capture(self.fs, store.objects, store.limits)
        self._looker = Looker(str(self.fs.root))

    @property
    def root(self) -> Path:
        return self.fs.root

    @property
    def number(self) -> int:
        """By which the store knows its state; 0 before that was first asked for."""
        return self._id

    def close(self) -> None:
        """Let go of the store, and of whoever helps to look. A scan that still runs fails."""
        self.store.close()
        with self._lock:
            self._looker.close()

    def scan(self, *, afresh: bool = False) -> Snapshot:
        """Look at the whole workspace, keep what is new, and remember the state.

        `afresh` begins with the state that is stored, which another process may have changed.
        """
        with self._lock:
            before = self._load() if afresh or self._last is None else self._last
            scan = Scan(
                *(self.fs, self.store.objects, self._exclusions, self.store.limits, before),
                looker=self._looker,
            )
            after = scan.run()
            self._save(before, after)
            self._last = after
            return after

    def capture(self, paths: Iterable[str]) -> dict[str, FileEntry | None]:
        """Keep what is at these paths."""
        return self._capture.entries(paths, self._last)

    def keep(self, content: bytes, like: FileEntry | None) -> FileEntry:
        """Keep what a file would hold if the document open in a browser were saved now."""
        with self.store.objects.batch() as batch:
            digest = batch.add(content)
        mode, attributes = (like.mode, like.attributes) if like else (0o644, ())
        return FileEntry("file", mode, len(content), 0, digest, attributes=attributes)

    def _load(self) -> Snapshot:
        root, rules = os.fsencode(self.root), self._exclusions.rules
        with self.store.database.transaction() as connection:
            connection.execute(
                "INSERT INTO workspaces (root, rules, scanned) VALUES (?, ?, ?)"
                " ON CONFLICT(root, rules) DO UPDATE SET scanned=excluded.scanned",
                (root, rules, int(time.time())),
            )
            sql = "SELECT id FROM workspaces WHERE root=? AND rules=?"
            self._id = connection.execute(sql, (root, rules)).fetchone()[0]
            sql = "SELECT path, data FROM folders WHERE workspace=?"
            rows = connection.execute(sql, (self._id,)).fetchall()
        return Snapshot({os.fsdecode(path): Folder.from_bytes(data) for path, data in rows})

    def _save(self, before: Snapshot, after: Snapshot) -> None:
        """Store what is different; contents that the state no longer has are of use till now."""
        gone = before.folders.keys() - after.folders.keys()
        new = {
            path: folder
            for path, folder in after.folders.items()
            if before.folders.get(path) is not folder
        }
        if not gone and not new:
            return
        replaced = [before.folders[path] for path in (*gone, *new) if path in before.folders]
        remaining = {d for folder in replaced for d in folder.contents()}
        remaining -= {d for folder in new.values() for d in folder.contents()}
        now = int(time.time())
        with self.store.database.transaction() as connection:
            self._tell_unfinished(connection, new, gone)
            connection.executemany(
                "UPDATE objects SET seen=? WHERE digest=?", [(now, digest) for digest in remaining]
            )
            connection.executemany(
                "DELETE FROM folders WHERE workspace=? AND path=?",
                [(self._id, os.fsencode(path)) for path in gone],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO folders (workspace, path, data) VALUES (?, ?, ?)",
                ((self._id, os.fsencode(path), folder.to_bytes()) for path, folder in new.items()),
            )
            connection.execute("UPDATE workspaces SET scanned=? WHERE id=?", (now, self._id))
        if sum(len(folder.digests) for folder in new.values()) * 4 > SETTLE:
            self.store.database.settle()

    def _tell_unfinished(
        self, connection: sqlite3.Connection, new: dict[str, Folder], gone: Iterable[str]
    ) -> None:
        """What differs from the stored state is what tools that run, or were cut off, changed."""
        waiting = self.store.unfinished.scanning(self._id)
        if not waiting:
            return
        stored = Snapshot(self._stored((*new, *gone)))
        found = stored.changes_until(Snapshot(new))
        for checkpoint_id in waiting:
            self.store.add(connection, checkpoint_id, found)

    def _stored(self, paths: Iterable[str]) -> dict[str, Folder]:
        found = {}
        sql = "SELECT data FROM folders WHERE workspace=? AND path=?"
        with self.store.database.reading() as connection:
            for path in paths:
                row = connection.execute(sql, (self._id, os.fsencode(path))).fetchone()
                if row:
                    found[path] = Folder.from_bytes(row[0])
        return found
