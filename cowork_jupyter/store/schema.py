"""The tables as of version 2; migrations add the rest.

`seq` is the position of an event in its context. A message has the position of the event that
announced it, so one cursor serves both, and that event needs no copy of the message.
"""

from __future__ import annotations

TABLES = (
    """
    CREATE TABLE contexts (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        notebook TEXT,
        role TEXT,
        model TEXT,
        system_prompt_id TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE events (
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        type TEXT NOT NULL,
        job_id TEXT,
        task_id TEXT,
        data TEXT, -- JSON; NULL for a message, which is in `messages`
        created_at TEXT NOT NULL,
        PRIMARY KEY (context_id, seq)
    )
    """,
    """
    CREATE TABLE messages (
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
    "CREATE INDEX messages_by_job ON messages (job_id, seq) WHERE job_id IS NOT NULL",
    "CREATE INDEX messages_by_task ON messages (task_id, seq) WHERE task_id IS NOT NULL",
    """
    CREATE TABLE jobs (
        id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        status TEXT NOT NULL,
        error TEXT,
        usage TEXT NOT NULL, -- JSON
        created_at TEXT NOT NULL,
        completed_at TEXT,
        owner TEXT -- the process that runs it
    )
    """,
    "CREATE INDEX jobs_by_context ON jobs (context_id)",
    "CREATE INDEX jobs_by_status ON jobs (status)",
    """
    CREATE TABLE tasks (
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
        completed_at TEXT
    )
    """,
    "CREATE INDEX tasks_by_job ON tasks (job_id)",
    "CREATE INDEX tasks_by_context ON tasks (context_id)",
    *(
        statement
        for table in ("questions", "permissions")
        for statement in (
            f"""
            CREATE TABLE {table} (
                id TEXT NOT NULL PRIMARY KEY,
                context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
                job_id TEXT,
                task_id TEXT,
                status TEXT NOT NULL,
                data TEXT NOT NULL, -- JSON
                answer TEXT, -- JSON
                created_at TEXT NOT NULL,
                resolved_at TEXT
            )
            """,
            f"CREATE INDEX {table}_by_context ON {table} (context_id, status)",
        )
    ),
    """
    CREATE TABLE plans (
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        revision INTEGER NOT NULL,
        plan TEXT NOT NULL, -- JSON
        made_at TEXT NOT NULL,
        files_read TEXT NOT NULL, -- JSON: fingerprint by path
        PRIMARY KEY (context_id, revision)
    )
    """,
    """
    CREATE TABLE checkpoints (
        id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        job_id TEXT,
        task_id TEXT,
        data TEXT NOT NULL, -- JSON
        created_at TEXT NOT NULL
    )
    """,
    "CREATE INDEX checkpoints_by_context ON checkpoints (context_id)",
)
