"""The workspace as the checkpoint store knows it: scans of all of it, and single files.

A scan stores the content of each file that changed. A file with the stat values of the last
snapshot is not read again; a folder with the same times is not even listed. Times so recent that
another change could hide in them are not trusted (git calls such files racy).
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..domain.settings import CHECKPOINT_EXCLUDE
from ..store.database import mount_points, read_mounts
from ..workspace import Glob
from ..workspace.no_follow import LEFTOVER, OPEN_FILE, hold, open_below
from .entries import (
    NO_CONTENT,
    FileEntry,
    Folder,
    Snapshot,
    folder_key,
    join_path,
    stat_row,
    untrusted_row,
)
from .no_follow_fs import KeptTrees, NoFollowFs, attributes_of, identify
from .objects import LARGE, Batch, Objects
from .store import CheckpointLimits, CheckpointStore

RACY_NS = 2_000_000_000
"""The coarsest clock of a filesystem (FAT) ticks every two seconds."""
MAX_DEPTH = 400
"""Each level of folders is held open during the scan."""

NO_ROOM = "there is no room left for it (checkpoint_total_limit, or the disk is full)"

_GIT = ".git"
_OF_NOTEBOOKS = ".ipynb_checkpoints"
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_PSEUDO_FILESYSTEMS = frozenset(
    {"proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs"}
)
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
        changes = Snapshot(stored).changes_until(Snapshot(new))
        changes = [change for change in changes if not self._is_moved_tree(change.after)]
        for checkpoint_id in waiting:
            self.store.add_changes(connection, checkpoint_id, changes)

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
        stored = self._stored_entry(path, stat_row(facts))
        if stored and stored.digest and self.store.objects.touch(stored.digest):
            return stored
        try:
            return self._read(path, reader)
        except OSError as error:
            return replace(entry, why_not_kept=f"cannot be kept: {error.strerror}")

    def _stored_entry(self, path: str, row: bytes) -> FileEntry | None:
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
    parents = set[str]()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in parents:
            parents.add(folder)
            folder = folder.rpartition("/")[0]
    return parents


# --- what a scan leaves out


class Exclusions:
    """What a scan leaves out: environments, caches and the like, by a list that users can edit."""

    def __init__(
        self, patterns: Iterable[str] = CHECKPOINT_EXCLUDE, private: Iterable[Path] = ()
    ) -> None:
        self._patterns = tuple(patterns)
        self._private = tuple(private)
        self._names: set[str] = set()
        self._globs: list[Glob] = []
        for pattern in self._patterns:
            plain = pattern.rstrip("/")
            if not set("*?[]{}/\\") & set(plain):
                self._names.add(plain)
                continue
            with suppress(ValueError):  # a broken pattern excludes nothing
                self._globs.append(Glob(plain))

    @property
    def rules(self) -> str:
        """Identifies the rules: other rules, another stored state."""
        return repr((self._patterns, tuple(map(str, self._private))))

    def excluded_paths(self, root: Path) -> dict[str, str]:
        """Why, for each path that is excluded because of where it is."""
        reasons = {
            path.relative_to(root).as_posix(): "where Cowork keeps its own records"
            for path in self._private
            if path != root and path.is_relative_to(root)
        }
        return reasons | dict.fromkeys(_pseudo_mounts(root), "not a real folder of files")

    def can_be_moved(self, name: str) -> bool:
        """Whether something that is excluded is taken back with what made it.

        Not what we made, or Jupyter when it saved a notebook meanwhile.
        """
        return not (name in (_GIT, _OF_NOTEBOOKS) or LEFTOVER.fullmatch(name))

    def why(self, path: str, name: str) -> str:
        """Why this file or folder is excluded; empty if it is not."""
        if name == _GIT:  # whatever the list says
            return "git's own data is never touched"
        if name in self._names or (self._globs and any(glob.matches(path) for glob in self._globs)):
            return "excluded by checkpoint_exclude"
        if name.startswith(".") and LEFTOVER.fullmatch(name):
            return "a temporary file of ours"
        return ""


def inside_git(path: str) -> bool:
    return _GIT in path.split("/")


def _pseudo_mounts(root: Path) -> list[str]:
    """Mount points of filesystems such as /proc below the root."""
    return [
        point.relative_to(root).as_posix()
        for point, kind in mount_points(read_mounts())
        if kind in _PSEUDO_FILESYSTEMS and point != root and point.is_relative_to(root)
    ]


# --- scans


class FileReader:
    """Reads files, and stores their contents."""

    def __init__(self, objects: Objects, batch: Batch) -> None:
        self._objects, self._batch = objects, batch
        self._trusted_before = time.time_ns() - RACY_NS

    def is_trusted(self, facts: os.stat_result) -> bool:
        """Whether a later change will show in the times."""
        return max(facts.st_mtime_ns, facts.st_ctime_ns) < self._trusted_before

    def store(self, file: int, facts: os.stat_result) -> tuple[bytes, bytes, int]:
        """Store the content of an open file; returns its row, digest and size.

        The row is untrusted if another change could hide in its times.
        """
        row = stat_row(facts)
        if facts.st_size >= LARGE:
            digest, size = self._objects.add_file(file)
            is_same = stat_row(os.fstat(file)) == row
        else:
            content = os.read(file, facts.st_size + 1)
            is_same = len(content) == facts.st_size
            while not is_same and (more := os.read(file, LARGE)):
                content += more
            digest, size = self._batch.add(content), len(content)
        return row if is_same and self.is_trusted(facts) else untrusted_row(row), digest, size


class _LargeFile(NamedTuple):
    size: int
    path: str
    folder: Folder
    """Which has no content of it yet."""


class Scan:
    def __init__(
        self,
        fs: NoFollowFs,
        objects: Objects,
        exclusions: Exclusions,
        limits: CheckpointLimits,
        previous: Snapshot,
    ) -> None:
        self._fs, self._objects, self._limits = fs, objects, limits
        self._exclusions = exclusions
        self._excluded_paths = exclusions.excluded_paths(fs.root)
        self._previous = previous.folders
        self._folders: dict[str, Folder] = {}
        self._large: list[_LargeFile] = []

    def run(self) -> Snapshot:
        with self._objects.batch() as batch:
            self._reader = FileReader(self._objects, batch)
            self._walk(hold(self._fs.root))
            batch.flush()  # so that it is known how much room is left
            self._store_large_files()
        return Snapshot(self._folders)

    def _walk(self, top: int) -> None:
        """Depth first through open folders, without recursion."""
        held = [(top, "", self._enter(top, ""))]
        try:
            while held:
                descriptor, path, names = held[-1]
                name = next(names, None)
                if name is None:
                    os.close(held.pop()[0])
                    continue
                below = join_path(path, name)
                opened = self._open(descriptor, name, below, len(held))
                if opened is not None:
                    held.append((opened, below, self._enter(opened, below)))
        finally:
            for descriptor, _, _ in held:
                os.close(descriptor)

    def _open(self, parent: int, name: str, path: str, depth: int) -> int | None:
        if depth > MAX_DEPTH:
            self._folders[path] = Folder.closed("nested too deeply")
            return None
        try:
            return open_below(parent, name)
        except PermissionError:
            self._folders[path] = Folder.closed("cannot be read", 0, identify(parent, name))
        except OSError:  # gone, or something else by now; the next scan will see
            self._folders[path.rpartition("/")[0]].own = None
        return None

    def _enter(self, descriptor: int, path: str) -> Iterator[str]:
        """Scan one folder, then yield its subfolders."""
        facts = os.fstat(descriptor)
        folder = self._previous.get(path)
        if not folder or folder.own != folder_key(facts) or not folder.is_unchanged(descriptor):
            folder = self._scan_folder(descriptor, path, facts)
        self._folders[path] = folder
        yield from folder.folders

    def _scan_folder(self, descriptor: int, path: str, facts: os.stat_result) -> Folder:
        own = folder_key(facts) if self._reader.is_trusted(facts) else None
        folder = Folder(own, stat.S_IMODE(facts.st_mode), {}, [])
        try:
            files = self._list(descriptor, path, folder)
        except PermissionError:
            return Folder.closed("cannot be read", folder.mode)
        if path and not _ENVIRONMENT_MARKS.isdisjoint((*files, *folder.folders)):
            why = "an environment, which can be recreated"
            return Folder.closed(why, folder.mode, identify(descriptor, "."))
        before = self._previous.get(path)
        for name, is_file in files.items():
            previous = before.files.get(name) if before else None
            try:
                if is_file and previous is None:
                    row = self._read(descriptor, path, name, folder)
                else:
                    row = self._scan_file(descriptor, path, name, previous, folder)
            except OSError:  # it vanished, or became something else, meanwhile
                folder.own = None
                continue
            if row is None:
                continue
            if before and row is previous and name in before.attributes:
                folder.attributes[name] = before.attributes[name]
            folder.files[name] = row
        return folder

    def _list(self, descriptor: int, path: str, folder: Folder) -> dict[str, bool]:
        """All that is not a folder, and whether it is a regular file; notes the rest."""
        files = {}
        with os.scandir(descriptor) as listing:
            for entry in listing:
                name = entry.name
                below = join_path(path, name)
                why = self._excluded_paths.get(below) or self._exclusions.why(below, name)
                if why:
                    folder.not_kept[name] = why
                    if below not in self._excluded_paths and self._exclusions.can_be_moved(name):
                        with suppress(FileNotFoundError):
                            folder.trees[name] = identify(descriptor, name)
                elif entry.is_dir(follow_symlinks=False):
                    folder.folders.append(name)
                else:
                    files[name] = entry.is_file(follow_symlinks=False)
        return files

    def _scan_file(
        self,
        descriptor: int,
        path: str,
        name: str,
        previous: bytes | None,
        folder: Folder,
    ) -> bytes | None:
        """Row and digest of a file or symlink; None if it is neither."""
        facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        if stat.S_ISLNK(facts.st_mode):
            folder.targets[name] = os.readlink(name, dir_fd=descriptor)
            return stat_row(facts) + NO_CONTENT
        if not stat.S_ISREG(facts.st_mode):
            folder.not_kept[name] = "a pipe, socket or device"
            folder.trees[name] = identify(descriptor, name)
            return None
        if previous and previous.startswith(stat_row(facts)) and not previous.endswith(NO_CONTENT):
            return previous
        return self._read(descriptor, path, name, folder)

    def _read(self, descriptor: int, path: str, name: str, folder: Folder) -> bytes | None:
        try:
            file = os.open(name, OPEN_FILE, dir_fd=descriptor)
        except PermissionError:
            folder.not_kept[name] = "cannot be read"
            return stat_row(os.stat(name, dir_fd=descriptor, follow_symlinks=False)) + NO_CONTENT
        try:
            facts = os.fstat(file)
            if not stat.S_ISREG(facts.st_mode):
                return None  # it was swapped just now
            if attributes := attributes_of(file):
                folder.attributes[name] = attributes
            if facts.st_size >= LARGE:
                self._large.append(_LargeFile(facts.st_size, join_path(path, name), folder))
                return untrusted_row(stat_row(facts)) + NO_CONTENT
            row, digest, _ = self._reader.store(file, facts)
            return row + digest
        finally:
            os.close(file)

    def _store_large_files(self) -> None:
        """The smallest first, as long as there is room, now that it is known how much."""
        if not self._large:
            return
        limits, objects = self._limits, self._objects
        room = min(limits.total - objects.used(), objects.free() - limits.reserve)
        for size, path, folder in sorted(self._large, key=lambda file: file.size):
            name = path.rpartition("/")[2]
            if size > limits.file:
                gib = limits.file / 1024**3
                folder.not_kept[name] = f"larger than checkpoint_file_limit ({gib:.3g} GiB)"
                continue
            if size > room:
                folder.not_kept[name] = NO_ROOM
                continue
            try:
                with self._fs.opened(path) as file:
                    row, digest, stored = self._reader.store(file, os.fstat(file))
            except OSError as error:
                folder.not_kept[name] = f"cannot be kept: {error.strerror}"
            else:
                folder.files[name] = row + digest
                room -= stored
