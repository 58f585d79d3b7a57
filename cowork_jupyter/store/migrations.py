"""Brings the file to the newest version of its format: `PRAGMA user_version`.

A new file gets the tables of `schema.py`, an older one is imported into them. There are two kinds:
the records of released versions, which lack only tables, columns and what is computed from rows;
and chats from before roles and events, which are messages, and sometimes tasks and contexts, by
`session_id`.

All of it is one transaction, so a file is never between two versions: a killed import leaves it as
it was, and of two processes that open an old file at once the second finds the work done.
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
from typing import get_args

from ..domain.contexts import StepStatus
from ..domain.identity import now
from ..domain.messages import MessageRole, MessageType
from ..domain.roles import AgentRole
from . import search
from .database import StoreError, create_private
from .folding import fold_all
from .schema import TABLES, add_missing

logger = logging.getLogger(__name__)

MAX_COPIED_BYTES = 200 * 1024 * 1024
"""Larger files are upgraded without a backup, which would take long, and much space."""

BASELINE = 17
"""The version that `schema.py` describes, and to which older files are imported."""
MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = ()
"""Each takes a file from one version to the next, beginning with the baseline; new files have them
all, too. To change the format add one at the end, and never edit one that was released."""
CHATS = 0
"""The version of chats from before roles: they have none."""
OLDEST = 8
"""The record of 0.1.0. Versions before it were never released."""


def newest_version() -> int:
    return BASELINE + len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection)
    if version == newest_version():
        return
    refuse_unknown(connection, path)
    is_old = _has_tables(connection)
    if is_old:
        keep_copy(connection, path, version)
    connection.execute("BEGIN IMMEDIATE")
    try:
        refuse_unknown(connection, path)
        _bring_up_to_date(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if is_old:
        logger.info(
            "Upgraded the record at %s from version %d to %d.", path, version, newest_version()
        )


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    version = _version(connection)
    if not _has_tables(connection):
        add_missing(connection, TABLES)
    elif version < BASELINE:
        import_older(connection, version)
    for migration in MIGRATIONS[max(version - BASELINE, 0) :]:
        migration(connection)
    connection.execute(f"PRAGMA user_version={newest_version()}")


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


def refuse_unknown(connection: sqlite3.Connection, path: Path) -> None:
    """Raise if a newer version of ours has written the file, or one that was never released."""
    version, newest = _version(connection), newest_version()
    if version > newest:
        raise StoreError(
            f"The record at {path} was written by a newer cowork_jupyter (version {version} of its"
            f" format, this program knows {newest}). Upgrade with"
            " `pip install -U cowork-jupyter`, or choose another file with Cowork.db_path.",
            code="store_newer",
            details={"path": str(path), "version": version, "known": newest},
        )
    if CHATS < version < OLDEST:
        raise StoreError(
            f"The record at {path} was written by a cowork_jupyter from before 0.1.0 (version"
            f" {version} of its format). Open it once with cowork_jupyter 0.1.0, which upgrades"
            " it, or choose another file with Cowork.db_path.",
            code="store_older",
            details={"path": str(path), "version": version, "oldest": OLDEST},
        )


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


# --- older files


def import_older(connection: sqlite3.Connection, version: int) -> None:
    if version == CHATS:
        _import_chats(connection)
    else:
        _import_release(connection)
    for (context_id,) in connection.execute("SELECT id FROM contexts").fetchall():
        search.add_context(connection, context_id)


def _import_release(connection: sqlite3.Connection) -> None:
    for table in ("said_grams", "said"):  # made anew: not every version had it
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    add_missing(connection, TABLES)
    fold_all(connection)
    for statement in _NEW_FACTS:
        connection.execute(statement)


_NEW_FACTS = (
    # Older jobs only know when they began and ended.
    "UPDATE jobs SET worked_seconds=round(max(0.0,"
    " (julianday(completed_at) - julianday(created_at)) * 86400), 3)"
    " WHERE worked_seconds=0"
    " AND julianday(completed_at) IS NOT NULL AND julianday(created_at) IS NOT NULL",
    # The next message went to the role that ran last or was chosen since.
    "UPDATE contexts SET role=COALESCE((SELECT"
    " IIF(message_type='role_change', agent_role, jobs.role) FROM messages"
    " LEFT JOIN jobs ON jobs.id=messages.job_id WHERE messages.context_id=contexts.id AND"
    " (message_type='role_change' OR jobs.kind IN ('message', 'plan', 'workflow'))"
    " ORDER BY seq DESC LIMIT 1), role)",
)


def _import_chats(connection: sqlite3.Connection) -> None:
    """Values that mean nothing any more are replaced, and what they were is kept as data."""
    add_missing(connection, [f"CREATE TABLE IF NOT EXISTS {table}" for table in _CHAT_TABLES])
    for table in ("contexts", "messages", "tasks"):
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    add_missing(connection, TABLES)
    values = {
        "now": now(),
        "senders": json.dumps(get_args(MessageRole)),
        "types": json.dumps([*MessageType]),
        "roles": json.dumps([*AgentRole]),
        "statuses": json.dumps([*{*StepStatus} - {StepStatus.RUNNING, StepStatus.WAITING}]),
    }
    for statement in _MOVE_CHATS:
        connection.execute(statement, values)


_CHAT_TABLES = (
    "contexts (id, title, notebook, role, model, system_prompt_id, created_at, updated_at)",
    "messages (id, session_id, role, content, metadata_json, message_type, created_at)",
    "tasks (id, session_id, job_id, description, status, dependencies, result, error, created_at,"
    " completed_at)",
)
_SET_TIME = (  # `CURRENT_TIMESTAMP` was UTC without saying so
    "created_at=COALESCE(strftime('%Y-%m-%dT%H:%M:%fZ', created_at), :now)"
)
_SET_SESSION = "session_id=COALESCE(NULLIF(session_id, ''), 'legacy')"
_MOVE_CHATS = (
    f"UPDATE old_contexts SET {_SET_TIME}",  # noqa: S608 (our words)
    f"UPDATE old_messages SET {_SET_TIME}, {_SET_SESSION}",  # noqa: S608
    f"UPDATE old_tasks SET {_SET_TIME}, {_SET_SESSION}, status=lower(status)",  # noqa: S608
    "UPDATE old_tasks SET job_id='legacy-' || session_id WHERE COALESCE(job_id, '')=''",
    "UPDATE old_tasks SET status='interrupted'"
    " WHERE status NOT IN (SELECT value FROM json_each(:statuses))",
    "UPDATE old_tasks SET dependencies='[]'"
    " WHERE IIF(json_valid(dependencies), json_type(dependencies), '')<>'array'",
    """
    INSERT INTO contexts
        (id, title, notebook, role, model, system_prompt_id, created_at, updated_at)
    SELECT id, COALESCE(title, ''), notebook,
        IIF(role IN (SELECT value FROM json_each(:roles)), role, NULL), model,
        COALESCE(system_prompt_id, 'default'), created_at, COALESCE(updated_at, created_at)
    FROM old_contexts ORDER BY rowid
    """,
    # Sessions that are known only from what was said in them.
    """
    INSERT INTO contexts (id, title, system_prompt_id, created_at, updated_at)
    SELECT session_id, '', 'default', min(created_at), min(created_at)
    FROM (
        SELECT session_id, created_at FROM old_messages
        UNION ALL SELECT session_id, created_at FROM old_tasks
    )
    WHERE session_id NOT IN (SELECT id FROM contexts) GROUP BY session_id ORDER BY min(created_at)
    """,
    """
    INSERT INTO messages (id, context_id, seq, role, message_type, content, data, created_at)
    SELECT id, session_id, row_number() OVER (PARTITION BY session_id ORDER BY rowid),
        IIF(is_sender, role, 'system'),
        IIF(is_type, message_type, NULL),
        json_array(json_object('type', 'text', 'text', CAST(content AS TEXT))),
        json_patch(metadata, json_object( -- which leaves out what is NULL
            'legacy_role', IIF(is_sender, NULL, role),
            'legacy_type', IIF(is_type OR message_type IN ('', 'normal'), NULL, message_type)
        )),
        created_at
    FROM (
        SELECT *, rowid,
            role IN (SELECT value FROM json_each(:senders)) AS is_sender,
            message_type IN (SELECT value FROM json_each(:types)) AS is_type,
            CASE
                WHEN COALESCE(metadata_json, '')='' THEN '{}'
                WHEN NOT json_valid(metadata_json) THEN json_object('metadata', metadata_json)
                WHEN json_type(metadata_json)<>'object'
                    THEN json_object('metadata', json(metadata_json))
                ELSE metadata_json
            END AS metadata
        FROM old_messages
    ) ORDER BY rowid
    """,
    """
    INSERT INTO events (context_id, seq, type, created_at)
    SELECT context_id, seq, 'message', created_at FROM messages
    """,
    # Jobs had no table. They were completed if all their tasks were.
    """
    INSERT INTO jobs (id, context_id, status, usage, created_at, role, card_id)
    SELECT job_id, session_id, IIF(min(status='completed'), 'completed', 'interrupted'), '{}',
        min(old_tasks.created_at), contexts.role, job_id
    FROM old_tasks JOIN contexts ON contexts.id=session_id
    GROUP BY job_id ORDER BY min(old_tasks.rowid)
    """,
    """
    INSERT INTO tasks (id, job_id, context_id, step_id, description, status, dependencies, result,
        error, created_at, completed_at)
    SELECT id, job_id, session_id, id, COALESCE(description, ''), status,
        (SELECT json_group_array(CAST(value AS TEXT)) FROM json_each(dependencies)),
        result, error, created_at, completed_at
    FROM old_tasks ORDER BY rowid
    """,
    *(f"DROP TABLE old_{table}" for table in ("tasks", "messages", "contexts")),
)
