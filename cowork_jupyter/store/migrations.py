"""Migrates a database to the newest version.

`PRAGMA user_version` counts the migrations a file has had. All missing ones run in one transaction,
so a file is never between two versions, and of two processes that open an old file at once the
second finds the work done. Migrations are only ever added.
"""

from __future__ import annotations

import glob
import json
import logging
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from .connection import create_private
from .errors import StoreError
from .folding import fold_all
from .legacy import add_job_facts, create_legacy_tables, move_legacy_rows
from .retention import CREATE_DELETED_ROWS
from .search import create_index

logger = logging.getLogger(__name__)

MAX_COPIED_BYTES = 200 * 1024 * 1024
"""Larger files are upgraded without a backup, which would take long, and much space."""

Migration = Callable[[sqlite3.Connection], None]


def add_owners(connection: sqlite3.Connection) -> None:
    """The owner of a context, for users who may see only their own. Older ones are nobody's."""
    connection.execute(
        "CREATE TABLE owners (context_id TEXT NOT NULL PRIMARY KEY"
        " REFERENCES contexts(id) ON DELETE CASCADE, owner TEXT NOT NULL)"
    )


def mark_answers(connection: sqlite3.Connection) -> None:
    """Answers were texts made of question and value; now they refer to the question."""
    answered = connection.execute(
        "SELECT id, job_id, data, answer FROM questions WHERE status='answered'"
    ).fetchall()
    for question_id, job_id, data, answer in answered:
        asked, value = json.loads(data), json.loads(answer)["value"]
        labels = {option["value"]: option["label"] for option in asked.get("options", [])}
        facts = {
            "question_id": question_id,
            "question": asked["question"],
            "value": value,
            "label": labels.get(value, value),
        }
        connection.execute(
            "UPDATE messages SET content=?, data=? WHERE job_id=?"
            " AND role='user' AND message_type='text' AND json_extract(content, '$[0].text')=?",
            (
                json.dumps([{"type": "text", "text": value}]),
                json.dumps({"answer": facts}),
                job_id,
                f"Answer to “{asked['question']}”: {value}",
            ),
        )


def add_cell_changes(connection: sqlite3.Connection) -> None:
    connection.execute(
        """
        CREATE TABLE cell_changes (
            id TEXT NOT NULL PRIMARY KEY,
            context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
            job_id TEXT,
            notebook TEXT NOT NULL,
            cell_id TEXT NOT NULL,
            before TEXT, -- JSON
            after TEXT, -- JSON
            moved INTEGER NOT NULL,
            above TEXT,
            decision TEXT,
            created_at TEXT NOT NULL,
            decided_at TEXT
        )
        """
    )
    connection.execute(
        "CREATE UNIQUE INDEX pending_cell_changes ON cell_changes (notebook, cell_id)"
        " WHERE decision IS NULL"
    )


def merge_inquiries(connection: sqlite3.Connection) -> None:
    """Merge questions and permission requests into one table.

    Open questions of older versions are withdrawn: those did not record who could resume them.
    """
    connection.execute(
        """
        CREATE TABLE inquiries (
            id TEXT NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL, -- question or permission
            context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
            job_id TEXT,
            task_id TEXT,
            asker TEXT NOT NULL,
            status TEXT NOT NULL,
            data TEXT NOT NULL, -- JSON
            answer TEXT, -- JSON
            used INTEGER NOT NULL,
            created_at TEXT NOT NULL,
            resolved_at TEXT
        )
        """
    )
    connection.execute(
        """
        INSERT INTO inquiries
        SELECT id, 'question' AS kind, context_id, job_id, task_id, '',
            replace(status, 'pending', 'withdrawn'), data, answer, 1, created_at, resolved_at
        FROM questions
        UNION ALL
        SELECT id, 'permission', context_id, job_id, task_id, '', status, data,
            json_remove(answer, '$.used'), coalesce(json_extract(answer, '$.used'), 0),
            created_at, resolved_at
        FROM permissions
        ORDER BY created_at
        """
    )
    connection.execute("DROP TABLE questions")
    connection.execute("DROP TABLE permissions")
    connection.execute("CREATE INDEX inquiries_by_status ON inquiries (status, context_id)")
    connection.execute("CREATE INDEX inquiries_by_job ON inquiries (job_id)")


def add_queue(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE queued_messages (id TEXT NOT NULL PRIMARY KEY, context_id TEXT NOT NULL"
        " REFERENCES contexts(id) ON DELETE CASCADE, content TEXT NOT NULL,"
        " created_at TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX queued_in_context ON queued_messages (context_id)")


def add_pins_and_undo(connection: sqlite3.Connection) -> None:
    """Pinned conversations, and deleted ones that can be restored."""
    connection.execute("ALTER TABLE contexts ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0")
    for statement in CREATE_DELETED_ROWS:
        connection.execute(statement)


def add_rounds(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE tasks ADD COLUMN round INTEGER NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE tasks ADD COLUMN findings TEXT NOT NULL DEFAULT ''")


def add_memory_offers(connection: sqlite3.Connection) -> None:
    """Runs that may have taught something worth remembering."""
    connection.execute(
        "CREATE TABLE memory_offers (job_id TEXT NOT NULL PRIMARY KEY, context_id TEXT NOT NULL"
        " REFERENCES contexts(id) ON DELETE CASCADE, workspace TEXT NOT NULL,"
        " status TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX memory_offers_by_workspace ON memory_offers (workspace)")


def add_workspaces(connection: sqlite3.Connection) -> None:
    """The folder in which a conversation was started; unknown for older ones."""
    connection.execute(
        "CREATE TABLE workspaces (context_id TEXT NOT NULL PRIMARY KEY"
        " REFERENCES contexts(id) ON DELETE CASCADE, folder TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX workspaces_by_folder ON workspaces (folder)")


def add_working_time(connection: sqlite3.Connection) -> None:
    """Working time, and a job's last words. Older jobs only know when they began and ended."""
    for table in ("jobs", "tasks"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN worked_seconds REAL NOT NULL DEFAULT 0")
        connection.execute(f"ALTER TABLE {table} ADD COLUMN working_since TEXT")
    connection.execute("ALTER TABLE jobs ADD COLUMN final_response TEXT")
    connection.execute(
        "UPDATE jobs SET worked_seconds=round(max(0.0,"
        " (julianday(completed_at) - julianday(created_at)) * 86400), 3)"
        " WHERE julianday(completed_at) IS NOT NULL AND julianday(created_at) IS NOT NULL"
    )


def keep_current_roles(connection: sqlite3.Connection) -> None:
    """The role that the next message goes to was derived from what ran last or was chosen since."""
    connection.execute(
        "UPDATE contexts SET role=COALESCE((SELECT"
        " IIF(message_type='role_change', agent_role, jobs.role) FROM messages"
        " LEFT JOIN jobs ON jobs.id=messages.job_id WHERE messages.context_id=contexts.id AND"
        " (message_type='role_change' OR jobs.kind IN ('message', 'plan', 'workflow'))"
        " ORDER BY seq DESC LIMIT 1), role)"
    )


def add_makers(connection: sqlite3.Connection) -> None:
    """The kernel whose code made a context; unknown for older ones."""
    connection.execute("ALTER TABLE owners ADD COLUMN kernel_id TEXT")


MIGRATIONS: tuple[Migration, ...] = (
    create_legacy_tables,
    move_legacy_rows,
    add_owners,
    add_job_facts,
    mark_answers,
    add_cell_changes,
    merge_inquiries,
    add_queue,
    add_pins_and_undo,
    add_rounds,
    add_memory_offers,
    fold_all,
    create_index,
    add_workspaces,
    add_working_time,
    keep_current_roles,
    add_makers,
)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection)
    if version == len(MIGRATIONS):
        return
    refuse_newer(connection, path)
    is_old = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
    if is_old:
        keep_copy(connection, path, version)
    connection.execute("BEGIN IMMEDIATE")
    try:
        _run_missing_steps(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if is_old:
        known = len(MIGRATIONS)
        logger.info("Upgraded the record at %s from version %d to %d.", path, version, known)


def keep_copy(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Back up the file of an older version, for downgrades."""
    copy = path.with_name(f"{path.name}.v{version}.bak")
    if copy.exists() or path.stat().st_size > MAX_COPIED_BYTES:
        return
    part = path.with_name(f"{copy.name}.{secrets.token_hex(4)}")
    try:
        create_private(part)
        with closing(sqlite3.connect(part)) as kept:
            connection.backup(kept)
        part.replace(copy)
    except (OSError, sqlite3.Error) as error:
        part.unlink(missing_ok=True)
        logger.warning("The record at %s is upgraded without a copy (%s).", path, error)


def copies_of(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{glob.escape(path.name)}.v*.bak"))


def refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    """Raise if a newer version of ours has written the file."""
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"The record at {path} was written by a newer cowork_jupyter (version {version} of its"
            f" format, this program knows {len(MIGRATIONS)}). Upgrade with"
            " `pip install -U cowork-jupyter`, or choose another file with Cowork.db_path.",
            code="store_newer",
            details={"path": str(path), "version": version, "known": len(MIGRATIONS)},
        )


def _run_missing_steps(connection: sqlite3.Connection, path: Path) -> None:
    refuse_newer(connection, path)
    for step in MIGRATIONS[_version(connection) :]:
        step(connection)
    connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
