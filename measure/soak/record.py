"""What must hold in the record at any time, read from the database file itself."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from .script import WHOLE

ACTIVE = "('running', 'waiting')"
_COUNTED = {
    "a job has ended, a task of it has not": f"""
        SELECT tasks.id, jobs.status, tasks.status FROM tasks JOIN jobs ON jobs.id=tasks.job_id
        WHERE jobs.status NOT IN {ACTIVE} AND tasks.status IN {ACTIVE}""",
    "a task belongs to no job": """
        SELECT id FROM tasks WHERE job_id NOT IN (SELECT id FROM jobs)""",
    "a job is at work and nobody's": f"""
        SELECT id, status FROM jobs WHERE status IN {ACTIVE} AND owner IS NULL""",
    "a job has ended and is somebody's": f"""
        SELECT id, owner FROM jobs WHERE status NOT IN {ACTIVE} AND owner IS NOT NULL""",
    "something waits for a decision, but its job does not": """
        SELECT inquiries.id, jobs.status FROM inquiries LEFT JOIN jobs ON jobs.id=inquiries.job_id
        WHERE inquiries.status='pending'
        AND coalesce(jobs.status, '') NOT IN ('waiting', 'running', 'interrupted')""",
    "revisions of a plan are missing": """
        SELECT plan_id, count(*), max(revision) FROM plans GROUP BY plan_id
        HAVING count(*)!=max(revision) OR min(revision)!=1""",
    "a job carries out a revision that is not there": """
        SELECT id, plan_id, plan_revision FROM jobs WHERE kind='plan' AND NOT EXISTS
        (SELECT 1 FROM plans WHERE plans.plan_id=jobs.plan_id AND revision=plan_revision)""",
    "a message has no event": """
        SELECT id FROM messages WHERE NOT EXISTS (SELECT 1 FROM events
        WHERE events.context_id=messages.context_id AND events.seq=messages.seq
        AND type='message')""",
    "the event of a message has no message": """
        SELECT context_id, seq FROM events WHERE type='message' AND data IS NULL AND NOT EXISTS
        (SELECT 1 FROM messages WHERE messages.context_id=events.context_id
        AND messages.seq=events.seq)""",
    "a message or an event is of a job that is not there": """
        SELECT id, job_id FROM messages WHERE job_id NOT IN (SELECT id FROM jobs)
        UNION SELECT seq, job_id FROM events WHERE job_id NOT IN (SELECT id FROM jobs)""",
    "events were stored in another order than they count": """
        SELECT context_id, seq FROM (SELECT context_id, seq,
        lag(seq) OVER (PARTITION BY context_id ORDER BY rowid) AS before FROM events)
        WHERE before>=seq""",
    "how a job ended is not what was said": f"""
        SELECT jobs.id, jobs.status, json_extract(data, '$.status') FROM jobs JOIN events
        ON events.context_id=jobs.context_id AND events.seq=(SELECT max(seq) FROM events AS one
            WHERE one.context_id=jobs.context_id AND one.job_id=jobs.id
            AND one.type='job-completed')
        WHERE jobs.status NOT IN {ACTIVE} AND jobs.status!=json_extract(data, '$.status')""",
    "a job has ended and nothing says so": f"""
        SELECT id, status FROM jobs WHERE status NOT IN {ACTIVE} AND NOT EXISTS
        (SELECT 1 FROM events WHERE job_id=jobs.id AND type='job-completed')""",
    "a checkpoint was announced that is not there": """
        SELECT context_id, json_extract(data, '$.id') FROM events WHERE type='checkpoint-created'
        AND json_extract(data, '$.id') NOT IN (SELECT id FROM checkpoints)""",
}


def faults(database: Path, process_id: int | None = None) -> Iterator[str]:
    """Where the record contradicts itself. `process_id` is who may have jobs at work; nobody may
    after a restart.
    """
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=60)) as connection:
        connection.execute("BEGIN")  # all of it as it was at one moment
        for (line,) in connection.execute("PRAGMA integrity_check"):
            if line != "ok":
                yield f"SQLite: {line}"
        for row in connection.execute("PRAGMA foreign_key_check"):
            yield f"points nowhere: {row}"
        for what, sql in _COUNTED.items():
            for row in connection.execute(sql):
                yield f"{what}: {row}"
        for look in _LOOKS:
            yield from look(connection)
        active = connection.execute(f"SELECT id, status, owner FROM jobs WHERE status IN {ACTIVE}")
        for job, status, owner in active:
            if not process_id or not str(owner).startswith(f"{process_id}-"):
                yield f"{job} is {status}, and {owner} is gone"


def _calls_without_results(connection: sqlite3.Connection) -> Iterator[str]:
    ended: dict[tuple[str, str], str] = {}
    sql = f"""SELECT messages.job_id, message_type, json_extract(data, '$.call_id'), status
        FROM messages JOIN jobs ON jobs.id=messages.job_id
        WHERE message_type IN ('tool_call', 'tool_result') AND status NOT IN {ACTIVE}
        ORDER BY messages.context_id, seq"""
    for job, kind, call, status in connection.execute(sql):
        if kind == "tool_call":
            ended[job, call] = status
        else:
            ended.pop((job, call), None)
    for (job, call), status in ended.items():
        if status != "interrupted":
            yield f"the call {call} of {job} ({status}) has no result"


def _cut_messages(connection: sqlite3.Connection) -> Iterator[str]:
    """Answers of jobs that ran through at once: they begin and end as the model's script says."""
    sql = """SELECT messages.id, content FROM messages JOIN jobs ON jobs.id=messages.job_id
        WHERE jobs.status='completed' AND messages.role='assistant' AND message_type='text'
        AND (SELECT count(*) FROM events WHERE events.job_id=jobs.id AND type='job-started')=1"""
    for message, content in connection.execute(sql):
        text = "".join(part.get("text", "") for part in json.loads(content))
        whole = WHOLE.fullmatch(text.strip())
        if text.startswith("Begin") and not (whole and whole[1] == whole[2]):
            yield f"the message {message} is not whole: {text!r}"


def _unlike_its_stream(connection: sqlite3.Connection) -> Iterator[str]:
    """What was streamed in a job that ran through holds every answer of it.

    But for objects: what a model writes for us, and not for the user, is not streamed. Where it
    writes one that its role may not, it is told so, and the reply is kept as it was.
    """
    streamed: dict[str, list[str]] = defaultdict(list)
    pieces = "SELECT job_id, data FROM events WHERE type='text-delta' ORDER BY context_id, seq"
    for job, data in connection.execute(pieces):
        streamed[job].append(json.loads(data)["text"])
    sql = """SELECT messages.id, job_id, content FROM messages
        JOIN jobs ON jobs.id=messages.job_id AND jobs.kind='message'
        WHERE jobs.status='completed' AND messages.role='assistant' AND message_type='text'"""
    for message, job, content in connection.execute(sql):
        text = "".join(part.get("text", "") for part in json.loads(content))
        if text not in "".join(streamed[job]) and not text.startswith("{"):
            yield f"the message {message} is not what was streamed: {text!r}"


_LOOKS: tuple[Callable[[sqlite3.Connection], Iterator[str]], ...] = (
    _calls_without_results,
    _cut_messages,
    _unlike_its_stream,
)
