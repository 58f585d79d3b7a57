"""Looking at every file of the workspace and keeping the content of each that changed.

A file whose device, inode, mode, size and times are those of the last snapshot is not
read again; a folder whose own times are the same is not even listed. Times that are so
young that another change could hide in them are not believed (git calls it racy).
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..workspace.no_follow import OPEN_FILE, open_below
from .entries import Attributes, attributes_of
from .exclude import Exclusions
from .look import doubted, own_numbers_of, row_of, unchanged
from .looker import ITS_SHARE, WORTHWHILE, Looker
from .no_follow_fs import NoFollowFs
from .objects import LARGE, Batch, Objects
from .snapshot import DIGEST, NOTHING, ROW, WHOLE, Folder, Snapshot, joined


@dataclass(frozen=True)
class CheckpointLimits:
    """How much may be kept."""

    file: int = 2 * 1024**3
    total: int = 20 * 1024**3
    reserve: int = 512 * 1024**2
    """Bytes that the disk keeps for others."""


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A large file, and its place in the folder that waits for its content."""

    size: int
    path: str
    folder: Folder
    at: int


@dataclass
class LargeFiles:
    """Those that one scan has met."""

    fs: NoFollowFs
    objects: Objects
    limits: CheckpointLimits
    wanted: list[LargeFile] = field(default_factory=list)

    def keep(self, believed: int) -> None:
        """Keep what there is room for, now that it is known how much; times before this count."""
        if not self.wanted:
            return
        limits, objects = self.limits, self.objects
        room = min(limits.total - objects.used(), objects.free() - limits.reserve)
        for wanted in sorted(self.wanted, key=lambda file: file.size):
            why = ""
            if wanted.size > limits.file:
                why = f"larger than checkpoint_file_limit ({_size(limits.file)})"
            elif wanted.size > room:
                why = "there is no room left for it (checkpoint_total_limit, or the disk is full)"
            if why:
                wanted.folder.not_kept[wanted.folder.names[wanted.at]] = why
                continue
            room -= self._keep_one(wanted, believed)

    def _keep_one(self, wanted: LargeFile, believed: int) -> int:
        folder, at = wanted.folder, wanted.at
        try:
            with self.fs.opened(wanted.path) as file:
                facts = os.fstat(file)
                digest, size = self.objects.add_file(file)
                row = row_of(facts)
                is_old = max(facts.st_mtime_ns, facts.st_ctime_ns) < believed
                if not is_old or row_of(os.fstat(file)) != row:
                    row = doubted(row)
        except OSError as error:
            folder.not_kept[folder.names[at]] = f"cannot be kept: {error.strerror}"
            return 0
        folder.rows = _with(folder.rows, at * ROW, row)
        folder.digests = _with(folder.digests, at * DIGEST, digest)
        return size


def _with(whole: bytes, start: int, part: bytes) -> bytes:
    return whole[:start] + part + whole[start + len(part) :]


def _size(number: int) -> str:
    return f"{number / 1024**3:.3g} GiB"


YOUNG = 2_000_000_000
"""Nanoseconds; the coarsest clock of a filesystem (FAT) ticks every two seconds."""
DEEPEST = 400
"""Folders within folders that are held open at once."""


@dataclass(slots=True)
class _Found:
    """A folder that is being looked at, what was known of it, and where its contents go."""

    folder: Folder
    known: dict[str, tuple[bytes, bytes]]
    attributes: dict[str, Attributes]
    batch: Batch


@dataclass
class Scan:
    """One look at the workspace."""

    fs: NoFollowFs
    objects: Objects
    exclusions: Exclusions
    limits: CheckpointLimits
    previous: Snapshot
    looker: Looker
    folders: dict[str, Folder] = field(default_factory=dict)
    _places: dict[str, str] = field(default_factory=dict)
    _believed: int = 0
    """Times before this are."""

    def __post_init__(self) -> None:
        self._large = LargeFiles(self.fs, self.objects, self.limits)

    def run(self) -> Snapshot:
        """Look, and keep what is new."""
        self._believed = time.time_ns() - YOUNG
        self._places = self.exclusions.places(self.fs.root)
        self._ask_for_help()
        try:
            with self.objects.batch() as batch, self.fs.top() as top:
                self._walk(os.dup(top), batch)
        finally:
            self.looker.forget()
        self._large.keep(self._believed)
        return Snapshot(self.folders)

    def _walk(self, top: int, batch: Batch) -> None:
        """Depth first, through held folders, and without calls in calls."""
        held: list[tuple[int, str, Iterator[str]]] = []
        try:
            held.append((top, "", iter(self._enter(top, "", batch))))
            while held:
                descriptor, path, names = held[-1]
                name = next(names, None)
                if name is None:
                    os.close(held.pop()[0])
                    continue
                below = joined(path, name)
                if self._is_told_same(below):
                    continue
                opened = self._open(descriptor, name, below, len(held))
                if opened is not None:
                    held.append((opened, below, iter(())))
                    held[-1] = (opened, below, iter(self._enter(opened, below, batch)))
        finally:
            for descriptor, _, _ in held:
                os.close(descriptor)

    def _open(self, parent: int, name: str, path: str, depth: int) -> int | None:
        if depth > DEEPEST:
            self.folders[path] = _closed("nested too deeply")
            return None
        try:
            return open_below(parent, name)
        except PermissionError:
            self.folders[path] = _closed("cannot be read")
        except OSError:  # gone, or something else by now; the next scan will see
            parent_path = path.rpartition("/")[0]
            self.folders[parent_path].own = None
        return None

    def _enter(self, descriptor: int, path: str, batch: Batch) -> list[str]:
        """Look at one folder; gives the folders in it."""
        own = os.fstat(descriptor)
        before = self.previous.folders.get(path)
        if before is not None and self._is_same(descriptor, path, own, before):
            self.folders[path] = before
        else:
            self.folders[path] = self._listed(descriptor, path, own, before, batch)
        return self.folders[path].folders

    def _is_told_same(self, path: str) -> bool:
        """Whether a folder without folders in it need not be opened: the looker has been there."""
        before = self.previous.folders.get(path)
        if before is None or before.folders or not self.looker.found_same(path):
            return False
        self.folders[path] = before
        return True

    def _is_same(self, descriptor: int, path: str, own: os.stat_result, before: Folder) -> bool:
        if before.own != own_numbers_of(own):
            return False
        if self.looker.found_same(path):
            return True
        return unchanged(descriptor, before.names, before.mark)

    def _ask_for_help(self) -> None:
        """Let somebody else look at the last part of a large workspace meanwhile."""
        known = self.previous.folders
        total = sum(len(folder.names) for folder in known.values())
        if total < WORTHWHILE:
            return
        asked: dict[str, Folder] = {}
        room = int(total * ITS_SHARE)
        for path in reversed(known):  # the last folder first
            folder = known[path]
            if room <= 0:
                break
            if folder.own is not None:
                asked[path] = folder
                room -= len(folder.names)
        self.looker.ask(asked)

    def _listed(
        self,
        descriptor: int,
        path: str,
        own: os.stat_result,
        before: Folder | None,
        batch: Batch,
    ) -> Folder:
        young = max(own.st_mtime_ns, own.st_ctime_ns) >= self._believed
        folder = Folder(
            None if young else own_numbers_of(own), stat.S_IMODE(own.st_mode), [], b"", b"", []
        )
        try:
            others = self._sorted_out(descriptor, path, folder)
        except PermissionError:
            return _closed("cannot be read", folder.mode)
        if path and self.exclusions.is_environment((*others, *folder.folders)):
            return _closed("an environment, which can be recreated", folder.mode)
        known, attributes = (before.known(), before.attributes) if before else ({}, {})
        found = _Found(folder, known, attributes, batch)
        rows, digests = bytearray(), bytearray()
        for name, is_file in others.items():
            try:
                kept = self._kept(descriptor, path, name, is_file, found)
            except OSError:  # it vanished, or became something else, while we look
                folder.own = None
                continue
            if kept:
                folder.names.append(name)
                rows += kept[0]
                digests += kept[1]
        folder.rows, folder.digests = bytes(rows), bytes(digests)
        return folder

    def _sorted_out(self, descriptor: int, path: str, found: Folder) -> dict[str, bool]:
        """All that is no folder, and whether it is a file; the rest goes where it belongs."""
        others = {}
        with os.scandir(descriptor) as listing:
            for entry in listing:
                name = entry.name
                below = joined(path, name)
                why = self._places.get(below) or self.exclusions.why(below, name)
                if why:
                    found.not_kept[name] = why
                elif entry.is_dir(follow_symlinks=False):
                    found.folders.append(name)
                else:
                    others[name] = entry.is_file(follow_symlinks=False)
        return others

    def _kept(
        self, descriptor: int, path: str, name: str, is_file: bool, found: _Found
    ) -> tuple[bytes, bytes] | None:
        """Numbers and digest of one file or symlink; None if it is not there, or neither."""
        before = found.known.get(name)
        if is_file and before is None:
            return self._read(descriptor, path, name, found)
        facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        if stat.S_ISLNK(facts.st_mode):
            found.folder.targets[name] = os.readlink(name, dir_fd=descriptor)
            return row_of(facts), NOTHING
        if not stat.S_ISREG(facts.st_mode):
            found.folder.not_kept[name] = "a pipe, socket or device"
            return None
        if before and before[0] == row_of(facts) and before[1] != NOTHING:
            if name in found.attributes:
                found.folder.attributes[name] = found.attributes[name]
            return before
        return self._read(descriptor, path, name, found)

    def _read(
        self, descriptor: int, path: str, name: str, found: _Found
    ) -> tuple[bytes, bytes] | None:
        try:
            file = os.open(name, OPEN_FILE, dir_fd=descriptor)
        except PermissionError:
            found.folder.not_kept[name] = "cannot be read"
            return row_of(os.stat(name, dir_fd=descriptor, follow_symlinks=False)), NOTHING
        try:
            facts = os.fstat(file)
            size = facts.st_size
            if not stat.S_ISREG(facts.st_mode):
                return None  # it was swapped just now
            row = row_of(facts)
            attributes = attributes_of(file)
            if attributes:
                found.folder.attributes[name] = attributes
            if size >= LARGE:
                at = len(found.folder.names)
                self._large.wanted.append(LargeFile(size, joined(path, name), found.folder, at))
                return doubted(row), NOTHING
            content = os.read(file, size + 1)
            # A change from now on will show in the times, if those we have are not too young.
            believed = max(facts.st_mtime_ns, facts.st_ctime_ns) < self._believed
            if not believed or len(content) != size:
                row = doubted(row)
            return row, found.batch.add(content)
        finally:
            os.close(file)


def _closed(why: str, mode: int = 0) -> Folder:
    return Folder(None, mode, [], b"", b"", [], {}, {WHOLE: why})
