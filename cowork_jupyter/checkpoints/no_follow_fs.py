"""The workspace as checkpoints touch it: by held folders, and through no symlink at all.

Tools may go through symlinks that stay inside. Here none is followed, because a folder may
have been swapped for a symlink between a checkpoint and its rollback, and what is written
back must land where it came from or nowhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..workspace.own_writes import remember
from .attributes import Attributes, give_back
from .look import OPEN_FOLDER
from .objects import write_all

OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
LEFTOVER = re.compile(r"\.cowork-[0-9a-f]{16}\.tmp")
"""How files are called before they get their name."""
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NoFollowFs:
    """One workspace."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    @contextmanager
    def top(self) -> Iterator[int]:
        """The workspace's own folder."""
        descriptor = os.open(self.root, OPEN_FOLDER)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder that a path is in, held, and the name in it.

        `OSError` if something on the way is missing (unless it is to be made), or no folder.
        """
        *folders, name = path.split("/")
        if not name or {"", ".", ".."} & {*folders, name}:
            raise FileNotFoundError(path)
        held = os.open(self.root, OPEN_FOLDER)
        try:
            for folder in folders:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=held)
                below = os.open(folder, OPEN_FOLDER, dir_fd=held)
                os.close(held)
                held = below
            yield held, name
        finally:
            os.close(held)

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
        """Put a file there in one step, with missing folders above it.

        It is a new file under the old name. Other names of the old one (hard links) keep it:
        they may be outside of the workspace, and nobody said that they may be changed.
        """
        with self.parent(path, make=True) as (folder, name):
            temporary = f".cowork-{secrets.token_hex(8)}.tmp"
            descriptor = os.open(temporary, _CREATE, 0o600, dir_fd=folder)
            try:
                try:
                    for chunk in chunks:
                        write_all(descriptor, chunk)
                    _keep_owner(folder, name, descriptor)
                    give_back(descriptor, attributes)
                    os.fchmod(descriptor, mode)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
                remember(os.stat(name, dir_fd=folder, follow_symlinks=False))
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
                raise

    def link(self, path: str, target: str) -> None:
        """Put a symlink there in one step."""
        with self.parent(path, make=True) as (folder, name):
            temporary = f".cowork-{secrets.token_hex(8)}.tmp"
            os.symlink(target, temporary, dir_fd=folder)
            try:
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise

    def make_folder(self, path: str, mode: int) -> None:
        """See to it that a folder is there, with these rights."""
        with self.parent(path, make=True) as (parent, name):
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent)
            folder = os.open(name, OPEN_FOLDER, dir_fd=parent)
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
        one = os.stat(name, dir_fd=folder, follow_symlinks=False)
        two = os.stat(other, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return True  # only this spelling leads there, as on most systems
    return (one.st_dev, one.st_ino) != (two.st_dev, two.st_ino) or _listed(folder, name)


def _listed(folder: int, name: str) -> bool:
    with os.scandir(folder) as listing:
        return any(entry.name == name for entry in listing)


def _keep_owner(folder: int, name: str, descriptor: int) -> None:
    """What replaces a file belongs to whom the file belonged, if we may give it away."""
    with contextlib.suppress(OSError):
        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
        now = os.fstat(descriptor)
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            os.fchown(descriptor, before.st_uid, before.st_gid)
