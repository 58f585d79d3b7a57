"""The tables of the record.

`seq` is the position of an event in its context. A message has the position of the event that
announced it, so one cursor serves both, and that event needs no copy of the message.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing

TABLES = (
    """
    CREATE TABLE IF NOT EXISTS contexts (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        notebook TEXT,
        role TEXT,
        model TEXT,
        system_prompt_id TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        pinned INTEGER NOT NULL DEFAULT 0
    )
    """,
    # For users who may see only their own.
    """
    CREATE TABLE IF NOT EXISTS owners (
        context_id TEXT NOT NULL PRIMARY KEY REFERENCES contexts(id) ON DELETE CASCADE,
        owner TEXT NOT NULL,
        kernel_id TEXT -- whose code made the context
    )
    """,
    # The folder in which a conversation was started.
    """
    CREATE TABLE IF NOT EXISTS workspaces (
        context_id TEXT NOT NULL PRIMARY KEY REFERENCES contexts(id) ON DELETE CASCADE,
        folder TEXT NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS workspaces_by_folder ON workspaces (folder)",
    """
    CREATE TABLE IF NOT EXISTS events (
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        type TEXT NOT NULL,
        job_id TEXT,
        task_id TEXT,
        data TEXT, -- JSON; NULL for a message, which is in `messages`
        created_at TEXT NOT NULL,
        pieces TEXT, -- JSON: of streamed text, see `folding.py`
        PRIMARY KEY (context_id, seq)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS messages (
        id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        job_id TEXT,
        task_id TEXT,
        role TEXT NOT NULL,
        agent_role TEXT,
        message_type TEXT,
        content TEXT NOT NULL, -- JSON, whole
        data TEXT NOT NULL, -- JSON
        created_at TEXT NOT NULL,
        UNIQUE (context_id, seq)
    )
    """,
    "CREATE INDEX IF NOT EXISTS messages_by_job ON messages (job_id, seq) WHERE job_id IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS messages_by_task ON messages (task_id, seq)"
    " WHERE task_id IS NOT NULL",
    """
    CREATE TABLE IF NOT EXISTS queued_messages (
        id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        content TEXT NOT NULL,
        created_at TEXT NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS queued_in_context ON queued_messages (context_id)",
    """
    CREATE TABLE IF NOT EXISTS jobs (
        id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        status TEXT NOT NULL,
        error TEXT,
        usage TEXT NOT NULL, -- JSON
        created_at TEXT NOT NULL,
        completed_at TEXT,
        owner TEXT, -- the process that runs it
        kind TEXT NOT NULL DEFAULT 'message',
        role TEXT,
        request TEXT NOT NULL DEFAULT '',
        plan_id TEXT,
        plan_revision INTEGER,
        notebook TEXT,
        cell_id TEXT,
        "by" TEXT NOT NULL DEFAULT 'person',
        card_id TEXT NOT NULL DEFAULT '',
        worked_seconds REAL NOT NULL DEFAULT 0,
        working_since TEXT,
        final_response TEXT
    )
    """,
    "CREATE INDEX IF NOT EXISTS jobs_by_context ON jobs (context_id)",
    "CREATE INDEX IF NOT EXISTS jobs_by_status ON jobs (status)",
    "CREATE INDEX IF NOT EXISTS jobs_by_card ON jobs (card_id)",
    "CREATE INDEX IF NOT EXISTS jobs_by_plan ON jobs (plan_id) WHERE plan_id IS NOT NULL",
    """
    CREATE TABLE IF NOT EXISTS tasks (
        id TEXT NOT NULL PRIMARY KEY,
        job_id TEXT NOT NULL,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        step_id TEXT NOT NULL,
        description TEXT NOT NULL,
        status TEXT NOT NULL,
        dependencies TEXT NOT NULL, -- JSON
        result TEXT,
        error TEXT,
        created_at TEXT NOT NULL,
        completed_at TEXT,
        role TEXT NOT NULL DEFAULT 'actor',
        round INTEGER NOT NULL DEFAULT 0,
        findings TEXT NOT NULL DEFAULT '',
        worked_seconds REAL NOT NULL DEFAULT 0,
        working_since TEXT
    )
    """,
    "CREATE INDEX IF NOT EXISTS tasks_by_job ON tasks (job_id)",
    "CREATE INDEX IF NOT EXISTS tasks_by_context ON tasks (context_id)",
    """
    CREATE TABLE IF NOT EXISTS inquiries (
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
    """,
    "CREATE INDEX IF NOT EXISTS inquiries_by_status ON inquiries (status, context_id)",
    "CREATE INDEX IF NOT EXISTS inquiries_by_job ON inquiries (job_id)",
    """
    CREATE TABLE IF NOT EXISTS plans (
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
    "CREATE INDEX IF NOT EXISTS plans_by_context ON plans (context_id)",
    """
    CREATE TABLE IF NOT EXISTS checkpoints (
        id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        job_id TEXT,
        task_id TEXT,
        data TEXT NOT NULL, -- JSON
        created_at TEXT NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS checkpoints_by_context ON checkpoints (context_id)",
    """
    CREATE TABLE IF NOT EXISTS cell_changes (
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
    """,
    "CREATE UNIQUE INDEX IF NOT EXISTS pending_cell_changes ON cell_changes (notebook, cell_id)"
    " WHERE decision IS NULL",
    # Runs that may have taught something worth remembering.
    """
    CREATE TABLE IF NOT EXISTS memory_offers (
        job_id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        workspace TEXT NOT NULL,
        status TEXT NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS memory_offers_by_workspace ON memory_offers (workspace)",
    # Deleted contexts that can be restored, see `retention.py`.
    """
    CREATE TABLE IF NOT EXISTS deleted_rows (
        context_id TEXT NOT NULL,
        deleted_at TEXT NOT NULL,
        table_name TEXT NOT NULL,
        row TEXT NOT NULL -- JSON: value by column
    )
    """,
    "CREATE INDEX IF NOT EXISTS deleted_rows_by_context ON deleted_rows (context_id)",
    # The search index and its words, see `search.py`.
    "CREATE VIRTUAL TABLE IF NOT EXISTS said USING fts5(words, content='', columnsize=0,"
    " detail=none, tokenize='trigram case_sensitive 1')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS said_grams USING fts5vocab(said, row)",
)


def add_missing(connection: sqlite3.Connection, statements: Sequence[str]) -> None:
    """Add the tables, columns and indexes that a file does not have yet; rows stay as they are."""
    with closing(sqlite3.connect(":memory:")) as complete:
        for statement in statements:
            complete.execute(statement)
        for (table,) in complete.execute("SELECT name FROM sqlite_master WHERE type='table'"):
            present = {name for name, _ in _columns(connection, table)}
            for name, definition in _columns(complete, table) if present else ():
                if name not in present:
                    connection.execute(f"ALTER TABLE {table} ADD COLUMN {definition}")
    for statement in statements:
        connection.execute(statement)


def _columns(connection: sqlite3.Connection, table: str) -> Iterator[tuple[str, str]]:
    """Each with its definition, which for all that was ever added is a type and a default."""
    for _, name, kind, not_null, default, _ in connection.execute(f"PRAGMA table_info({table})"):
        yield name, f'"{name}" {kind}' + (f" NOT NULL DEFAULT {default}" if not_null else "")
