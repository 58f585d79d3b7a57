"""What a tool made that checkpoints do not keep file by file: environments, packages, caches.

To take it back it is moved away as a whole, and the undo of that moves it back.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..workspace.no_follow import parent_of
from ..workspace.sandbox.set_aside import forget_old
from ..workspace.sandbox.syscalls import birth_of
from .entries import FileEntry, Identity

OTHER_DISK = "it is on another disk than Cowork's records, so it cannot be kept: delete it yourself"
NOT_KEPT = "it is not kept any more"


def identify(folder: int, name: str) -> Identity:
    """The number of a deleted file is given to a new one; the time of its birth is not."""
    facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    born = birth_of(folder, name) if sys.platform == "linux" else None
    return facts.st_ino, born or 0


def newest_change(root: Path, path: str) -> int:
    """Of anything in a tree, in nanoseconds."""
    with parent_of(root, path) as (folder, name):
        # Its change time says only that it was moved here.
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
        newest = facts.st_mtime_ns
        if not stat.S_ISDIR(facts.st_mode):
            return newest
        for _, folders, files, held in os.fwalk(name, dir_fd=folder, follow_symlinks=False):
            for entry in (*folders, *files):
                with suppress(FileNotFoundError):
                    facts = os.stat(entry, dir_fd=held, follow_symlinks=False)
                    newest = max(newest, facts.st_ctime_ns)
    return newest


class KeptTrees:
    """Those that rollbacks have moved away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, entry: FileEntry) -> bool:
        return os.path.lexists(self._folder / _name(entry))

    def take(self, root: Path, path: str, entry: FileEntry) -> None:
        forget_old(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        with parent_of(root, path) as (folder, name), _explained():
            if identify(folder, name) != entry.identity:
                raise OSError(errno.ESTALE, "it changed just now")
            os.rename(name, self._folder / _name(entry), src_dir_fd=folder)

    def give_back(self, root: Path, path: str, entry: FileEntry) -> None:
        with parent_of(root, path, may_make=lambda _: True) as (folder, name), _explained():
            os.rename(self._folder / _name(entry), name, dst_dir_fd=folder)


def _name(entry: FileEntry) -> str:
    return "-".join(map(str, entry.identity))


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = {errno.EXDEV: OTHER_DISK, errno.ENOENT: NOT_KEPT}.get(error.errno or 0)
        raise OSError(error.errno, why or error.strerror) from error
