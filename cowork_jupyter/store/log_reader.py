"""Queries for events and messages."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..domain.effects import DataEffect
from ..domain.events import Event, EventType, FileMoved
from ..domain.guidance import Guidance, GuidanceUsed
from ..domain.message_data import Answer
from ..domain.messages import Message
from .folding import data_after
from .records import Page
from .rows import ALL, END, MAX_PAGE_SIZE, RowReader, event_of, message_of
from .search import NOT_SPOKEN

_FIRST_PAGE = 32
_NEWEST_JOBS = 20  # which the user may still want to learn from


class LogReader(RowReader):
    def last_seq(self, context_id: str) -> int:
        sql = "SELECT max(seq) FROM events WHERE context_id=?"
        return self._rows(sql, context_id)[0][0] or 0

    def events(self, context_id: str, after: int = 0, limit: int = ALL) -> list[Event]:
        sql = "SELECT * FROM events WHERE context_id=? AND seq>? ORDER BY seq LIMIT ?"
        rows = self._rows(sql, context_id, after, limit)
        places = [row["seq"] for row in rows if row["type"] == EventType.MESSAGE]
        messages = self._messages_between(context_id, places[0], places[-1]) if places else {}
        # A message is missing only if its context is being deleted right now.
        return [
            event_of(row, messages.get(row["seq"]) or data_after(row, after))
            for row in rows
            if row["data"] is not None or row["seq"] in messages
        ]

    def newest_notice(self, context_id: str, code: str, task_id: str | None = "") -> Event | None:
        """The newest notice with this code; of one task, or with None of no task."""
        sql = (
            "SELECT * FROM events WHERE context_id=?1 AND type='notice'"
            " AND json_extract(data, '$.code')=?2 AND (?3='' OR task_id IS ?3)"
            " ORDER BY seq DESC LIMIT 1"
        )
        rows = self._rows(sql, context_id, code, task_id)
        return event_of(rows[0], json.loads(rows[0]["data"])) if rows else None

    def notices(self, context_id: str, code: str) -> list[Event]:
        sql = (
            "SELECT * FROM events WHERE context_id=? AND type='notice'"
            " AND json_extract(data, '$.code')=? ORDER BY seq"
        )
        return [event_of(row, json.loads(row["data"])) for row in self._rows(sql, context_id, code)]

    def moves(self, context_id: str, since: str = "") -> list[FileMoved]:
        sql = (
            "SELECT data FROM events WHERE context_id=? AND type='file-moved' AND created_at>=?"
            " ORDER BY seq"
        )
        rows = self._rows(sql, context_id, since)
        return [FileMoved.model_validate_json(row["data"]) for row in rows]

    def data_effects(self, context_id: str, *job_ids: str) -> list[DataEffect]:
        """Effects of code on data in a conversation, or in some of its jobs, oldest first."""
        events = self._event_data("data-effect", context_id, job_ids)
        return [DataEffect.model_validate_json(data) for data in events]

    def guidance_used(self, context_id: str, *job_ids: str) -> list[Guidance]:
        """Guidance used in a conversation, or in some of its jobs: each once, by first use."""
        events = self._event_data("guidance-used", context_id, job_ids)
        used = (item for data in events for item in GuidanceUsed.model_validate_json(data).items)
        return list({(item.kind, item.source, item.name): item for item in used}.values())

    def skills_used(self) -> dict[str, str]:
        sql = (
            "SELECT json_extract(item.value, '$.name') AS name, max(created_at) AS at"
            " FROM events, json_each(events.data, '$.items') AS item"
            " WHERE events.type='guidance-used' AND json_extract(item.value, '$.kind')='skill'"
            " GROUP BY name"
        )
        return {row["name"]: row["at"] for row in self._rows(sql)}

    def memory_offer_place(self, job_id: str) -> str | None:
        """The folder of a run that may have taught something worth remembering."""
        rows = self._rows("SELECT workspace FROM memory_offers WHERE job_id=?", job_id)
        return rows[0]["workspace"] if rows else None

    def jobs_to_learn_from(self, workspace: str) -> list[str]:
        """The newest undecided offers in this folder, newest first."""
        sql = (
            "SELECT job_id FROM memory_offers WHERE workspace=? AND status='offered'"
            " ORDER BY rowid DESC LIMIT ?"
        )
        return [row["job_id"] for row in self._rows(sql, workspace, _NEWEST_JOBS)]

    def _event_data(self, kind: str, context_id: str, job_ids: tuple[str, ...]) -> list[str]:
        """Without job ids, of the whole conversation."""
        sql = (
            "SELECT data FROM events WHERE context_id=?1 AND type=?2"
            " AND (?3='[]' OR job_id IN (SELECT value FROM json_each(?3))) ORDER BY seq"
        )
        return [row["data"] for row in self._rows(sql, context_id, kind, json.dumps(job_ids))]

    def _messages_between(self, context_id: str, first: int, last: int) -> dict[int, Message]:
        sql = "SELECT * FROM messages WHERE context_id=? AND seq BETWEEN ? AND ?"
        return {row["seq"]: message_of(row) for row in self._rows(sql, context_id, first, last)}

    def messages(self, context_id: str, after: int = 0, limit: int = ALL) -> Page[Message]:
        """Messages after a position, oldest first. Positions are those of their events."""
        sql = "SELECT * FROM messages WHERE context_id=? AND seq>? ORDER BY seq LIMIT ?"
        rows = self._rows(sql, context_id, after, limit + 1 if limit > 0 else limit)
        more = 0 < limit < len(rows)
        rows = rows[:limit] if more else rows
        return Page([message_of(row) for row in rows], rows[-1]["seq"] if more else None)

    def message(self, context_id: str, message_id: str) -> Message:
        sql = "SELECT * FROM messages WHERE id=? AND context_id=?"
        return self._get(Message, "message", sql, message_id, context_id)

    def newest_messages(self, context_id: str, task_id: str | None = None) -> Iterator[Message]:
        """Messages newest first, loaded lazily."""
        before, size = END, _FIRST_PAGE
        by_task = "SELECT * FROM messages WHERE task_id=? AND seq<? ORDER BY seq DESC LIMIT ?"
        sql = "SELECT * FROM messages WHERE context_id=? AND seq<? ORDER BY seq DESC LIMIT ?"
        while True:
            rows = self._rows(by_task if task_id else sql, task_id or context_id, before, size)
            yield from map(message_of, rows)
            if len(rows) < size:
                return
            before, size = rows[-1]["seq"], min(size * 2, MAX_PAGE_SIZE)

    def goal(self, context_id: str, job_id: str | None = None) -> Message | None:
        sql = "SELECT * FROM messages WHERE context_id=? AND role='user' ORDER BY seq LIMIT 1"
        by_job = "SELECT * FROM messages WHERE job_id=? AND role='user' ORDER BY seq LIMIT 1"
        rows = self._rows(by_job, job_id) if job_id else self._rows(sql, context_id)
        return message_of(rows[0]) if rows else None

    def tool_messages(self, job_id: str) -> list[Message]:
        sql = (
            "SELECT * FROM messages WHERE job_id=? AND message_type IN ('tool_call', 'tool_result')"
            " ORDER BY seq"
        )
        return self._list(Message, sql, job_id)

    def planning_answers(self, plan_id: str) -> list[Answer]:
        sql = (
            "SELECT json_extract(messages.data, '$.answer') AS answer FROM messages"
            " JOIN jobs ON jobs.id=messages.job_id WHERE jobs.plan_id=? AND jobs.kind<>'plan'"
            " AND answer IS NOT NULL ORDER BY seq"
        )
        return [Answer.model_validate_json(row["answer"]) for row in self._rows(sql, plan_id)]

    def assignment(self, task_id: str) -> Message | None:
        sql = (
            "SELECT * FROM messages WHERE task_id=? AND message_type='task_assignment'"
            " ORDER BY seq DESC LIMIT 1"
        )
        rows = self._rows(sql, task_id)
        return message_of(rows[0]) if rows else None

    def spoken_messages(self, context_id: str) -> list[tuple[Message, str | None]]:
        """The conversation without tool output, newest first, each message with its step."""
        sql = (
            "SELECT messages.*, tasks.step_id FROM messages"  # noqa: S608 (our words)
            " LEFT JOIN tasks ON tasks.id=messages.task_id WHERE messages.context_id=?"
            f" AND COALESCE(message_type, 'text') NOT IN {NOT_SPOKEN} ORDER BY seq DESC"
        )
        return [(message_of(row), row["step_id"]) for row in self._rows(sql, context_id)]

    def job_messages(self, *job_ids: str) -> list[Message]:
        marks = ", ".join("?" * len(job_ids))
        sql = f"SELECT * FROM messages WHERE job_id IN ({marks}) ORDER BY seq"  # noqa: S608 (marks)
        return self._list(Message, sql, *job_ids)

    def last_message_seq(self, context_id: str) -> int:
        sql = "SELECT max(seq) FROM messages WHERE context_id=?"
        return self._rows(sql, context_id)[0][0] or 0
