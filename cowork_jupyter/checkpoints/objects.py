"""Content store: each content is kept once, by its SHA-256 digest, whichever file it is from.

Small contents are packed into blobs of the database: many small files take the room of their
bytes, and a row is there whole or not at all. Large contents are files of their own, so that
filesystems with copy-on-write can share their blocks. Nothing is synced to the disk here:
contents are checked against their digest when read, so a power cut can cost the newest
checkpoints but never restores wrong bytes.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ..domain.errors import CoworkError
from ..store.database import Database
from ..workspace.no_follow import write_all

LARGE = 512 * 1024
"""Contents from this size on are files of their own."""
PACK_SIZE = 1024 * 1024
MAX_PENDING_BYTES = 16 * PACK_SIZE
MAX_PENDING = 20_000
LOOKUP_ROWS = 900
INSERT_ROWS = 180
"""Rows of one statement; some builds of SQLite take no more than 999 values."""
FRESH = 12 * 3600
"""Seconds for which a content's `seen` time need not be updated."""
CHUNK_SIZE = 4 * 1024 * 1024
_FICLONE = 0x40049409
"""Linux' `ioctl` that makes one file share the blocks of another."""

T = TypeVar("T")
Contents = dict[bytes, bytes]
"""By digest."""


class Damaged(CoworkError):
    """A content is not what it was when it was stored."""

    code = "checkpoint_damaged"


class Batch:
    """Collects contents for packs, while a second thread stores the previous ones."""

    def __init__(self, database: Database, storing: ThreadPoolExecutor) -> None:
        self._database = database
        self._storing = storing
        self._in_flight: Future[None] | None = None
        self._pending: Contents = {}
        self._size = 0

    def add(self, content: bytes) -> bytes:
        """Store a small content; returns its digest."""
        digest = hashlib.sha256(content).digest()
        if digest not in self._pending:
            self._pending[digest] = content
            self._size += len(content)
            if self._size >= MAX_PENDING_BYTES or len(self._pending) >= MAX_PENDING:
                self._wait()
                self._in_flight = self._storing.submit(self._store, self._take_pending())
        return digest

    def flush(self) -> None:
        self._wait()
        self._store(self._take_pending())

    def _wait(self) -> None:
        """Raises what went wrong in the other thread."""
        if self._in_flight:
            self._in_flight.result()

    def _take_pending(self) -> Contents:
        pending, self._pending, self._size = self._pending, {}, 0
        return pending

    def _store(self, contents: Contents) -> None:
        """All in one transaction: digests are scattered over the index, so each rewrites much."""
        if not contents:
            return
        now = int(time.time())
        with self._database.transaction() as connection:
            _drop_known(connection, contents, now)
            insert_contents(connection, contents, now)


def insert_contents(connection: sqlite3.Connection, contents: Contents, seen: int) -> None:
    """Write packs. Contents that are stored already move there."""
    rows: list[tuple[bytes, int, int | None, int, int]] = []
    for pack in _packs(contents):
        sql = "INSERT INTO packs (content) VALUES (?)"
        number = connection.execute(sql, (b"".join(pack.values()),)).lastrowid
        start = 0
        for digest, content in pack.items():
            rows.append((digest, len(content), number, start, seen))
            start += len(content)
    rows.sort()
    # Few long statements: the threads wait for one another at each.
    for some in _parts(rows, INSERT_ROWS):
        values = ",".join(["(?,?,?,?,?)"] * len(some))
        sql = (
            f"INSERT INTO objects VALUES {values}"  # noqa: S608
            " ON CONFLICT(digest) DO UPDATE SET pack=excluded.pack, start=excluded.start"
        )
        connection.execute(sql, [value for row in some for value in row])


def _packs(contents: Contents) -> Iterator[Contents]:
    pack: Contents = {}
    size = 0
    for digest, content in contents.items():
        pack[digest] = content
        size += len(content)
        if size >= PACK_SIZE:
            yield pack
            pack, size = {}, 0
    if pack:
        yield pack


def _drop_known(connection: sqlite3.Connection, contents: Contents, now: int) -> None:
    """Remove what is stored already, after updating its `seen` time."""
    for some in _parts(list(contents), LOOKUP_ROWS):
        marks = ",".join("?" * len(some))
        sql = f"SELECT digest, seen FROM objects WHERE digest IN ({marks})"  # noqa: S608
        for digest, seen in connection.execute(sql, some).fetchall():
            del contents[digest]
            if seen <= now - FRESH:
                sql = "UPDATE objects SET seen=? WHERE digest=?"
                connection.execute(sql, (now, digest))


def _parts(everything: list[T], length: int) -> Iterator[list[T]]:
    return (everything[at : at + length] for at in range(0, len(everything), length))


class Objects:
    def __init__(self, folder: Path, database: Database) -> None:
        self._folder = folder / "large"
        self._incoming = folder / "incoming"
        self._database = database
        for each in (self._folder, self._incoming):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        """All contents added are stored when the block ends.

        Not for use inside a transaction, which would block the second thread.
        """
        with ThreadPoolExecutor(1) as storing:  # the thread starts when there is much to store
            batch = Batch(self._database, storing)
            yield batch
            batch.flush()

    def add_file(self, source: int) -> tuple[bytes, int]:
        """Store the content of an open file, however large; returns its digest and size."""
        incoming = self._incoming / secrets.token_hex(16)
        try:
            target = os.open(incoming, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                digest, size = _clone(source, target) or _copy(source, target)
            finally:
                os.close(target)
            if not self.touch(digest):
                self._adopt(incoming, digest, size)
        finally:
            incoming.unlink(missing_ok=True)
        return digest, size

    def touch(self, digest: bytes) -> bool:
        """Return whether this is stored; if so, protect it from the next sweeps."""
        now = int(time.time())
        with self._database.reading() as connection:
            sql = "SELECT seen FROM objects WHERE digest=?"
            row = connection.execute(sql, (digest,)).fetchone()
        if row is None or row[0] > now - FRESH:
            return row is not None
        with self._database.transaction() as connection:
            sql = "UPDATE objects SET seen=? WHERE digest=?"
            return connection.execute(sql, (now, digest)).rowcount > 0

    def _adopt(self, incoming: Path, digest: bytes, size: int) -> None:
        path = self.path_of(digest)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with self._database.transaction() as connection:
            # Under the write lock, which a sweep takes too: it never sees the file without a row.
            row = (digest, size, None, 0, int(time.time()))
            connection.execute("INSERT OR IGNORE INTO objects VALUES (?, ?, ?, ?, ?)", row)
            incoming.replace(path)

    def path_of(self, digest: bytes) -> Path:
        name = digest.hex()
        return self._folder / name[:2] / name[2:]

    def size(self, digest: bytes) -> int | None:
        """None if the content is not stored."""
        with self._database.reading() as connection:
            sql = "SELECT size FROM objects WHERE digest=?"
            row = connection.execute(sql, (digest,)).fetchone()
        return int(row[0]) if row else None

    def read(self, digest: bytes) -> bytes:
        return b"".join(self.chunks(digest))

    def chunks(self, digest: bytes) -> Iterator[bytes]:
        """Raises `Damaged`, after the last chunk at the latest, if the content is not intact."""
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
            with self.path_of(digest).open("rb", buffering=0) as file:
                while chunk := file.read(CHUNK_SIZE):
                    yield chunk
        except FileNotFoundError:
            raise Damaged("A file content is missing from the checkpoint store.") from None

    def used(self) -> int:
        """Bytes on the disk."""
        with self._database.reading() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            free = connection.execute("PRAGMA freelist_count").fetchone()[0]
            page = connection.execute("PRAGMA page_size").fetchone()[0]
            large = connection.execute("SELECT total(size) FROM objects WHERE pack IS NULL")
            return int((pages - free) * page + large.fetchone()[0])

    def free(self) -> int:
        """Bytes that the disk has left."""
        return shutil.disk_usage(self._folder).free

    def sweep_files(self, connection: sqlite3.Connection) -> None:
        """Remove files that have no row; call it within a transaction."""
        sql = "SELECT digest FROM objects WHERE pack IS NULL"
        stored = {self.path_of(row[0]) for row in connection.execute(sql)}
        for folder in self._folder.iterdir():
            for path in folder.iterdir():
                if path not in stored:
                    path.unlink(missing_ok=True)
        for path in self._incoming.iterdir():
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > 24 * 3600:
                    path.unlink()


def _clone(source: int, target: int) -> tuple[bytes, int] | None:
    """Share the blocks, where the filesystem can; the clone does not change while it is read."""
    if sys.platform != "linux":
        return None
    from fcntl import ioctl

    try:
        ioctl(target, _FICLONE, source)
    except OSError:
        return None
    with open(target, "rb", closefd=False) as clone:
        clone.seek(0)
        return hashlib.file_digest(clone, "sha256").digest(), os.fstat(target).st_size


def _copy(source: int, target: int) -> tuple[bytes, int]:
    """Copy, with a second thread that hashes each chunk while this one writes it."""
    hasher, size = hashlib.sha256(), 0
    os.lseek(source, 0, os.SEEK_SET)
    with ThreadPoolExecutor(1) as pool:
        hashing: Future[None] | None = None
        while chunk := os.read(source, CHUNK_SIZE):
            if hashing:
                hashing.result()
            hashing = pool.submit(hasher.update, chunk)
            size += len(chunk)
            write_all(target, chunk)
    return hasher.digest(), size
