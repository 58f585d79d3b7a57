"""Small contents on their way into the store, where they stand one behind the other in packs."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ..store.connection import Database

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
