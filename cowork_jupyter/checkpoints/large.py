"""Large files of a scan: kept last, the smallest first, as far as there is room."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from .look import doubted, row_of
from .no_follow_fs import NoFollowFs
from .objects import Objects
from .snapshot import DIGEST, ROW, Folder


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
        for wanted in sorted(self.wanted, key=lambda one: one.size):
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
