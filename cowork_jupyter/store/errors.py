"""Explains errors of the database file, and what to do about them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from pathlib import Path

from ..domain.errors import Unavailable


class StoreError(Unavailable):
    code = "store"
    retryable = False


_DAMAGED = (
    "store_damaged",
    "The record at {path} is damaged ({why}). Move the file away and restart to get a new one."
    ' `sqlite3 "{path}" .recover` can often rescue the contents of the old one.',
)
_UNWRITABLE = (
    "store_unwritable",
    "The record at {path} is not writable ({why}). Make its folder writable, or choose another"
    " place with Cowork.db_path.",
)
_FULL = (
    "store_full",
    "The disk is full, so the record at {path} cannot be written ({why}). Nothing stored so far"
    " is lost; free some space and try again.",
)
_DISK = (
    "store_disk",
    "The disk refuses to read or write the record at {path} ({why}). Often a quota is exhausted"
    " or a network disk is unavailable.",
)
_BUSY = (
    "store_busy",
    "Another process has locked the record at {path} ({why}). Try again in a moment.",
)
_OTHER = ("store", "The record at {path} cannot be used: {why}.")

_BY_SQLITE_NAME = {
    "SQLITE_NOTADB": _DAMAGED,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_READONLY": _UNWRITABLE,
    "SQLITE_CANTOPEN": _UNWRITABLE,
    "SQLITE_PERM": _UNWRITABLE,
    "SQLITE_AUTH": _UNWRITABLE,
    "SQLITE_FULL": _FULL,
    "SQLITE_IOERR": _DISK,
    "SQLITE_BUSY": _BUSY,
    "SQLITE_LOCKED": _BUSY,
}


def explain(error: sqlite3.Error | OSError, path: Path) -> StoreError:
    if isinstance(error, OSError):
        code, text = _FULL if error.errno in (ENOSPC, EDQUOT) else _UNWRITABLE
        why = error.strerror or str(error)
    else:
        # Extended codes such as SQLITE_READONLY_DIRECTORY start with the plain one.
        name = getattr(error, "sqlite_errorname", "")
        plain = "_".join(name.split("_")[:2])
        code, text = _BY_SQLITE_NAME.get(plain, _OTHER)
        why = str(error)
    return StoreError(
        text.format(path=path, why=why),
        code=code,
        retryable=code in ("store_busy", "store_full", "store_disk"),
        details={"path": str(path)},
    )


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite errors into `StoreError`, except ProgrammingError, which is a bug of ours."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        raise explain(error, path) from error
