"""File access through held folder descriptors, never through a symlink.

A folder is held by its descriptor, not by its path: renaming it or replacing it with a symlink
afterwards does not change where an operation lands. Windows has no such descriptors; there files
are not accessed at all, because checking a path would say nothing about its later use.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..domain.errors import Unavailable

HOLDS_FOLDERS = os.open in os.supports_dir_fd
"""False on Windows."""
NOT_HELD = (
    "Cowork cannot work with files on this system: Windows does not let a program hold a folder "
    "open while it checks and changes its contents. Run Jupyter in WSL 2, where everything works "
    "as on Linux."
)
if HOLDS_FOLDERS:
    OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
else:
    OPEN_FOLDER = OPEN_FILE = CREATE = -1  # `hold` raises first
LEFTOVER = re.compile(r"\.cowork-[0-9a-f]{16}\.tmp")
"""Names of temporary files before they are renamed."""
_MAX_REMEMBERED = 1000
_written: deque[tuple[int, int, int]] = deque(maxlen=_MAX_REMEMBERED)


def hold(root: Path | str) -> int:
    """Open the top folder. All others are opened relative to it."""
    if not HOLDS_FOLDERS:
        raise Unavailable(NOT_HELD, code="unsupported_system", retryable=False)
    return os.open(root, OPEN_FOLDER)


def open_below(held: int, name: str, *, make: bool = False) -> int:
    """Open a folder in a held one, creating it first with `make`."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=held)
    return os.open(name, OPEN_FOLDER, dir_fd=held)


@contextmanager
def parent_of(
    root: Path | str, path: str, *, may_make: Callable[[str], bool] = lambda _: False
) -> Iterator[tuple[int, str]]:
    """The held parent folder of a path below the root, and the name in it.

    Raises OSError if a parent is not a folder, or is missing and `may_make` does not allow creating
    it.
    """
    *folders, name = path.split("/")
    if {"", ".", ".."} & {*folders, name}:
        raise FileNotFoundError(path)
    held = hold(root)
    try:
        for depth, folder in enumerate(folders, 1):
            below = open_below(held, folder, make=may_make("/".join(folders[:depth])))
            os.close(held)
            held = below
        yield held, name
    finally:
        os.close(held)


@contextmanager
def replacing(folder: int, name: str) -> Iterator[int]:
    """A new file, open for writing, that atomically takes the name on success.

    Hard links keep the old content: they may be outside the workspace, and nobody said that they
    may be changed.
    """
    temporary = temporary_name()
    descriptor = os.open(temporary, CREATE, 0o600, dir_fd=folder)
    try:
        try:
            yield descriptor
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        remember(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise


def temporary_name() -> str:
    return f".cowork-{secrets.token_hex(8)}.tmp"


def write_all(target: int, data: bytes) -> None:
    """Write everything, also where a single write takes only a part."""
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


def keep_owner(descriptor: int, before: os.stat_result) -> None:
    """Give the file to the owner of the one it replaces, if we may."""
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(OSError):  # only root may, and not everywhere
            os.fchown(descriptor, before.st_uid, before.st_gid)


def remember(facts: os.stat_result) -> None:
    """Note that we wrote this file, so that cleaning up after a command leaves it alone.

    The change time is set by the kernel, so no command can forge it.
    """
    _written.append(_mark(facts))


def is_own(facts: os.stat_result) -> bool:
    """Whether the file is unchanged since we wrote it."""
    return _mark(facts) in _written


def _mark(facts: os.stat_result) -> tuple[int, int, int]:
    return facts.st_dev, facts.st_ino, facts.st_ctime_ns
