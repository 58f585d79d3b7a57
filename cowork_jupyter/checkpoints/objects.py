"""Contents, each kept once and found by its digest, whichever file or conversation it is from.

Small contents stand one behind the other in packs, which are rows of the database: many
small files take the room of their bytes, and a row is there whole or not at all. Large
contents are files of their own, so that a filesystem that can will share their blocks.
Nothing is synced to the disk here: what is read back is checked against its digest, so a
power cut can cost the newest checkpoints but never restores wrong bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ..domain.errors import CoworkError
from ..store.connection import Database
from ..workspace.no_follow import write_all

PACK = 1024 * 1024
GATHERED = 16 * PACK
MAX_AT_ONCE = 20_000
"""Bytes and contents that are gathered before they are stored."""
LOOKED_UP = 900
TOLD_AT_ONCE = 180
"""Rows of one statement; some builds of SQLite take no more than 999 values."""
FRESH = 12 * 3600
"""Seconds for which a content needs no second note that it is of use."""

T = TypeVar("T")
Contents = dict[bytes, bytes]
"""By their digests."""


class Batch:
    """Contents on their way into packs: some are gathered while the last ones are stored."""

    def __init__(self, database: Database, storing: ThreadPoolExecutor) -> None:
        self._database = database
        self._storing = storing
        self._on_the_way: Future[None] | None = None
        self._pending: Contents = {}
        self._size = 0

    def add(self, content: bytes) -> bytes:
        """Keep a small content; gives its digest."""
        digest = hashlib.sha256(content).digest()
        if digest not in self._pending:
            self._pending[digest] = content
            self._size += len(content)
            if self._size >= GATHERED or len(self._pending) >= MAX_AT_ONCE:
                self._hand_over()
        return digest

    def flush(self) -> None:
        """See to it that all is stored."""
        self._wait()
        self._store(self._gathered())

    def _hand_over(self) -> None:
        """Let the other thread store this; `sqlite3.Error` if the last time went wrong."""
        self._wait()
        self._on_the_way = self._storing.submit(self._store, self._gathered())

    def _wait(self) -> None:
        if self._on_the_way:
            self._on_the_way.result()

    def _gathered(self) -> Contents:
        gathered, self._pending, self._size = self._pending, {}, 0
        return gathered

    def _store(self, contents: Contents) -> None:
        """Store what is not there yet, all in one go.

        Digests are scattered over the whole index, so each time much of it is written anew.
        """
        if not contents:
            return
        now = int(time.time())
        with self._database.transaction() as connection:
            _leave_out_known(connection, contents, now)
            rows: list[tuple[bytes, int, int | None, int, int]] = []
            for pack in _packs(contents):
                sql = "INSERT INTO packs (content) VALUES (?)"
                number = connection.execute(sql, (b"".join(pack.values()),)).lastrowid
                start = 0
                for digest, content in pack.items():
                    rows.append((digest, len(content), number, start, now))
                    start += len(content)
            rows.sort()
            # Few long statements: before and after each, the threads wait for one another.
            for some in _parts(rows, TOLD_AT_ONCE):
                values = ",".join(["(?,?,?,?,?)"] * len(some))
                sql = f"INSERT INTO objects VALUES {values}"  # noqa: S608
                connection.execute(sql, [value for row in some for value in row])


def _packs(contents: Contents) -> Iterator[Contents]:
    """Parts of about the right size."""
    pack: Contents = {}
    size = 0
    for digest, content in contents.items():
        pack[digest] = content
        size += len(content)
        if size >= PACK:
            yield pack
            pack, size = {}, 0
    if pack:
        yield pack


def _leave_out_known(connection: sqlite3.Connection, contents: Contents, now: int) -> None:
    """What is kept already is only of use again."""
    for some in _parts(list(contents), LOOKED_UP):
        marks = ",".join("?" * len(some))
        sql = f"SELECT digest, seen FROM objects WHERE digest IN ({marks})"  # noqa: S608
        for digest, seen in connection.execute(sql, some).fetchall():
            del contents[digest]
            if seen <= now - FRESH:
                sql = "UPDATE objects SET seen=? WHERE digest=?"
                connection.execute(sql, (now, digest))


def _parts(everything: list[T], length: int) -> Iterator[list[T]]:
    return (everything[at : at + length] for at in range(0, len(everything), length))


LARGE = 512 * 1024
"""Contents from this size on are files of their own."""
CHUNK = 4 * 1024 * 1024

_FICLONE = 0x40049409
"""Linux' `ioctl` that makes one file share the blocks of another."""


class Damaged(CoworkError):
    """A content is not what it was when it was stored."""

    code = "checkpoint_damaged"


class Objects:
    """All contents there are."""

    def __init__(self, folder: Path, database: Database) -> None:
        self._folder = folder / "large"
        self._incoming = folder / "incoming"
        self._database = database
        for each in (self._folder, self._incoming):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        """Contents that are stored, all of them, by the time the block ends.

        Not for use inside a transaction, which would keep the second thread from storing.
        """
        with ThreadPoolExecutor(1) as storing:  # its thread starts when there is much to store
            batch = Batch(self._database, storing)
            yield batch
            batch.flush()

    def add_file(self, source: int) -> tuple[bytes, int]:
        """Keep the content of an open file, however large; gives its digest and size."""
        incoming = self._incoming / secrets.token_hex(16)
        try:
            target = os.open(incoming, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                digest, size = _cloned(source, target) or _copied(source, target)
            finally:
                os.close(target)
            if not self.touch(digest):
                self._take_in(incoming, digest, size)
        finally:
            incoming.unlink(missing_ok=True)
        return digest, size

    def touch(self, digest: bytes) -> bool:
        """Whether this is kept; if so, it is of use again, and stays for a while."""
        now = int(time.time())
        with self._database.reading() as connection:
            sql = "SELECT seen FROM objects WHERE digest=?"
            row = connection.execute(sql, (digest,)).fetchone()
        if row is None or row[0] > now - FRESH:
            return row is not None
        with self._database.transaction() as connection:
            sql = "UPDATE objects SET seen=? WHERE digest=?"
            return connection.execute(sql, (now, digest)).rowcount > 0

    def _take_in(self, incoming: Path, digest: bytes, size: int) -> None:
        place = self.place(digest)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        with self._database.transaction() as connection:
            # The write lock is held while a file has its name but no row yet: who sweeps
            # takes the lock too, and so never takes such a file for one left behind.
            row = (digest, size, None, 0, int(time.time()))
            connection.execute("INSERT OR IGNORE INTO objects VALUES (?, ?, ?, ?, ?)", row)
            incoming.replace(place)

    def place(self, digest: bytes) -> Path:
        """Where a large content is."""
        name = digest.hex()
        return self._folder / name[:2] / name[2:]

    def size(self, digest: bytes) -> int | None:
        """How many bytes a content has, or None if it is not kept."""
        with self._database.reading() as connection:
            sql = "SELECT size FROM objects WHERE digest=?"
            row = connection.execute(sql, (digest,)).fetchone()
        return int(row[0]) if row else None

    def read(self, digest: bytes) -> bytes:
        """A content that fits into memory."""
        return b"".join(self.chunks(digest))

    def chunks(self, digest: bytes) -> Iterator[bytes]:
        """A content piece by piece; `Damaged` at the end, at the latest, if it is not whole."""
        hasher = hashlib.sha256()
        for chunk in self._raw_chunks(digest):
            hasher.update(chunk)
            yield chunk
        if hasher.digest() != digest:
            raise Damaged("A file content in the checkpoint store is damaged and was not used.")

    def _raw_chunks(self, digest: bytes) -> Iterator[bytes]:
        with self._database.reading() as connection:
            sql = "SELECT size, pack, start FROM objects WHERE digest=?"
            row = connection.execute(sql, (digest,)).fetchone()
            if row is None:
                raise Damaged("A file content is missing from the checkpoint store.")
            size, pack, start = row
            if pack is not None:
                with connection.blobopen("packs", "content", pack, readonly=True) as blob:
                    blob.seek(start)
                    packed = blob.read(size)
        if pack is not None:
            yield packed
            return
        try:
            with self.place(digest).open("rb", buffering=0) as file:
                while chunk := file.read(CHUNK):
                    yield chunk
        except FileNotFoundError:
            raise Damaged("A file content is missing from the checkpoint store.") from None

    def used(self) -> int:
        """Bytes that all this takes on the disk."""
        with self._database.reading() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            free = connection.execute("PRAGMA freelist_count").fetchone()[0]
            page = connection.execute("PRAGMA page_size").fetchone()[0]
            large = connection.execute("SELECT total(size) FROM objects WHERE pack IS NULL")
            return int((pages - free) * page + large.fetchone()[0])

    def free(self) -> int:
        """Bytes that the disk still has."""
        return shutil.disk_usage(self._folder).free

    def sweep_files(self, connection: sqlite3.Connection) -> None:
        """Remove files that no row speaks of, while the write lock is held."""
        sql = "SELECT digest FROM objects WHERE pack IS NULL"
        known = {self.place(row[0]) for row in connection.execute(sql)}
        for folder in self._folder.iterdir():
            for path in folder.iterdir():
                if path not in known:
                    path.unlink(missing_ok=True)
        for path in self._incoming.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > 24 * 3600:
                    path.unlink()


def _cloned(source: int, target: int) -> tuple[bytes, int] | None:
    """Share the blocks, where the filesystem can; the clone stands still while it is read."""
    if sys.platform != "linux":
        return None
    from fcntl import ioctl

    try:
        ioctl(target, _FICLONE, source)
    except OSError:
        return None
    hasher, size = hashlib.sha256(), 0
    os.lseek(target, 0, os.SEEK_SET)
    while chunk := os.read(target, CHUNK):
        hasher.update(chunk)
        size += len(chunk)
    return hasher.digest(), size


def _copied(source: int, target: int) -> tuple[bytes, int]:
    """Copy, with a second thread that hashes what this one has read and now writes."""
    hasher, size = hashlib.sha256(), 0
    os.lseek(source, 0, os.SEEK_SET)
    with ThreadPoolExecutor(1) as pool:
        hashing: Future[None] | None = None
        while chunk := os.read(source, CHUNK):
            if hashing:
                hashing.result()
            hashing = pool.submit(hasher.update, chunk)
            size += len(chunk)
            write_all(target, chunk)
    return hasher.digest(), size
