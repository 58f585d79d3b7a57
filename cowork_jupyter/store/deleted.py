"""Conversations that were deleted a moment ago, and can still be brought back.

All rows of a deleted context leave their tables, so that no query has to know of it: they wait in
a table of their own, as JSON, until they are put back or the time is up.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from . import search
from .rows import insert, to_json

CREATE = (
    "CREATE TABLE deleted_rows (context_id TEXT NOT NULL, deleted_at TEXT NOT NULL,"
    " table_name TEXT NOT NULL, row TEXT NOT NULL)",  # JSON: value by column
    "CREATE INDEX deleted_rows_by_context ON deleted_rows (context_id)",
)
LIST = (
    "SELECT row, deleted_at FROM deleted_rows WHERE table_name='contexts'"
    " ORDER BY deleted_at DESC, rowid DESC"
)
_CHILDREN = (
    'SELECT found.name, key."from" FROM sqlite_master AS found'
    " JOIN pragma_foreign_key_list(found.name) AS key"
    " WHERE found.type='table' AND key.\"table\"='contexts' ORDER BY found.name"
)


def set_aside(connection: sqlite3.Connection, context_id: str, deleted_at: str) -> None:
    """Take a context out of all tables."""
    for table, key in _tables(connection):
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


def put_back(connection: sqlite3.Connection, context_id: str) -> None:
    """Bring a context back as it was.

    A change of a cell is left out if an undecided one of the same cell was made meanwhile.
    """
    sql = "SELECT table_name, row FROM deleted_rows WHERE context_id=? ORDER BY rowid"
    for table, row in connection.execute(sql, (context_id,)):
        values = json.loads(row)
        statement = insert(table, [*values]).replace("INSERT", "INSERT OR IGNORE", 1)
        connection.execute(statement, (*values.values(),))
    search.add_context(connection, context_id)
    connection.execute("DELETE FROM deleted_rows WHERE context_id=?", (context_id,))


def remove_older(connection: sqlite3.Connection, deadline: str) -> list[str]:
    """Forget for good what was deleted before this time; gives the ids of those contexts."""
    sql = "SELECT DISTINCT context_id FROM deleted_rows WHERE deleted_at<?"
    ids = [row[0] for row in connection.execute(sql, (deadline,))]
    connection.execute("DELETE FROM deleted_rows WHERE deleted_at<?", (deadline,))
    return ids


def _tables(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Each with the column that says whose its rows are; parents first."""
    yield "contexts", "id"
    yield from connection.execute(_CHILDREN).fetchall()
