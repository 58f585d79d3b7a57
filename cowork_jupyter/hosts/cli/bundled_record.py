"""The record and the checkpoints as numbers, and the newest jobs as shapes.

Read with plain SQL, as the files may be of any version, or broken.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from ...checkpoints import checkpoint_folder
from ...domain.contexts import JobKind, JobStatus, StepStatus
from ...domain.events import NOTICES, EventType
from ...domain.operations import OK, UNKNOWN_TOOL
from ...domain.roles import AgentRole
from ...domain.settings import Settings
from ...service.parts import rule_names
from ...store.migrations import newest_version

MAX_JOBS = 50
MAX_CALLS = 200
OTHER = "other"
_CODE_LENGTH = 40


def database_facts(settings: Settings) -> dict[str, Any]:
    path = settings.database
    if not path.exists():
        return {"database": "none yet"}
    files = (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm")))
    facts: dict[str, Any] = {
        "bytes": {file.suffix: file.stat().st_size for file in files if file.exists()},
        "known_version": newest_version(),
    }
    try:
        with closing(read_only(path)) as connection:
            for pragma in ("user_version", "page_size", "page_count", "freelist_count"):
                facts[pragma] = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
            facts["journal_mode"] = connection.execute("PRAGMA journal_mode").fetchone()[0]
            whole = connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            facts["is_whole"] = whole
            facts["rows"] = _rows(connection)
    except sqlite3.Error as error:
        facts["error"] = error.sqlite_errorname if hasattr(error, "sqlite_errorname") else "error"
    return {"database": facts}


def checkpoint_facts(settings: Settings) -> dict[str, Any]:
    folder = checkpoint_folder(settings)
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return {"checkpoints": {"files": len(sizes), "bytes": sum(sizes)}}


def job_shapes(settings: Settings) -> list[dict[str, Any]]:
    """The newest jobs, without anything that was said or done in them."""
    if not settings.database.exists():
        return []
    with closing(read_only(settings.database)) as connection:
        connection.row_factory = sqlite3.Row
        newest = "SELECT * FROM jobs ORDER BY created_at DESC LIMIT ?"
        jobs = connection.execute(newest, (MAX_JOBS,)).fetchall()
        return [_shape(connection, job) for job in jobs]


def _shape(connection: sqlite3.Connection, job: sqlite3.Row) -> dict[str, Any]:
    usage, place = json.loads(job["usage"]), (job["context_id"], job["id"])
    events = connection.execute(
        "SELECT type, count(*) FROM events WHERE context_id = ? AND job_id = ? GROUP BY type", place
    )
    notices = connection.execute(
        "SELECT json_extract(data, '$.code') FROM events"
        " WHERE context_id = ? AND job_id = ? AND type = 'notice'",
        place,
    )
    tasks = connection.execute("SELECT status FROM tasks WHERE job_id = ?", (job["id"],))
    codes = {literal for notice in NOTICES for literal in _literals(notice)}
    return {
        "id": job["id"],
        "kind": _of(JobKind, job["kind"]),
        "role": _of([role.value for role in AgentRole], job["role"]),
        "status": _of(JobStatus, job["status"]),
        "has_error": job["error"] is not None,
        "seconds": _seconds(job["created_at"], job["completed_at"]),
        **{name: usage.get(name) for name in ("turns", "prompt_tokens", "completion_tokens")},
        "events": {_of(EventType, kind): count for kind, count in events},
        "notices": Counter(_of(codes, code) for (code,) in notices),
        "tasks": Counter(_of(StepStatus, status) for (status,) in tasks),
        "calls": _calls(connection, place),
    }


def _calls(connection: sqlite3.Connection, place: tuple[str, str]) -> list[dict[str, Any]]:
    rows = connection.execute(
        "SELECT type, created_at, json_extract(data, '$.call_id') AS call,"
        " json_extract(data, '$.tool') AS tool, json_extract(data, '$.ok') AS ok,"
        " json_extract(data, '$.error.code') AS code FROM events"
        " WHERE context_id = ? AND job_id = ? AND type IN ('tool-call', 'tool-result')"
        " ORDER BY seq LIMIT ?",
        (*place, 2 * MAX_CALLS),
    )
    ours, calls = rule_names(), dict[str, dict[str, Any]]()
    for row in rows:
        if row["type"] == EventType.TOOL_CALL:
            foreign = "mcp" if str(row["tool"]).startswith("mcp__") else UNKNOWN_TOOL
            name = row["tool"] if row["tool"] in ours else foreign
            calls[row["call"]] = {"tool": name, "began": row["created_at"]}
        elif called := calls.get(row["call"]):
            called["status"] = OK if row["ok"] else _code(row["code"])
            called["seconds"] = _seconds(called["began"], row["created_at"])
    return list(calls.values())


def _rows(connection: sqlite3.Connection) -> dict[str, int]:
    # Rows of virtual (full-text) tables cannot be counted.
    sql = "SELECT name FROM sqlite_master WHERE type='table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    names = connection.execute(sql).fetchall()
    quoted = {name: '"{}"'.format(name.replace('"', '""')) for (name,) in names}
    return {
        name: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
        for name, table in quoted.items()
    }


def _literals(notice: Any) -> tuple[str, ...]:
    codes: tuple[str, ...] = notice.model_fields["code"].annotation.__args__
    return codes


def _of(allowed: Iterable[object], value: object) -> str:
    """Only words of a fixed list."""
    return str(value) if str(value) in {str(each) for each in allowed} else OTHER


def _code(value: Any) -> str:
    """Only what looks like one of our error codes."""
    text = str(value)
    is_code = text.replace("_", "").replace("-", "").isalnum() and text.islower()
    return text if is_code and len(text) <= _CODE_LENGTH else OTHER


def _seconds(began: str | None, ended: str | None) -> float | None:
    if not began or not ended:
        return None
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()


def read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
