"""One workspace in the checkpoint store: its last known state, scans and single files."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .entries import FileEntry, Folder, Snapshot, stat_row
from .no_follow_fs import NoFollowFs, attributes_of
from .objects import LARGE
from .scan import NO_ROOM, Exclusions, FileReader, Scan, inside_git
from .store import CheckpointStore
from .trees import KeptTrees, identify

MANY_FILES = 32_768
"""Beyond so many in changed folders, a scan truncates the write-ahead log that it has filled."""
_MAX_REMEMBERED = 10_000


class WorkspaceState:
    def __init__(self, store: CheckpointStore, root: Path, exclusions: Exclusions) -> None:
        self.store = store
        self.limits = store.limits
        self.fs = NoFollowFs(root)
        self.trees = KeptTrees(store.folder / "trees")
        self.id = 0
        """Of the stored state; 0 before the first scan."""
        self._exclusions = exclusions
        self._lock = threading.Lock()
        self._last: Snapshot | None = None
        self._read_files: dict[tuple[str, bytes], FileEntry] = {}
        """What `capture` has read, by path and `stat_row`."""
        self._scanned = 0
        """When the last known state was taken, in seconds."""

    @property
    def root(self) -> Path:
        return self.fs.root

    def close(self) -> None:
        """A scan that still runs fails; wait until it has."""
        self.store.close()
        with self._lock:
            pass

    def scan(self, *, reload: bool = False) -> Snapshot:
        """Scan the whole workspace, store what is new, and remember the state.

        `reload` starts from the stored state, which another process may have changed.
        """
        with self._lock:
            before = self._load() if reload or self._last is None else self._last
            store, began = self.store, int(time.time())
            after = Scan(self.fs, store.objects, self._exclusions, store.limits, before).run()
            self._save(before, after)
            self._last, self._scanned = after, began
            return after

    def _load(self) -> Snapshot:
        root, rules = os.fsencode(self.root), self._exclusions.rules
        with self.store.database.transaction() as connection:
            sql = "SELECT scanned FROM workspaces WHERE root=? AND rules=?"
            row = connection.execute(sql, (root, rules)).fetchone()
            self._scanned = row[0] if row else 0
            sql = (
                "INSERT INTO workspaces (root, rules, scanned) VALUES (?, ?, ?)"
                " ON CONFLICT(root, rules) DO UPDATE SET scanned=excluded.scanned RETURNING id"
            )
            self.id = connection.execute(sql, (root, rules, int(time.time()))).fetchone()[0]
            sql = "SELECT path, data FROM folders WHERE workspace=?"
            rows = connection.execute(sql, (self.id,)).fetchall()
        return Snapshot({os.fsdecode(path): Folder.from_bytes(data) for path, data in rows})

    def _save(self, before: Snapshot, after: Snapshot) -> None:
        """Store what is different. Contents that the state no longer has were of use until now."""
        gone = before.folders.keys() - after.folders.keys()
        new = {
            path: folder
            for path, folder in after.folders.items()
            if before.folders.get(path) is not folder
        }
        if not gone and not new:
            return
        replaced = [before.folders[path] for path in (*gone, *new) if path in before.folders]
        dropped = {digest for folder in replaced for digest in folder.contents()}
        dropped -= {digest for folder in new.values() for digest in folder.contents()}
        now = int(time.time())
        with self.store.database.transaction() as connection:
            self._update_unfinished(connection, new, gone)
            connection.executemany(
                "UPDATE objects SET seen=? WHERE digest=?", [(now, digest) for digest in dropped]
            )
            connection.executemany(
                "DELETE FROM folders WHERE workspace=? AND path=?",
                [(self.id, os.fsencode(path)) for path in gone],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO folders (workspace, path, data) VALUES (?, ?, ?)",
                ((self.id, os.fsencode(path), folder.to_bytes()) for path, folder in new.items()),
            )
            connection.execute("UPDATE workspaces SET scanned=? WHERE id=?", (now, self.id))
        if sum(len(folder.files) for folder in new.values()) > MANY_FILES:
            self.store.database.truncate_log()

    def _update_unfinished(
        self, connection: sqlite3.Connection, new: dict[str, Folder], gone: Iterable[str]
    ) -> None:
        """What differs from the stored state was changed by tools that run or were interrupted."""
        waiting = self.store.waiting_for_scan(self.id)
        if not waiting:
            return
        stored = {}
        sql = "SELECT data FROM folders WHERE workspace=? AND path=?"
        for path in (*new, *gone):
            row = connection.execute(sql, (self.id, os.fsencode(path))).fetchone()
            if row:
                stored[path] = Folder.from_bytes(row[0])
        found = Snapshot(stored).changes_until(Snapshot(new))
        found = [change for change in found if not self._is_moved_tree(change.after)]
        for checkpoint_id in waiting:
            self.store.add_changes(connection, checkpoint_id, found)

    def _is_moved_tree(self, entry: FileEntry | None) -> bool:
        """Whether it was there already, under another name: then no tool made it."""
        return entry is not None and 0 < entry.identity[1] < self._scanned * 1_000_000_000

    # --- single files

    def store_content(self, content: bytes, like: FileEntry | None) -> FileEntry:
        """Store what a file would hold if the document open in a browser were saved now."""
        with self.store.objects.batch() as batch:
            digest = batch.add(content)
        mode, attributes = (like.mode, like.attributes) if like else (0o644, ())
        return FileEntry("file", mode, len(content), 0, digest, attributes=attributes)

    def capture(self, paths: Iterable[str]) -> dict[str, FileEntry | None]:
        """Store what is at these paths and at the folders above them; None where nothing is.

        Files that the last scan or an earlier call has read are not read again.
        """
        wanted = {path for path in paths if not inside_git(path)}
        with self.store.objects.batch() as batch:
            reader = FileReader(self.store.objects, batch)
            return {path: self._capture(path, reader) for path in sorted(wanted | _parents(wanted))}

    def is_there(self, path: str, tree: FileEntry) -> bool:
        try:
            with self.fs.parent(path) as (folder, name):
                return identify(folder, name) == tree.identity
        except OSError:
            return False

    def _capture(self, path: str, reader: FileReader) -> FileEntry | None:
        facts = self.fs.stat(path)
        if facts is None:
            return None
        if stat.S_ISDIR(facts.st_mode):
            return FileEntry("folder", stat.S_IMODE(facts.st_mode))
        if stat.S_ISLNK(facts.st_mode):
            return FileEntry("link", 0o777, target=self.fs.read_link(path))
        entry = _file_entry(facts)
        if not stat.S_ISREG(facts.st_mode):
            return replace(entry, why_not_kept="a pipe, socket or device")
        known = self._known(path, stat_row(facts))
        if known and known.digest and self.store.objects.touch(known.digest):
            return known
        try:
            return self._read(path, reader)
        except OSError as error:
            return replace(entry, why_not_kept=f"cannot be kept: {error.strerror}")

    def _known(self, path: str, row: bytes) -> FileEntry | None:
        folder_path, _, name = path.rpartition("/")
        folder = self._last.folders.get(folder_path) if self._last else None
        return self._read_files.get((path, row)) or (folder.known(name, row) if folder else None)

    def _read(self, path: str, reader: FileReader) -> FileEntry:
        objects = self.store.objects
        with self.fs.opened(path) as file:
            facts = os.fstat(file)
            size, entry = facts.st_size, replace(_file_entry(facts), attributes=attributes_of(file))
            if size >= LARGE and size > min(self.limits.total - objects.used(), objects.free()):
                return replace(entry, why_not_kept=NO_ROOM)
            row, digest, size = reader.store(file, facts)
        entry = replace(entry, size=size, digest=digest)
        if len(self._read_files) >= _MAX_REMEMBERED:
            self._read_files.clear()
        self._read_files[path, row] = entry
        return entry


def _file_entry(facts: os.stat_result) -> FileEntry:
    return FileEntry("file", stat.S_IMODE(facts.st_mode), facts.st_size, facts.st_mtime_ns)


def _parents(paths: Iterable[str]) -> set[str]:
    """All folders above these paths; each way up ends where another one has been."""
    found = set[str]()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found
