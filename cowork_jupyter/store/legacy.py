"""Databases from before roles and events, and how they become ours.

They hold conversations as `messages` with a `session_id`, sometimes `tasks` and
`contexts`; any column that later times added may be missing. A new file takes the same
way with empty tables, so this path is walked every day.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, get_args

from ..domain.contexts import StepStatus
from ..domain.identity import now
from ..domain.messages import MessageRole, MessageType
from ..domain.roles import AgentRole
from .rows import to_json
from .schema import TABLES

Row = dict[str, Any]

_LEGACY_TABLES = (
    "CREATE TABLE IF NOT EXISTS contexts (id TEXT PRIMARY KEY, title TEXT,"
    " created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)",
    "CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,"
    " role TEXT NOT NULL, content TEXT NOT NULL, metadata_json TEXT, message_type TEXT,"
    " created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)",
    "CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,"
    " job_id TEXT, description TEXT NOT NULL, status TEXT NOT NULL, dependencies TEXT,"
    " result TEXT, error TEXT, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
    " completed_at TIMESTAMP)",
)


def create_legacy_tables(connection: sqlite3.Connection) -> None:
    """Version 1: whichever of the old tables is missing."""
    for statement in _LEGACY_TABLES:
        connection.execute(statement)


def move_legacy_rows(connection: sqlite3.Connection) -> None:
    """Version 2: the tables of `schema.py`, with everything the old ones held."""
    for table in ("contexts", "messages", "tasks"):
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    for statement in TABLES:
        connection.execute(statement)
    messages, tasks = _old(connection, "messages"), _old(connection, "tasks")
    _move_contexts(connection, _old(connection, "contexts"), [*messages, *tasks])
    _move_messages(connection, messages)
    _move_tasks(connection, tasks)
    for table in ("contexts", "messages", "tasks"):
        connection.execute(f"DROP TABLE old_{table}")


def _old(connection: sqlite3.Connection, table: str) -> list[Row]:
    """All rows, oldest first, with times as they are written now."""
    rows = connection.execute(f"SELECT * FROM old_{table} ORDER BY rowid")  # noqa: S608
    names = [column[0] for column in rows.description]
    found = [dict(zip(names, row, strict=True)) for row in rows]
    return [{**row, "created_at": _time(row.get("created_at"))} for row in found]


def _time(value: Any) -> str:
    """`CURRENT_TIMESTAMP` was UTC without saying so."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return now()
    moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _context_of(row: Row) -> str:
    return str(row.get("session_id") or row.get("context_id") or "legacy")


def _move_contexts(
    connection: sqlite3.Connection, contexts: list[Row], others: Iterable[Row]
) -> None:
    """The contexts, and one for each session that is only known from its messages."""
    known = {str(row["id"]): row for row in contexts}
    for row in others:
        known.setdefault(_context_of(row), {"created_at": row["created_at"]})
    for context_id, row in known.items():
        made = row["created_at"]
        values = (
            context_id,
            row.get("title") or "",
            row.get("notebook"),
            row["role"] if row.get("role") in set(AgentRole) else None,
            row.get("model"),
            row.get("system_prompt_id") or "default",
            made,
            row.get("updated_at") or made,
        )
        connection.execute(
            "INSERT INTO contexts (id, title, notebook, role, model, system_prompt_id, created_at,"
            " updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )


def _move_messages(connection: sqlite3.Connection, messages: list[Row]) -> None:
    """The messages, each with the event that would have announced it."""
    places: dict[str, int] = {}
    for row in messages:
        context_id = _context_of(row)
        seq = places[context_id] = places.get(context_id, 0) + 1
        made = row["created_at"]
        role = row["role"] if row["role"] in get_args(MessageRole) else "system"
        connection.execute(
            "INSERT INTO messages (id, context_id, seq, role, message_type, content, data,"
            " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                str(row["id"]),
                context_id,
                seq,
                role,
                _type_of(row),
                to_json([{"type": "text", "text": str(row["content"])}]),
                to_json(_data_of(row)),
                made,
            ),
        )
        connection.execute(
            "INSERT INTO events (context_id, seq, type, created_at) VALUES (?, ?, 'message', ?)",
            (context_id, seq, made),
        )


def _type_of(row: Row) -> str | None:
    """The type if there still is such a one; else none, which reads as text."""
    kind = row.get("message_type")
    return kind if kind in set(MessageType) else None


def _data_of(row: Row) -> Row:
    """The metadata, and what of the old row has no place of its own any more."""
    raw = row.get("metadata_json")
    try:
        data = json.loads(raw) if raw else {}
    except ValueError:
        data = {"metadata": raw}
    data = data if isinstance(data, dict) else {"metadata": data}
    if row.get("message_type") not in (None, "", "normal") and _type_of(row) is None:
        data["legacy_type"] = row["message_type"]
    if row["role"] not in get_args(MessageRole):
        data["legacy_role"] = row["role"]
    return data


def _move_tasks(connection: sqlite3.Connection, tasks: list[Row]) -> None:
    """The tasks, and the jobs they were part of, which had no table."""
    for row in tasks:
        context_id = _context_of(row)
        job_id = str(row.get("job_id") or f"legacy-{context_id}")
        status = str(row["status"]).lower()
        if status not in set(StepStatus) or status in ("running", "waiting"):
            status = StepStatus.INTERRUPTED.value
        made = row["created_at"]
        _add_job(connection, job_id, context_id, status, made)
        connection.execute(
            "INSERT INTO tasks (id, job_id, context_id, step_id, description, status, dependencies,"
            " result, error, created_at, completed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                str(row["id"]),
                job_id,
                context_id,
                str(row["id"]),
                row["description"],
                status,
                to_json(_dependencies_of(row)),
                row.get("result"),
                row.get("error"),
                made,
                row.get("completed_at"),
            ),
        )


def _dependencies_of(row: Row) -> list[str]:
    try:
        found = json.loads(row.get("dependencies") or "[]")
    except ValueError:
        return []
    return [str(item) for item in found] if isinstance(found, list) else []


def _add_job(
    connection: sqlite3.Connection, job_id: str, context_id: str, status: str, made: str
) -> None:
    """The job once; it was completed if every task of it was."""
    job_status = "completed" if status == "completed" else "interrupted"
    connection.execute(
        "INSERT INTO jobs (id, context_id, status, usage, created_at) VALUES (?, ?, ?, '{}', ?)"
        " ON CONFLICT(id) DO UPDATE SET status=excluded.status WHERE status='completed'",
        (job_id, context_id, job_status, made),
    )
