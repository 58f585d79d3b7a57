"""Files and folders of the workspace, held by descriptors and never reached through a symlink.

A folder is held by its descriptor, not by its path: renaming it or replacing it with a symlink
afterwards does not change where an operation lands. Windows has no such descriptors; there files
are not accessed at all, because checking a path would say nothing about its later use.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, Self

from ..domain.errors import Conflict, CoworkError, Forbidden, InvalidInput, NotFound, Unavailable

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


@contextmanager
def explain_errors(path: str) -> Iterator[None]:
    """Turn an `OSError` about this path into an error that a person or model understands."""
    try:
        yield
    except OSError as error:
        raise explain(error, path) from error


def explain(error: OSError, path: str) -> CoworkError:
    match error.errno:
        case errno.ENOENT:
            return NotFound(f"There is no '{path}' in the workspace.")
        case errno.EACCES | errno.EPERM:
            return Forbidden(
                f"The operating system denies access to '{path}'.", code="permission_denied"
            )
        case errno.EEXIST:
            return Conflict(f"'{path}' already exists.", code="exists")
        case errno.ENOTEMPTY:
            return Conflict(f"The folder '{path}' is not empty.", code="not_empty")
        case errno.ENOTDIR:
            return InvalidInput(f"Part of the path '{path}' is not a folder.", code="not_a_folder")
        case errno.EISDIR:
            return InvalidInput(f"'{path}' is a folder, not a file.", code="is_folder")
        case errno.ENAMETOOLONG:
            return InvalidInput("The path, or a name in it, is too long.", code="bad_path")
        case errno.ELOOP:
            return Conflict(f"'{path}' has just become a symlink. Try again.", retryable=True)
        case errno.ENOSPC | errno.EDQUOT | errno.EROFS:
            return Unavailable(
                f"Cannot write '{path}' to the disk: {error.strerror}.",
                code="disk_refuses",
                retryable=False,
            )
        case _:
            return CoworkError(f"'{path}': {error.strerror or error}.", code="os_error")


Kind = Literal["file", "folder", "link", "special"]


def kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "special"


@dataclass(frozen=True)
class ListedEntry:
    name: str
    kind: Kind
    size: int
    modified: float


class PathHandle:
    """Where a path leads; holds its folder open until closed. Changes nothing on disk."""

    def __init__(self, folder: int, missing: tuple[str, ...], name: str, path: str) -> None:
        self._folder = folder
        self._missing = missing
        self.name = name
        """Name in the held folder; `.` is the folder itself."""
        self.path = path
        """Relative to the workspace, with `/`; `.` is the workspace itself."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    # --- looking

    def stat(self) -> os.stat_result:
        """Does not follow symlinks."""
        if self._missing:
            raise NotFound(f"There is no '{self.path}' in the workspace.")
        with explain_errors(self.path):
            return os.stat(self.name, dir_fd=self._folder, follow_symlinks=False)

    def exists(self) -> bool:
        try:
            self.stat()
        except NotFound:
            return False
        return True

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open for reading. Anything but a regular file is refused without blocking."""
        self._refuse_unless_file(self.stat())
        with explain_errors(self.path):
            descriptor = os.open(self.name, OPEN_FILE, dir_fd=self._folder)
        with os.fdopen(descriptor, "rb") as file:
            self._refuse_unless_file(os.fstat(descriptor))
            yield file

    def read(self, limit: int | None = None) -> bytes:
        with self.open() as file, explain_errors(self.path):
            return file.read(-1 if limit is None else limit)

    def read_text(self, limit: int) -> str:
        """Read a UTF-8 file of at most `limit` bytes, without a byte order mark."""
        data = self.read(limit + 1)
        if len(data) > limit:
            raise InvalidInput(f"It is larger than {limit // 1024} KiB.")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput("It is not UTF-8 text.") from None

    @contextmanager
    def open_folder(self) -> Iterator[int]:
        self._refuse_unless_folder(self.stat())
        with explain_errors(self.path):
            descriptor = os.open(self.name, OPEN_FOLDER, dir_fd=self._folder)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def entries(self) -> list[ListedEntry]:
        """Sorted by name."""
        with self.open_folder() as folder, explain_errors(self.path), os.scandir(folder) as entries:
            return sorted(_entries(entries), key=lambda entry: entry.name)

    # --- changing

    def create(self, data: bytes) -> None:
        """Create a file with its missing parents; raises Conflict if it exists."""
        self.make_parents()
        with explain_errors(self.path):
            descriptor = os.open(self.name, CREATE, 0o666, dir_fd=self._folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(descriptor)
            except BaseException:
                os.unlink(self.name, dir_fd=self._folder)
                raise
        remember(self.stat())
        self._sync_folder()

    def replace(self, data: bytes) -> None:
        before = self.stat()
        self._refuse_unless_file(before)
        self._refuse_unless_writable(before)
        with explain_errors(self.path), replacing(self._folder, self.name) as file:
            keep_owner(file, before)
            os.fchmod(file, stat.S_IMODE(before.st_mode))
            write_all(file, data)
        self._sync_folder()

    def unlink(self) -> None:
        if kind_of(self.stat().st_mode) == "folder":
            raise InvalidInput(f"'{self.path}' is a folder, not a file.", code="is_folder")
        with explain_errors(self.path):
            os.unlink(self.name, dir_fd=self._folder)

    def rmdir(self) -> None:
        """Remove an empty folder."""
        self._refuse_unless_folder(self.stat())
        if self.name == ".":
            raise Forbidden(f"'{self.path}' is the current folder and cannot be removed that way.")
        with explain_errors(self.path):
            os.rmdir(self.name, dir_fd=self._folder)

    def mkdir(self) -> None:
        self.make_parents()
        with explain_errors(self.path):
            os.mkdir(self.name, dir_fd=self._folder)

    def make_parents(self) -> None:
        """Create the missing parents and step down into the last of them."""
        while self._missing:
            name = self._missing[0]
            with explain_errors(self.path):
                below = open_below(self._folder, name, make=True)
            os.close(self._folder)
            self._folder, self._missing = below, self._missing[1:]

    def _sync_folder(self) -> None:
        with contextlib.suppress(OSError):  # unsupported on some network filesystems
            os.fsync(self._folder)

    # --- refusing

    def _refuse_unless_file(self, facts: os.stat_result) -> None:
        kind = kind_of(facts.st_mode)
        if kind == "folder":
            raise InvalidInput(
                f"'{self.path}' is a folder, not a file. Use list_directory to see what is in it.",
                code="is_folder",
            )
        if kind == "link":
            raise Conflict(f"'{self.path}' has just become a symlink. Try again.", retryable=True)
        if kind == "special":
            raise InvalidInput(
                f"'{self.path}' is a pipe, socket or device, not a file with content.",
                code="not_a_file",
            )

    def _refuse_unless_folder(self, facts: os.stat_result) -> None:
        if kind_of(facts.st_mode) != "folder":
            raise InvalidInput(f"'{self.path}' is not a folder.", code="not_a_folder")

    def _refuse_unless_writable(self, facts: os.stat_result) -> None:
        """Renaming over a file needs no permission on it, so check explicitly."""
        if not facts.st_mode & 0o222:
            raise Forbidden(f"'{self.path}' is marked read-only.", code="read_only")
        with explain_errors(self.path):
            flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            os.close(os.open(self.name, flags, dir_fd=self._folder))


def _entries(entries: Iterator[os.DirEntry[str]]) -> Iterator[ListedEntry]:
    for entry in entries:
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            info = entry.stat(follow_symlinks=False)
            yield ListedEntry(entry.name, kind_of(info.st_mode), info.st_size, info.st_mtime)
