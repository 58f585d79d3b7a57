"""What the operating system refuses, said in our words."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from ..domain.errors import (
    Conflict,
    CoworkError,
    Forbidden,
    InvalidInput,
    NotFound,
    Unavailable,
)


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn an `OSError` about this path into an error that a person or model understands."""
    try:
        yield
    except OSError as error:
        raise explain(error, path) from error


def explain(error: OSError, path: str) -> CoworkError:
    """The error of ours that says what this one means."""
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
