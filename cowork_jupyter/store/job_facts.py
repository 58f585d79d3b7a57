"""Version 4: jobs say what they are, tasks who works on them, and a context has many plans.

Before, all this was derived from messages and events each time it was needed. It is derived
here once more, for what is stored already.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from ..domain.identity import new_id

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


def add_job_facts(connection: sqlite3.Connection) -> None:
    """Add the columns, and fill them from what the log says."""
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
        first = _first_message(connection, job["id"])
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


def _first_message(connection: sqlite3.Connection, job_id: str) -> Any:
    sql = "SELECT * FROM messages WHERE job_id=? AND role='user' ORDER BY seq LIMIT 1"
    return connection.execute(sql, (job_id,)).fetchone()


def _text(message: Any) -> str:
    if message is None:
        return ""
    parts = json.loads(message["content"])
    return "".join(part.get("text", "") for part in parts if part.get("type") == "text").strip()


def _split_plans(connection: sqlite3.Connection) -> None:
    """A plan that a cell asked for is a plan of its own; edits and discussions revise it.

    Revisions keep their numbers, because messages name them.
    """
    made_by = _makers(connection)
    plan_id, context_id, request = "", "", ""
    rows = connection.execute("SELECT * FROM old_plans ORDER BY context_id, revision").fetchall()
    for row in rows:
        job = made_by.get((row["context_id"], row["revision"]))
        if row["context_id"] != context_id or (job is not None and job["cell_id"]):
            plan_id, context_id = new_id("plan"), row["context_id"]
            request = job["request"] if job is not None else ""
        connection.execute(
            "INSERT INTO plans (context_id, plan_id, revision, plan, made_at, files_read, request,"
            ' job_id, "by", change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            (
                context_id,
                plan_id,
                row["revision"],
                row["plan"],
                row["made_at"],
                row["files_read"],
                request,
                job["id"] if job is not None else None,
                "planner" if job is not None else "person",
                "",
            ),
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
    """Tell the jobs that executed a revision, or made it, which plan it belongs to."""
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
    """The job that first showed each revision; an edit was no job's."""
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
    """Who worked on a delegated task stands in its assignment."""
    connection.execute(
        "UPDATE tasks SET role=COALESCE((SELECT agent_role FROM messages"
        " WHERE messages.task_id=tasks.id AND message_type='task_assignment'"
        " AND agent_role IS NOT NULL ORDER BY seq LIMIT 1), 'actor')"
    )
