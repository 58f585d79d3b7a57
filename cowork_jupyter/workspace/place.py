"""A place in the workspace: a held folder, a name in it, and the operations on it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Literal, Self

from ..domain.errors import Conflict, CoworkError, Forbidden, InvalidInput, NotFound, Unavailable
from .no_follow import (
    CREATE,
    OPEN_FILE,
    OPEN_FOLDER,
    keep_owner,
    open_below,
    remember,
    replacing,
    write_all,
)


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


class Place:
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
        with self.open_folder() as folder, explain_errors(self.path), os.scandir(folder) as found:
            return sorted(_entries(found), key=lambda entry: entry.name)

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

    def _refuse_unless_file(self, found: os.stat_result) -> None:
        kind = kind_of(found.st_mode)
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

    def _refuse_unless_folder(self, found: os.stat_result) -> None:
        if kind_of(found.st_mode) != "folder":
            raise InvalidInput(f"'{self.path}' is not a folder.", code="not_a_folder")

    def _refuse_unless_writable(self, found: os.stat_result) -> None:
        """Renaming over a file needs no permission on it, so check explicitly."""
        if not found.st_mode & 0o222:
            raise Forbidden(f"'{self.path}' is marked read-only.", code="read_only")
        with explain_errors(self.path):
            flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            os.close(os.open(self.name, flags, dir_fd=self._folder))


def _entries(found: Iterator[os.DirEntry[str]]) -> Iterator[ListedEntry]:
    for entry in found:
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            info = entry.stat(follow_symlinks=False)
            yield ListedEntry(entry.name, kind_of(info.st_mode), info.st_size, info.st_mtime)
