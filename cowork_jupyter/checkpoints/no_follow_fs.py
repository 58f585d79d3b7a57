"""The workspace's files as checkpoints access them: without following any symlink.

Tools may follow symlinks that stay inside the workspace. Checkpoints follow none, because a
folder may have been swapped for a symlink between a checkpoint and its rollback, and what is
written back must land where it came from or nowhere.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from ..workspace.no_follow import (
    LEFTOVER,
    OPEN_FILE,
    keep_owner,
    open_below,
    parent_of,
    replacing,
    temporary_name,
    write_all,
)
from ..workspace.sandbox.set_aside import forget_old
from ..workspace.sandbox.syscalls import birth_of
from .entries import Attributes, FileEntry, Identity

MAX_ATTRIBUTES_SIZE = 64 * 1024
"""Of all values of one file together; beyond it, none is kept."""


class NoFollowFs:
    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def parent(self, path: str, *, make: bool = False) -> AbstractContextManager[tuple[int, str]]:
        """The open folder that a path is in, and the name in it."""
        return parent_of(self.root, path, may_make=lambda _: make)

    @contextmanager
    def opened(self, path: str) -> Iterator[int]:
        """A file open for reading; `OSError` if it is not a regular file."""
        with self.parent(path) as (folder, name):
            file = os.open(name, OPEN_FILE, dir_fd=folder)
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise FileNotFoundError(path)
                yield file
            finally:
                os.close(file)

    def stat(self, path: str) -> os.stat_result | None:
        """None if nothing is there, or not under exactly this name."""
        try:
            with self.parent(path) as (folder, name):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                return status if _has_exact_name(folder, name, status) else None
        except OSError:
            return None

    def read_link(self, path: str) -> str:
        with self.parent(path) as (folder, name):
            return os.readlink(name, dir_fd=folder)

    def names_in(self, path: str) -> list[str]:
        """The names in a folder, without our temporary files."""
        try:
            with self._listed(path) as (_, names):
                return [name for name in names if not LEFTOVER.fullmatch(name)]
        except OSError:
            return []

    @contextmanager
    def _listed(self, path: str) -> Iterator[tuple[int, list[str]]]:
        """An open folder, and the names in it."""
        with self.parent(f"{path}/x" if path else "x") as (folder, _):
            with os.scandir(folder) as listing:
                names = [entry.name for entry in listing]
            yield folder, names

    def write(
        self, path: str, mode: int, chunks: Iterable[bytes], attributes: Attributes = ()
    ) -> None:
        """Put a file there atomically, with missing folders above it."""
        with self.parent(path, make=True) as (folder, name), replacing(folder, name) as file:
            for chunk in chunks:
                write_all(file, chunk)
            with suppress(FileNotFoundError):
                keep_owner(file, os.stat(name, dir_fd=folder, follow_symlinks=False))
            for attribute, value in attributes:
                with suppress(OSError):  # not every filesystem takes them
                    os.setxattr(file, attribute, value)
            os.fchmod(file, mode)

    def link(self, path: str, target: str) -> None:
        """Put a symlink there atomically."""
        with self.parent(path, make=True) as (folder, name):
            temporary = temporary_name()
            os.symlink(target, temporary, dir_fd=folder)
            try:
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise

    def make_folder(self, path: str, mode: int) -> None:
        """Create the folder if it is missing, and set its mode."""
        with self.parent(path, make=True) as (parent, name):
            folder = open_below(parent, name, make=True)
            try:
                os.fchmod(folder, mode)
            finally:
                os.close(folder)

    def remove(self, path: str) -> None:
        """Remove a file, a symlink or an empty folder."""
        with self.parent(path) as (folder, name):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                self.remove_leftovers(path)
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)

    def remove_leftovers(self, path: str, before: int | None = None) -> None:
        """Remove the temporary files that a dead process of ours left in a folder.

        Where others may be at work, only those from before that time: the rest may be theirs.
        """
        with suppress(OSError), self._listed(path) as (folder, names):
            for name in filter(LEFTOVER.fullmatch, names):
                with suppress(OSError):
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    if before is None or status.st_ctime_ns < before:
                        os.unlink(name, dir_fd=folder)


def attributes_of(file: int) -> Attributes:
    """Empty where the system has no extended attributes, as on macOS."""
    if not hasattr(os, "listxattr"):
        return ()
    try:
        names = os.listxattr(file)
        if not names:  # as nearly always
            return ()
        pairs = sorted(
            (name, os.getxattr(file, name)) for name in names if name.startswith("user.")
        )
    except OSError:
        return ()
    return tuple(pairs) if sum(len(value) for _, value in pairs) <= MAX_ATTRIBUTES_SIZE else ()


def _has_exact_name(folder: int, name: str, status: os.stat_result) -> bool:
    """Whether the entry is spelled like this; some filesystems find `A.txt` as `a.txt` too."""
    other = name.swapcase()
    if other == name:
        return True
    try:
        other_status = os.stat(other, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return True  # only this spelling leads there, as on most systems
    if not os.path.samestat(status, other_status):
        return True
    with os.scandir(folder) as listing:
        return any(entry.name == name for entry in listing)


# --- trees: what a tool made that checkpoints do not keep file by file

# Environments, packages, caches. To take one back it is moved away as a whole, and the undo of that
# moves it back.

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
