"""How much room the record takes, and giving back what it no longer needs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from .connection import BUSY_SECONDS
from .errors import explained

STEP_PAGES = 256
"""What one step gives back: a megabyte, which is soon done."""
_LENGTHS = {
    "events": "length(data) + COALESCE(length(pieces), 0)",
    "messages": "length(content) + length(data)",
    "plans": "length(plan) + length(files_read)",
    "inquiries": "length(data) + COALESCE(length(answer), 0)",
    "cell_changes": "COALESCE(length(before), 0) + COALESCE(length(after), 0)",
    "checkpoints": "length(data)",
}
"""What is long in each table."""
_ROW = 150
"""Bytes of a row for ids, times and its places in indexes, about."""
BY_CONTEXT = (
    "SELECT contexts.id, title, updated_at, pinned,"  # noqa: S608 (our words)
    " (SELECT count(*) FROM messages WHERE context_id=contexts.id) AS messages,"
    " (SELECT sum(bytes) FROM ("
    + " UNION ALL ".join(
        f"SELECT sum(COALESCE({length}, 0) + {_ROW}) AS bytes FROM {table}"  # noqa: S608
        f" WHERE context_id=contexts.id"
        for table, length in _LENGTHS.items()
    )
    + ")) AS bytes FROM contexts ORDER BY bytes DESC, position DESC"
)
UNUSED = (
    "SELECT id FROM contexts WHERE updated_at<? AND NOT pinned"
    " AND id NOT IN (SELECT context_id FROM jobs WHERE status IN ('running', 'waiting'))"
    " AND id NOT IN (SELECT context_id FROM inquiries WHERE status='pending')"
    " ORDER BY updated_at LIMIT ?"
)
"""Conversations that nobody has used since; never one that is pinned, runs, or waits for a user."""


@dataclass(frozen=True)
class ContextRoom:
    """What one conversation takes, about."""

    id: str
    title: str
    updated_at: str
    pinned: bool
    messages: int
    bytes: int


def give_back(connection: sqlite3.Connection) -> bool:
    """Give some free pages back to the disk; says whether there are more to give.

    Files of older versions cannot: they have to be written anew once, see `rewrite`.
    """
    if connection.execute("PRAGMA auto_vacuum").fetchone()[0] != 2:
        return False
    for _ in range(min(STEP_PAGES, free_pages(connection))):
        connection.execute(
            "PRAGMA incremental_vacuum(1)"
        )  # one call frees one page, whatever it says
    return free_pages(connection) > 0


def free_pages(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


def rewrite(path: Path) -> None:
    """Write the whole file anew, without what is free in it; takes as much room again meanwhile."""
    with (
        explained(path),
        closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
