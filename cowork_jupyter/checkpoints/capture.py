"""Keeping what is at a path that somebody named, without looking at anything else."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .entries import Attributes, FileEntry, attributes_of
from .exclude import inside_git
from .look import row_of
from .no_follow_fs import NoFollowFs
from .objects import LARGE, Batch, Objects
from .scan import YOUNG, CheckpointLimits
from .snapshot import NOTHING, Snapshot

_MAX_REMEMBERED = 10_000


class Known(NamedTuple):
    """What a file was when it was read."""

    row: bytes
    digest: bytes
    attributes: Attributes


@dataclass
class Capture:
    """Keeps single files of one workspace, and remembers those that it has read."""

    fs: NoFollowFs
    objects: Objects
    limits: CheckpointLimits
    _read: dict[str, Known] = field(default_factory=dict)
    """By path, files whose times can be believed."""

    def entries(
        self, paths: Iterable[str], scanned: Snapshot | None = None
    ) -> dict[str, FileEntry | None]:
        """What is at these paths, and at the folders above them; None where nothing is."""
        wanted = {path for path in paths if not inside_git(path)}
        folders = _above(wanted)
        seen = _Scanned(scanned)
        with self.objects.batch() as batch:
            found = {path: self._entry(path, batch, seen) for path in sorted(wanted)}
        return {folder: self._folder(folder) for folder in folders - wanted} | found

    def _folder(self, path: str) -> FileEntry | None:
        facts = self.fs.stat(path)
        if facts is None or not stat.S_ISDIR(facts.st_mode):
            return None
        return FileEntry("folder", stat.S_IMODE(facts.st_mode))

    def _entry(self, path: str, batch: Batch, scanned: _Scanned) -> FileEntry | None:
        facts = self.fs.stat(path)
        if facts is None:
            return None
        if stat.S_ISDIR(facts.st_mode):
            return FileEntry("folder", stat.S_IMODE(facts.st_mode))
        if stat.S_ISLNK(facts.st_mode):
            with self.fs.parent(path) as (folder, name):
                return FileEntry("link", 0o777, target=os.readlink(name, dir_fd=folder))
        entry = FileEntry("file", stat.S_IMODE(facts.st_mode), facts.st_size, facts.st_mtime_ns)
        if not stat.S_ISREG(facts.st_mode):
            return _not_kept(entry, "a pipe, socket or device")
        known = self._known(path, row_of(facts), scanned)
        if known:
            return replace(entry, digest=known.digest, attributes=known.attributes)
        try:
            return self._kept(path, facts.st_size, batch)
        except OSError as error:
            return _not_kept(entry, f"cannot be kept: {error.strerror}")

    def _known(self, path: str, row: bytes, scanned: _Scanned) -> Known | None:
        """A file that was read before and has not changed."""
        for candidate in (self._read.get(path), scanned.file(path)):
            if candidate and candidate.row == row and candidate.digest != NOTHING:
                return candidate if self.objects.touch(candidate.digest) else None
        return None

    def _kept(self, path: str, size: int, batch: Batch) -> FileEntry:
        with self.fs.opened(path) as file:
            facts = os.fstat(file)
            entry = FileEntry(
                *("file", stat.S_IMODE(facts.st_mode), facts.st_size, facts.st_mtime_ns),
                attributes=attributes_of(file),
            )
            if size >= LARGE:
                room = min(self.limits.total - self.objects.used(), self.objects.free())
                if size > room:
                    return _not_kept(entry, "there is no room left for it (checkpoint_total_limit)")
                digest, size = self.objects.add_file(file)
            else:
                content = b""
                while piece := os.read(file, LARGE):
                    content += piece
                digest, size = batch.add(content), len(content)
            self._remember(path, Known(row_of(facts), digest, entry.attributes), facts, file)
            return _with_content(entry, digest, size)

    def _remember(self, path: str, known: Known, facts: os.stat_result, file: int) -> None:
        young = time.time_ns() - YOUNG
        believed = max(facts.st_mtime_ns, facts.st_ctime_ns) < young
        if believed and known.row == row_of(os.fstat(file)):
            if len(self._read) >= _MAX_REMEMBERED:
                self._read.clear()
            self._read[path] = known


class _Scanned:
    """What the last scan knew of single files. Each folder's names are gone through once."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self._folders = snapshot.folders if snapshot else {}
        self._places: dict[str, dict[str, int]] = {}

    def file(self, path: str) -> Known | None:
        """The file at a path; None if the scan did not see it."""
        above, _, name = path.rpartition("/")
        folder = self._folders.get(above)
        if folder is None:
            return None
        if above not in self._places:
            self._places[above] = {entry_name: at for at, entry_name in enumerate(folder.names)}
        at = self._places[above].get(name)
        return None if at is None else Known(*folder.known_at(at), folder.attributes.get(name, ()))


def _above(paths: Iterable[str]) -> set[str]:
    """All folders that these are in; each way up ends where another one has been."""
    found = set[str]()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _with_content(entry: FileEntry, digest: bytes, size: int) -> FileEntry:
    return replace(entry, size=size, digest=digest)


def _not_kept(entry: FileEntry, why: str) -> FileEntry:
    return replace(entry, why_not_kept=why)
