"""Migrations 1, 2 and 4: databases from before roles and events.

They hold conversations as `messages` with a `session_id`, sometimes `tasks` and `contexts`; any
later column may be missing. A new file takes the same path with empty tables, so this code runs
every day.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, get_args

from ..domain.contexts import StepStatus
from ..domain.identity import new_id, now
from ..domain.messages import MessageRole, MessageType
from ..domain.roles import AgentRole
from .rows import insert, to_json
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
    for statement in _LEGACY_TABLES:
        connection.execute(statement)


def move_legacy_rows(connection: sqlite3.Connection) -> None:
    """Version 2: move everything into the tables of `schema.py`."""
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


def _insert(connection: sqlite3.Connection, table: str, **values: Any) -> None:
    connection.execute(insert(table, [*values]), (*values.values(),))


def _context_of(row: Row) -> str:
    return str(row.get("session_id") or row.get("context_id") or "legacy")


def _move_contexts(
    connection: sqlite3.Connection, contexts: list[Row], others: Iterable[Row]
) -> None:
    """Also creates a context for each session known only from its messages."""
    known = {str(row["id"]): row for row in contexts}
    for row in others:
        known.setdefault(_context_of(row), {"created_at": row["created_at"]})
    for context_id, row in known.items():
        _insert(
            connection,
            "contexts",
            id=context_id,
            title=row.get("title") or "",
            notebook=row.get("notebook"),
            role=row["role"] if row.get("role") in set(AgentRole) else None,
            model=row.get("model"),
            system_prompt_id=row.get("system_prompt_id") or "default",
            created_at=row["created_at"],
            updated_at=row.get("updated_at") or row["created_at"],
        )


def _move_messages(connection: sqlite3.Connection, messages: list[Row]) -> None:
    """Each message with the event that would have announced it."""
    places: dict[str, int] = {}
    for row in messages:
        context_id = _context_of(row)
        seq = places[context_id] = places.get(context_id, 0) + 1
        place = {"context_id": context_id, "seq": seq, "created_at": row["created_at"]}
        _insert(
            connection,
            "messages",
            id=str(row["id"]),
            role=row["role"] if row["role"] in get_args(MessageRole) else "system",
            message_type=_type_of(row),
            content=to_json([{"type": "text", "text": str(row["content"])}]),
            data=to_json(_data_of(row)),
            **place,
        )
        _insert(connection, "events", type="message", **place)


def _type_of(row: Row) -> str | None:
    """None, which reads as text, if there is no such type any more."""
    kind = row.get("message_type")
    return kind if kind in set(MessageType) else None


def _data_of(row: Row) -> Row:
    """The metadata, plus old columns that have no place of their own any more."""
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
    """The tasks, and their jobs, which had no table."""
    for row in tasks:
        context_id = _context_of(row)
        job_id = str(row.get("job_id") or f"legacy-{context_id}")
        status = str(row["status"]).lower()
        if status not in set(StepStatus) or status in ("running", "waiting"):
            status = StepStatus.INTERRUPTED.value
        _add_job(connection, job_id, context_id, status, row["created_at"])
        _insert(
            connection,
            "tasks",
            id=str(row["id"]),
            job_id=job_id,
            context_id=context_id,
            step_id=str(row["id"]),
            description=row["description"],
            status=status,
            dependencies=to_json(_dependencies_of(row)),
            result=row.get("result"),
            error=row.get("error"),
            created_at=row["created_at"],
            completed_at=row.get("completed_at"),
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
    """Insert the job once; it was completed if all its tasks were."""
    job_status = "completed" if status == "completed" else "interrupted"
    connection.execute(
        "INSERT INTO jobs (id, context_id, status, usage, created_at) VALUES (?, ?, ?, '{}', ?)"
        " ON CONFLICT(id) DO UPDATE SET status=excluded.status WHERE status='completed'",
        (job_id, context_id, job_status, made),
    )


_COLUMNS = (
    "ALTER TABLE jobs ADD COLUMN kind TEXT NOT NULL DEFAULT 'message'",
    "ALTER TABLE jobs ADD COLUMN role TEXT",
    "ALTER TABLE jobs ADD COLUMN request TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE jobs ADD COLUMN plan_id TEXT",
    "ALTER TABLE jobs ADD COLUMN plan_revision INTEGER",
    "ALTER TABLE jobs ADD COLUMN notebook TEXT",
    "ALTER TABLE jobs ADD COLUMN cell_id TEXT",
    "ALTER TABLE jobs ADD COLUMN \"by\" TEXT NOT NULL DEFAULT 'person'",
    "ALTER TABLE jobs ADD COLUMN card_id TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE tasks ADD COLUMN role TEXT NOT NULL DEFAULT 'actor'",
    "ALTER TABLE plans RENAME TO old_plans",
    """
    CREATE TABLE plans (
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        plan_id TEXT NOT NULL,
        revision INTEGER NOT NULL,
        plan TEXT NOT NULL, -- JSON
        made_at TEXT NOT NULL,
        files_read TEXT NOT NULL, -- JSON: fingerprint by path
        request TEXT NOT NULL,
        job_id TEXT,
        "by" TEXT NOT NULL,
        change TEXT NOT NULL,
        PRIMARY KEY (plan_id, revision)
    )
    """,
    "CREATE INDEX plans_by_context ON plans (context_id)",
    "CREATE INDEX jobs_by_card ON jobs (card_id)",
    "CREATE INDEX jobs_by_plan ON jobs (plan_id) WHERE plan_id IS NOT NULL",
)


_FIRST_MESSAGE = "SELECT * FROM messages WHERE job_id=? AND role='user' ORDER BY seq LIMIT 1"


def add_job_facts(connection: sqlite3.Connection) -> None:
    """Version 4: jobs get a kind and a plan, tasks a role, and a context can have many plans."""
    for statement in _COLUMNS:
        connection.execute(statement)
    _describe_jobs(connection)
    _split_plans(connection)
    _describe_tasks(connection)
    connection.execute("DROP TABLE old_plans")


def _describe_jobs(connection: sqlite3.Connection) -> None:
    sql = (
        "SELECT jobs.id, contexts.role AS context_role, contexts.notebook FROM jobs"
        " JOIN contexts ON contexts.id=jobs.context_id"
    )
    for job in connection.execute(sql).fetchall():
        first = connection.execute(_FIRST_MESSAGE, (job["id"],)).fetchone()
        data = json.loads(first["data"]) if first else {}
        revision = data.get("approved_revision")
        kind = "guest" if "guest" in data else "plan" if revision else "message"
        asked = first["agent_role"] if first else None
        connection.execute(
            "UPDATE jobs SET kind=?, role=?, request=?, plan_revision=?, notebook=?, cell_id=?,"
            ' "by"=?, card_id=id WHERE id=?',
            (
                kind,
                "actor" if kind == "plan" else asked or job["context_role"],
                _text(first) if kind != "plan" else "",
                revision if kind == "plan" else None,
                job["notebook"],
                data.get("cell_id"),
                "guest" if kind == "guest" else "person",
                job["id"],
            ),
        )


def _text(message: Any) -> str:
    if message is None:
        return ""
    parts = json.loads(message["content"])
    return "".join(part.get("text", "") for part in parts if part.get("type") == "text").strip()


def _split_plans(connection: sqlite3.Connection) -> None:
    """A plan requested by a cell is separate; edits and discussions revise it.

    Revisions keep their numbers, because messages refer to them.
    """
    made_by = _makers(connection)
    plan_id, context_id, request = "", "", ""
    rows = connection.execute("SELECT * FROM old_plans ORDER BY context_id, revision").fetchall()
    for row in rows:
        job = made_by.get((row["context_id"], row["revision"]))
        if row["context_id"] != context_id or (job is not None and job["cell_id"]):
            plan_id, context_id = new_id("plan"), row["context_id"]
            request = job["request"] if job is not None else ""
        kept = {name: row[name] for name in ("revision", "plan", "made_at", "files_read")}
        _insert(
            connection,
            "plans",
            context_id=context_id,
            plan_id=plan_id,
            request=request,
            job_id=job["id"] if job is not None else None,
            by="planner" if job is not None else "person",
            change="",
            **kept,
        )
        _name_plan(connection, context_id, row["revision"], plan_id, request, job)


def _name_plan(
    connection: sqlite3.Connection,
    context_id: str,
    revision: int,
    plan_id: str,
    request: str,
    maker: Any,
) -> None:
    """Tell the jobs that made or executed a revision which plan it belongs to."""
    connection.execute(
        "UPDATE jobs SET plan_id=?, request=?"
        " WHERE context_id=? AND kind='plan' AND plan_revision=?",
        (plan_id, request, context_id, revision),
    )
    if maker is not None:
        connection.execute(
            "UPDATE jobs SET plan_id=?, plan_revision=? WHERE id=? AND kind='message'",
            (plan_id, revision, maker["id"]),
        )


def _makers(connection: sqlite3.Connection) -> dict[tuple[str, int], Any]:
    """The job that first showed each revision; edits belong to no job."""
    sql = (
        "SELECT context_id, job_id, json_extract(data, '$.revision') AS revision FROM events"
        " WHERE type='plan-update' ORDER BY context_id, seq"
    )
    makers: dict[tuple[str, int], Any] = {}
    for event in connection.execute(sql).fetchall():
        key = (event["context_id"], event["revision"])
        if key not in makers:
            found = connection.execute("SELECT * FROM jobs WHERE id=?", (event["job_id"],))
            makers[key] = found.fetchone()
    return makers


def _describe_tasks(connection: sqlite3.Connection) -> None:
    """The role of a delegated task is in its assignment."""
    connection.execute(
        "UPDATE tasks SET role=COALESCE((SELECT agent_role FROM messages"
        " WHERE messages.task_id=tasks.id AND message_type='task_assignment'"
        " AND agent_role IS NOT NULL ORDER BY seq LIMIT 1), 'actor')"
    )
