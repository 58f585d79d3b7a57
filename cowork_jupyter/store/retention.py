"""Deleting conversations, restoring them, and the disk space of the record.

All rows of a deleted context move, as JSON, to a table of their own until they are restored or
expire, so that no other query has to know about them.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from . import search
from .database import BUSY_SECONDS, explain_errors
from .rows import insert, to_json

STEP_PAGES = 256
"""A megabyte, so that a step is short."""
_LENGTHS = {
    "events": "length(data) + COALESCE(length(pieces), 0)",
    "messages": "length(content) + length(data)",
    "plans": "length(plan) + length(files_read)",
    "inquiries": "length(data) + COALESCE(length(answer), 0)",
    "cell_changes": "COALESCE(length(before), 0) + COALESCE(length(after), 0)",
    "checkpoints": "length(data)",
}
_ROW = 150
"""Approximate bytes of a row for ids, times and indexes."""
BY_CONTEXT = (
    "SELECT contexts.id, title, updated_at, pinned,"  # noqa: S608 (our words)
    " (SELECT count(*) FROM messages WHERE context_id=contexts.id) AS messages,"
    " (SELECT COALESCE(sum(bytes), 0) FROM ("
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


@dataclass(frozen=True)
class ContextSize:
    id: str
    title: str
    updated_at: str
    pinned: bool
    messages: int
    bytes: int


def release_pages(connection: sqlite3.Connection) -> bool:
    """Return some free pages to the file system; True if there are more.

    Files of older versions must be rewritten once before, see `rewrite`.
    """
    if connection.execute("PRAGMA auto_vacuum").fetchone()[0] != 2:
        return False
    for _ in range(min(STEP_PAGES, free_pages(connection))):
        connection.execute("PRAGMA incremental_vacuum(1)")  # frees one page whatever the number
    return free_pages(connection) > 0


def free_pages(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


def rewrite(path: Path) -> None:
    """Rewrite the whole file without its free pages; temporarily needs its size again."""
    with (
        explain_errors(path),
        closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


LIST_DELETED = (
    "SELECT row, deleted_at FROM deleted_rows WHERE table_name='contexts'"
    " ORDER BY deleted_at DESC, rowid DESC"
)
_CHILDREN = (
    'SELECT found.name, key."from" FROM sqlite_master AS found'
    " JOIN pragma_foreign_key_list(found.name) AS key"
    " WHERE found.type='table' AND key.\"table\"='contexts' ORDER BY found.name"
)


def trash_context(connection: sqlite3.Connection, context_id: str, deleted_at: str) -> None:
    for table, key in [("contexts", "id"), *connection.execute(_CHILDREN).fetchall()]:
        sql = f"SELECT * FROM {table} WHERE {key}=? ORDER BY rowid"  # noqa: S608 (our names)
        connection.executemany(
            "INSERT INTO deleted_rows VALUES (?, ?, ?, ?)",
            (
                (context_id, deleted_at, table, to_json(dict(row)))
                for row in connection.execute(sql, (context_id,))
            ),
        )
    search.forget_context(connection, context_id)
    connection.execute("DELETE FROM contexts WHERE id=?", (context_id,))


def restore_context(connection: sqlite3.Connection, context_id: str) -> None:
    """Restore a context.

    A cell change is dropped if an undecided one of the same cell was made meanwhile.
    """
    sql = "SELECT table_name, row FROM deleted_rows WHERE context_id=? ORDER BY rowid"
    for table, row in connection.execute(sql, (context_id,)):
        values = json.loads(row)
        statement = insert(table, [*values]).replace("INSERT", "INSERT OR IGNORE", 1)
        connection.execute(statement, (*values.values(),))
    search.add_context(connection, context_id)
    connection.execute("DELETE FROM deleted_rows WHERE context_id=?", (context_id,))


def purge_trash(connection: sqlite3.Connection, deadline: str) -> list[str]:
    """Drop what was deleted before this time; return the ids of those contexts."""
    sql = "SELECT DISTINCT context_id FROM deleted_rows WHERE deleted_at<?"
    ids = [row[0] for row in connection.execute(sql, (deadline,))]
    connection.execute("DELETE FROM deleted_rows WHERE deleted_at<?", (deadline,))
    return ids
