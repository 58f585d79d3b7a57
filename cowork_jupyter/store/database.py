"""The database file: private, durable, and shared safely between threads and processes.

Its errors say what happened to the file, and what to do about it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path

from ..domain.errors import Unavailable

BUSY_SECONDS = 10.0
"""How long to wait for another process's commit."""

_READER_CACHE_KIB = 256
"""Per reading connection; SQLite's default of 2 MiB would add up over a dozen of them."""
_NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "lustre", "gpfs", "beegfs", "fuse.sshfs")
_MOUNTS = Path("/proc/self/mountinfo")


class Database:
    """One writing connection, shared by threads, and others that read concurrently."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection = open_database(path)
        self._idle_readers: list[sqlite3.Connection] = []
        self._owner: int | None = None
        """The thread inside a transaction."""
        self._closed = False

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._connection.close()
            for reader in self._idle_readers:
                reader.close()

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            yield self._connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that does not wait for writers.

        Inside a transaction it is the transaction's own, which sees its changes.
        """
        if self._owner == threading.get_ident() or self._closed:  # closed: let it raise
            yield self._connection
            return
        try:
            connection = self._idle_readers.pop()
        except IndexError:
            connection = _connect(self.path, cached_statements=32)
            connection.execute("PRAGMA query_only=ON")
            connection.execute(f"PRAGMA cache_size={-_READER_CACHE_KIB}")
        try:
            yield connection
        finally:
            self._idle_readers.append(connection)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._in_transaction():
                raise RuntimeError("A transaction is open already; use it instead.")
            try:
                # Take the write lock first, so that what is read inside stays true until the end.
                self._connection.execute("BEGIN IMMEDIATE")
                self._owner = threading.get_ident()
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._in_transaction():
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._owner = None

    def _in_transaction(self) -> bool:
        return self._connection.in_transaction

    def is_free(self) -> bool:
        """Whether a transaction could begin right now; errors other than "busy" are left to it."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._connection.execute("PRAGMA busy_timeout=0")
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            return getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY
        else:
            return True
        finally:
            with suppress(sqlite3.Error):
                self._connection.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
            self._lock.release()


def open_database(path: Path) -> sqlite3.Connection:
    """Open or create the file, in WAL mode where the filesystem supports it.

    WAL needs shared memory between processes, which network filesystems lack (JupyterHub homes are
    often on one): those get the rollback journal with full sync, because without WAL anything less
    can damage the file.
    """
    try:
        create_private(path)
    except OSError as error:
        raise explain(error, path) from error
    with explain_errors(path):
        connection = None if on_network(path) else _with_wal(path)
        return connection or _with_rollback_journal(path)


def create_private(path: Path) -> None:
    """Create folder and file readable for their owner only; SQLite's side files inherit this.

    An existing file is not even opened: closing it would drop the locks that other connections of
    this process hold on it, and other processes could then damage it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _connect(path: Path, cached_statements: int = 128) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=cached_statements,
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys=ON")
    if not path.stat().st_size:  # later it would need a full VACUUM
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    return connection


def _with_wal(path: Path) -> sqlite3.Connection | None:
    connection = _connect(path)
    try:
        if _switch_to_wal(connection):
            connection.execute("PRAGMA synchronous=NORMAL")
            # The first read maps the shared memory and fails if that is impossible.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
    except sqlite3.Error as error:
        if not _means_no_wal(error):
            connection.close()
            raise
    connection.close()
    return None


def _switch_to_wal(connection: sqlite3.Connection) -> bool:
    """Retry, because SQLite does not wait here while another process switches, too."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return bool(mode == "wal")


def _means_no_wal(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOLFS)


def _with_rollback_journal(path: Path) -> sqlite3.Connection:
    connection = _connect(path)
    try:
        # A file in WAL mode (copied from a local disk) can be read without shared memory only while
        # it is locked exclusively.
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA locking_mode=NORMAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def on_network(path: Path) -> bool:
    """Whether Linux reports a network filesystem; False elsewhere."""
    return filesystem_of(path.resolve(), read_mounts()).startswith(_NETWORK)


def filesystem_of(path: Path, mounts: str) -> str:
    mount_point, kind = Path(), ""
    for point, mounted in mount_points(mounts):
        # Later mounts cover earlier ones at the same place, hence ≥.
        if path.is_relative_to(point) and len(point.parts) >= len(mount_point.parts):
            mount_point, kind = point, mounted
    return kind


def read_mounts() -> str:
    """Linux' list of what is mounted; empty elsewhere."""
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def mount_points(mounts: str) -> Iterator[tuple[Path, str]]:
    """Each with the kind of its filesystem."""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) > 4 and after:
            yield Path(fields[4].replace("\\040", " ")), after.split(" ")[0]


# --- errors


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
