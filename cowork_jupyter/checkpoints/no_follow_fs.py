"""The workspace as checkpoints touch it: by held folders, and through no symlink at all.

Tools may go through symlinks that stay inside. Here none is followed, because a folder may
have been swapped for a symlink between a checkpoint and its rollback, and what is written
back must land where it came from or nowhere.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ..workspace.no_follow import (
    LEFTOVER,
    OPEN_FILE,
    hold,
    keep_owner,
    open_below,
    parent_of,
    replacing,
    temporary_name,
    write_all,
)
from .entries import Attributes, give_back


class NoFollowFs:
    """One workspace."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    @contextmanager
    def top(self) -> Iterator[int]:
        """The workspace's own folder."""
        descriptor = hold(self.root)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def parent(self, path: str, *, make: bool = False) -> AbstractContextManager[tuple[int, str]]:
        """The folder that a path is in, held, and the name in it; missing ones can be made."""
        return parent_of(self.root, path, may_make=lambda _: make)

    @contextmanager
    def opened(self, path: str) -> Iterator[int]:
        """A regular file, open for reading; `OSError` if it is none."""
        with self.parent(path) as (folder, name):
            file = os.open(name, OPEN_FILE, dir_fd=folder)
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise FileNotFoundError(path)
                yield file
            finally:
                os.close(file)

    def stat(self, path: str) -> os.stat_result | None:
        """What is at the path itself; None if nothing is, or not under exactly this name."""
        try:
            with self.parent(path) as (folder, name):
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                return found if _has_exact_name(folder, name) else None
        except (FileNotFoundError, NotADirectoryError, OSError):
            return None

    def names_in(self, path: str, *, leftovers: bool = False) -> list[str]:
        """What is in a folder, or else only what a process of ours that died left there."""
        try:
            with self.parent(_inside(path, "x")) as (folder, _), os.scandir(folder) as listing:
                names = [entry.name for entry in listing]
        except OSError:
            return []
        return [name for name in names if bool(LEFTOVER.fullmatch(name)) == leftovers]

    def write(
        self, path: str, mode: int, chunks: Iterable[bytes], attributes: Attributes = ()
    ) -> None:
        """Put a file there in one step, with missing folders above it."""
        with self.parent(path, make=True) as (folder, name), replacing(folder, name) as file:
            for chunk in chunks:
                write_all(file, chunk)
            with contextlib.suppress(FileNotFoundError):
                keep_owner(file, os.stat(name, dir_fd=folder, follow_symlinks=False))
            give_back(file, attributes)
            os.fchmod(file, mode)

    def link(self, path: str, target: str) -> None:
        """Put a symlink there in one step."""
        with self.parent(path, make=True) as (folder, name):
            temporary = temporary_name()
            os.symlink(target, temporary, dir_fd=folder)
            try:
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise

    def make_folder(self, path: str, mode: int) -> None:
        """See to it that a folder is there, with these rights."""
        with self.parent(path, make=True) as (parent, name):
            folder = open_below(parent, name, make=True)
            try:
                os.fchmod(folder, mode)
            finally:
                os.close(folder)

    def remove(self, path: str) -> None:
        """Take away a file, a symlink or an empty folder."""
        with self.parent(path) as (folder, name):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                self.remove_leftovers(path)
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)

    def remove_leftovers(self, path: str, before: int | None = None) -> None:
        """Take away what a process of ours that died left in a folder.

        Where others may be at work, only what is from before that time: the rest may be theirs.
        """
        for name in self.names_in(path, leftovers=True):
            with (
                contextlib.suppress(OSError),
                self.parent(_inside(path, name)) as (folder, _),
            ):
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if before is None or found.st_ctime_ns < before:
                    os.unlink(name, dir_fd=folder)


def _inside(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _has_exact_name(folder: int, name: str) -> bool:
    """Whether the entry is spelled like this; some filesystems find `A.txt` as `a.txt` too."""
    other = name.swapcase()
    if other == name:
        return True
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        other_status = os.stat(other, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return True  # only this spelling leads there, as on most systems
    return (status.st_dev, status.st_ino) != (other_status.st_dev, other_status.st_ino) or _listed(
        folder, name
    )


def _listed(folder: int, name: str) -> bool:
    with os.scandir(folder) as listing:
        return any(entry.name == name for entry in listing)
