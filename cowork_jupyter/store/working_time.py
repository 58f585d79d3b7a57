"""Working time of jobs and tasks, stored span by span: no waits for the user, no downtime.

A task works while it runs and nothing of it waits for the user. A job works unless it waits for
the user in all that it does.
"""

from __future__ import annotations

import sqlite3

_TASK_WORKS = (
    "status='running'"
    " AND EXISTS (SELECT 1 FROM jobs WHERE id=tasks.job_id AND status IN ('running', 'waiting'))"
    " AND NOT EXISTS (SELECT 1 FROM inquiries WHERE job_id=tasks.job_id AND task_id=tasks.id"
    " AND status='pending')"
)
_JOB_WORKS = (
    "status IN ('running', 'waiting')"
    " AND (NOT EXISTS (SELECT 1 FROM inquiries WHERE job_id=jobs.id AND status='pending')"
    " OR EXISTS (SELECT 1 FROM tasks WHERE job_id=jobs.id AND working_since IS NOT NULL))"
)
_BEGIN = "UPDATE {table} SET working_since=?2 WHERE {key}=?1 AND working_since IS NULL AND {works}"
_END = (
    "UPDATE {table} SET working_since=NULL, worked_seconds=round(worked_seconds"
    " + max(0.0, (julianday(?2) - julianday(working_since)) * 86400), 3)"
    " WHERE {key}=?1 AND working_since IS NOT NULL AND NOT ({works})"
)


def keep_task_time(connection: sqlite3.Connection, task_id: str, at: str) -> None:
    _keep(connection, "tasks", _TASK_WORKS, task_id, at)


def keep_job_time(connection: sqlite3.Connection, job_id: str, at: str) -> None:
    _keep(connection, "jobs", _JOB_WORKS, job_id, at)


def end_time(connection: sqlite3.Connection, job_id: str, at: str) -> None:
    """End every span of a job and its tasks."""
    for table, key in (("tasks", "job_id"), ("jobs", "id")):
        connection.execute(_END.format(table=table, key=key, works="0"), (job_id, at))


def _keep(connection: sqlite3.Connection, table: str, works: str, row_id: str, at: str) -> None:
    for change in (_BEGIN, _END):
        connection.execute(change.format(table=table, key="id", works=works), (row_id, at))
