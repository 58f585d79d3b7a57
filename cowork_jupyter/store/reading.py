"""Everything that can be asked of the store."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ..domain.cell_changes import CellChange
from ..domain.contexts import Context, FoundContext, Job, Task
from ..domain.effects import DataEffect
from ..domain.errors import NotFound
from ..domain.events import Event, EventType, FileMoved
from ..domain.guidance import Guidance, GuidanceUsed
from ..domain.message_data import Answer
from ..domain.messages import Message
from ..domain.queue import QueuedMessage
from ..domain.roles import AgentRole
from . import deleted
from .folding import data_after
from .records import PENDING, CheckpointRecord, Inquiry, InquiryKind, Page, PlanRevision
from .room import BY_CONTEXT, UNUSED, ContextRoom
from .rows import decode, event_of, message_of, to_json
from .search import (
    FEW_GRAMS,
    FEW_MESSAGES,
    GRAMS,
    NOT_SPOKEN,
    PLACES,
    SHORT,
    excerpt,
    fold,
    grams_of,
    query,
    text_of,
    words_of,
)

_FIRST_PAGE = 32
_MAX_PAGE_SIZE = 512
_ALL = -1  # SQLite's "no limit"
_END = 2**62  # behind every place
_NEWEST_JOBS = 20  # which the user may still want to learn from
_SAID = (
    "SELECT seq, content FROM messages WHERE context_id=? AND seq<?"  # noqa: S608 (our words)
    f" AND COALESCE(message_type, 'text') NOT IN {NOT_SPOKEN} ORDER BY seq DESC LIMIT ?"
)


class Reader(ABC):
    """The questions. Asked of a `Transaction` they see what it has changed so far."""

    @abstractmethod
    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Run one query."""

    def _one(self, what: str, sql: str, key: str, *more: str) -> dict[str, Any]:
        for row in self._rows(sql, key, *more):
            return decode(row)
        raise NotFound(f"There is no {what} '{key}'.", details={"id": key})

    # Contexts

    def context(self, context_id: str) -> Context:
        sql = "SELECT * FROM contexts WHERE id=?"
        return Context.model_validate(self._one("context", sql, context_id))

    def owner(self, context_id: str) -> str:
        """Whose a context is; empty if nobody's in particular."""
        rows = self._rows("SELECT owner FROM owners WHERE context_id=?", context_id)
        return str(rows[0]["owner"]) if rows else ""

    def addressee(self, context: Context) -> AgentRole:
        """Who gets the next message: whom the user has chosen since, or else who worked last."""
        sql = (
            "SELECT IIF(message_type='role_change', agent_role, jobs.role) AS role FROM messages"
            " LEFT JOIN jobs ON jobs.id=messages.job_id WHERE messages.context_id=? AND"
            " (message_type='role_change' OR jobs.kind IN ('message', 'plan', 'workflow'))"
            " ORDER BY seq DESC LIMIT 1"
        )
        rows = self._rows(sql, context.id)
        return AgentRole(rows[0]["role"]) if rows else context.role

    def contexts(
        self,
        after: int | None = None,
        limit: int = 100,
        owner: str | None = None,
        notebook: str | None = None,
        pinned: bool | None = None,
        search: str = "",
    ) -> Page[FoundContext]:
        """Contexts, newest first; with an owner, only theirs and nobody's.

        A search finds those with each of its words in the title, the notebook's path, or what was
        said; tools' output is not looked through.
        """
        sql = (
            "SELECT contexts.* FROM contexts"
            " LEFT JOIN owners ON owners.context_id=contexts.id"
            " WHERE position<?1 AND (?2 IS NULL OR COALESCE(owner, '') IN ('', ?2))"
            " AND (?4 IS NULL OR notebook=?4) AND (?5 IS NULL OR pinned=?5)"
            " ORDER BY position DESC LIMIT ?3"
        )
        words = words_of(search)
        start = _END if after is None else after
        rows = self._rows(sql, start, owner, _ALL if words else limit + 1, notebook, pinned)
        found = self._found(rows, words) if words else ((row, "") for row in rows)
        page = list(islice(found, limit + 1))
        items = [
            FoundContext.model_validate({**decode(row), "snippet": snippet})
            for row, snippet in page[:limit]
        ]
        return Page(items, page[limit - 1][0]["position"] if len(page) > limit else None)

    def _found(
        self, rows: Iterable[sqlite3.Row], words: list[str]
    ) -> Iterator[tuple[sqlite3.Row, str]]:
        """Those of the contexts that have all words, each with what stands around one of them."""
        places = {word: self._places(word) for word in words}
        for row in rows:
            named = fold(f"{row['title']} {row['notebook'] or ''}")
            snippet = ""
            for word in words:
                if word in named:
                    continue
                text = self._said_with(word, row, places[word])
                if text is None:
                    break
                snippet = snippet or excerpt(text, word)
            else:
                yield row, snippet

    def _places(self, word: str) -> dict[int, int] | None:
        """By context, the newest message that a word is likely to be in; None: in very many."""
        if len(word) > SHORT:
            asked = query(grams_of(word), "AND")
        else:
            grams = self._rows(GRAMS, word)
            if len(grams) == FEW_GRAMS or sum(row["doc"] for row in grams) > FEW_MESSAGES:
                return None
            asked = query((row["term"] for row in grams), "OR")
        return {row["position"]: row["seq"] for row in self._rows(PLACES, asked)} if asked else {}

    def _said_with(
        self, word: str, context: sqlite3.Row, places: dict[int, int] | None
    ) -> str | None:
        """The newest message of a context with this word."""
        newest = _END if places is None else places.get(context["position"], 0) + 1
        size = 1 if places is not None else 4  # where it is common, it is in one of these
        while rows := self._rows(_SAID, context["id"], newest, size):
            for row in rows:
                text = text_of(row["content"])
                if word in fold(text):
                    return text
            newest, size = rows[-1]["seq"], min(size * 8, _MAX_PAGE_SIZE)
        return None

    def deleted_contexts(self) -> list[tuple[Context, str]]:
        """What can still be brought back, each with when it was deleted; newest first."""
        rows = self._rows(deleted.LIST)
        return [(Context.model_validate_json(row["row"]), row["deleted_at"]) for row in rows]

    def unused_contexts(self, since: str, limit: int = _ALL) -> list[str]:
        """Those that nobody has used since then, the oldest first; none that may still be needed:
        pinned, at work, or waiting for the user.
        """
        return [row["id"] for row in self._rows(UNUSED, since, limit)]

    def room(self) -> list[ContextRoom]:
        """What each conversation takes, the largest first."""
        rows = self._rows(BY_CONTEXT)
        return [ContextRoom(**{**dict(row), "pinned": bool(row["pinned"])}) for row in rows]

    def free_bytes(self) -> int:
        """How much of the file holds nothing."""
        (pages,), (size,) = (
            self._rows(f"PRAGMA {name}")[0] for name in ("freelist_count", "page_size")
        )
        return int(pages) * int(size)

    # Events and messages

    def last_seq(self, context_id: str) -> int:
        """The place of the newest event, 0 if there is none."""
        sql = "SELECT max(seq) FROM events WHERE context_id=?"
        return self._rows(sql, context_id)[0][0] or 0

    def events(self, context_id: str, after: int = 0, limit: int = _ALL) -> list[Event]:
        """Events after a place, oldest first."""
        sql = "SELECT * FROM events WHERE context_id=? AND seq>? ORDER BY seq LIMIT ?"
        rows = self._rows(sql, context_id, after, limit)
        places = [row["seq"] for row in rows if row["type"] == EventType.MESSAGE]
        messages = self._messages_between(context_id, places[0], places[-1]) if places else {}
        # A message can only be missing when its context was deleted this very moment.
        return [
            event_of(row, messages.get(row["seq"]) or data_after(row, after))
            for row in rows
            if row["data"] is not None or row["seq"] in messages
        ]

    def newest_notice(self, context_id: str, code: str, task_id: str | None = "") -> Event | None:
        """The newest notice of this kind; of one task, or with None of what is in no task."""
        sql = (
            "SELECT * FROM events WHERE context_id=?1 AND type='notice'"
            " AND json_extract(data, '$.code')=?2 AND (?3='' OR task_id IS ?3)"
            " ORDER BY seq DESC LIMIT 1"
        )
        rows = self._rows(sql, context_id, code, task_id)
        return event_of(rows[0], json.loads(rows[0]["data"])) if rows else None

    def notices(self, context_id: str, code: str) -> list[Event]:
        """All notices of this kind, oldest first."""
        sql = (
            "SELECT * FROM events WHERE context_id=? AND type='notice'"
            " AND json_extract(data, '$.code')=? ORDER BY seq"
        )
        return [event_of(row, json.loads(row["data"])) for row in self._rows(sql, context_id, code)]

    def moves(self, context_id: str, since: str = "") -> list[FileMoved]:
        """What a conversation was told of files that were renamed or moved, oldest first."""
        sql = (
            "SELECT data FROM events WHERE context_id=? AND type='file-moved' AND created_at>=?"
            " ORDER BY seq"
        )
        rows = self._rows(sql, context_id, since)
        return [FileMoved.model_validate_json(row["data"]) for row in rows]

    def data_effects(self, context_id: str, *job_ids: str) -> list[DataEffect]:
        """What code did to data in a conversation, or in some of its jobs, oldest first."""
        events = self._event_data("data-effect", context_id, job_ids)
        return [DataEffect.model_validate_json(data) for data in events]

    def guidance_used(self, context_id: str, *job_ids: str) -> list[Guidance]:
        """What guided a conversation, or some of its jobs: each once, in the order of first use."""
        events = self._event_data("guidance-used", context_id, job_ids)
        used = (one for data in events for one in GuidanceUsed.model_validate_json(data).items)
        return list({(one.kind, one.source, one.name): one for one in used}.values())

    def skills_used(self) -> dict[str, str]:
        """When each skill was opened last, in any conversation."""
        sql = (
            "SELECT json_extract(item.value, '$.name') AS name, max(created_at) AS at"
            " FROM events, json_each(events.data, '$.items') AS item"
            " WHERE events.type='guidance-used' AND json_extract(item.value, '$.kind')='skill'"
            " GROUP BY name"
        )
        return {row["name"]: row["at"] for row in self._rows(sql)}

    def memory_offer_place(self, job_id: str) -> str | None:
        """The folder in which a run may have shown something to remember."""
        rows = self._rows("SELECT workspace FROM memory_offers WHERE job_id=?", job_id)
        return rows[0]["workspace"] if rows else None

    def jobs_to_learn_from(self, workspace: str) -> list[str]:
        """The newest in this folder that nobody has decided about, newest first."""
        sql = (
            "SELECT job_id FROM memory_offers WHERE workspace=? AND status='offered'"
            " ORDER BY rowid DESC LIMIT ?"
        )
        return [row["job_id"] for row in self._rows(sql, workspace, _NEWEST_JOBS)]

    def _event_data(self, kind: str, context_id: str, job_ids: tuple[str, ...]) -> list[str]:
        """Of all jobs of the conversation where none is named."""
        sql = (
            "SELECT data FROM events WHERE context_id=?1 AND type=?2"
            " AND (?3='[]' OR job_id IN (SELECT value FROM json_each(?3))) ORDER BY seq"
        )
        return [row["data"] for row in self._rows(sql, context_id, kind, json.dumps(job_ids))]

    def _messages_between(self, context_id: str, first: int, last: int) -> dict[int, Message]:
        sql = "SELECT * FROM messages WHERE context_id=? AND seq BETWEEN ? AND ?"
        return {row["seq"]: message_of(row) for row in self._rows(sql, context_id, first, last)}

    def messages(self, context_id: str, after: int = 0, limit: int = _ALL) -> Page[Message]:
        """Messages after a place, oldest first. Places are those of their events."""
        sql = "SELECT * FROM messages WHERE context_id=? AND seq>? ORDER BY seq LIMIT ?"
        rows = self._rows(sql, context_id, after, limit + 1 if limit > 0 else limit)
        more = 0 < limit < len(rows)
        rows = rows[:limit] if more else rows
        return Page([message_of(row) for row in rows], rows[-1]["seq"] if more else None)

    def message(self, context_id: str, message_id: str) -> Message:
        """One message of a context."""
        sql = "SELECT * FROM messages WHERE id=? AND context_id=?"
        return Message.model_validate(self._one("message", sql, message_id, context_id))

    def newest_messages(self, context_id: str, task_id: str | None = None) -> Iterator[Message]:
        """Messages newest first, of one task if named, read as they are asked for."""
        before, size = _END, _FIRST_PAGE
        by_task = "SELECT * FROM messages WHERE task_id=? AND seq<? ORDER BY seq DESC LIMIT ?"
        sql = "SELECT * FROM messages WHERE context_id=? AND seq<? ORDER BY seq DESC LIMIT ?"
        while True:
            rows = self._rows(by_task if task_id else sql, task_id or context_id, before, size)
            yield from map(message_of, rows)
            if len(rows) < size:
                return
            before, size = rows[-1]["seq"], min(size * 2, _MAX_PAGE_SIZE)

    def goal(self, context_id: str, job_id: str | None = None) -> Message | None:
        """What the user asked for first, in the context or in one job."""
        sql = "SELECT * FROM messages WHERE context_id=? AND role='user' ORDER BY seq LIMIT 1"
        by_job = "SELECT * FROM messages WHERE job_id=? AND role='user' ORDER BY seq LIMIT 1"
        rows = self._rows(by_job, job_id) if job_id else self._rows(sql, context_id)
        return message_of(rows[0]) if rows else None

    def tool_messages(self, job_id: str) -> list[Message]:
        """The tool calls and tool results of a job, oldest first."""
        sql = (
            "SELECT * FROM messages WHERE job_id=? AND message_type IN ('tool_call', 'tool_result')"
            " ORDER BY seq"
        )
        return [message_of(row) for row in self._rows(sql, job_id)]

    def planning_answers(self, plan_id: str) -> list[Answer]:
        """What the user answered while a plan was made and discussed, oldest first."""
        sql = (
            "SELECT json_extract(messages.data, '$.answer') AS answer FROM messages"
            " JOIN jobs ON jobs.id=messages.job_id WHERE jobs.plan_id=? AND jobs.kind<>'plan'"
            " AND answer IS NOT NULL ORDER BY seq"
        )
        return [Answer.model_validate_json(row["answer"]) for row in self._rows(sql, plan_id)]

    def assignment(self, task_id: str) -> Message | None:
        """What the agent of a task was told last to do."""
        sql = (
            "SELECT * FROM messages WHERE task_id=? AND message_type='task_assignment'"
            " ORDER BY seq DESC LIMIT 1"
        )
        rows = self._rows(sql, task_id)
        return message_of(rows[0]) if rows else None

    def spoken(self, context_id: str) -> list[tuple[Message, str | None]]:
        """What was said in a conversation, newest first, each with its step; no tool's output."""
        sql = (
            "SELECT messages.*, tasks.step_id FROM messages"  # noqa: S608 (our words)
            " LEFT JOIN tasks ON tasks.id=messages.task_id WHERE messages.context_id=?"
            f" AND COALESCE(message_type, 'text') NOT IN {NOT_SPOKEN} ORDER BY seq DESC"
        )
        return [(message_of(row), row["step_id"]) for row in self._rows(sql, context_id)]

    def job_messages(self, *job_ids: str) -> list[Message]:
        """The messages of some jobs of one context, oldest first."""
        marks = ", ".join("?" * len(job_ids))
        sql = f"SELECT * FROM messages WHERE job_id IN ({marks}) ORDER BY seq"  # noqa: S608 (marks)
        return [message_of(row) for row in self._rows(sql, *job_ids)]

    def last_message_seq(self, context_id: str) -> int:
        """The place of the newest message, 0 if there is none."""
        sql = "SELECT max(seq) FROM messages WHERE context_id=?"
        return self._rows(sql, context_id)[0][0] or 0

    # Jobs and tasks

    def job(self, job_id: str) -> Job:
        """One job with its tasks."""
        for job in self._jobs("SELECT * FROM jobs WHERE id=?", job_id):
            return job
        raise NotFound(f"There is no job '{job_id}'.", details={"id": job_id})

    def jobs(self, context_id: str) -> list[Job]:
        """The jobs of a context with their tasks, oldest first."""
        return self._jobs("SELECT * FROM jobs WHERE context_id=? ORDER BY rowid", context_id)

    def _jobs(self, sql: str, *values: str) -> list[Job]:
        """The jobs that a query finds; one more query finds the tasks of all of them."""
        found = {row["id"]: {**decode(row), "tasks": []} for row in self._rows(sql, *values)}
        in_these = "SELECT * FROM tasks WHERE job_id IN (SELECT value FROM json_each(?))"
        for row in self._rows(f"{in_these} ORDER BY rowid", json.dumps([*found])):
            found[row["job_id"]]["tasks"].append(decode(row))
        return [Job.model_validate(fields) for fields in found.values()]

    def card_jobs(self, card_id: str) -> list[Job]:
        """The jobs that a card shows, oldest first.

        Those started on it; and, for the card on which a plan was made, every execution of
        that plan, wherever it was started.
        """
        sql = (
            "SELECT jobs.* FROM jobs JOIN jobs AS root ON root.id=?1"
            " WHERE jobs.id=?1 OR jobs.card_id=?1 OR (jobs.kind='plan' AND root.kind<>'plan'"
            " AND jobs.plan_id=root.plan_id) ORDER BY jobs.rowid"
        )
        return self._jobs(sql, card_id)

    def executions(self, plan_id: str) -> list[Job]:
        """The jobs that execute, or have executed, a plan, oldest first."""
        sql = "SELECT * FROM jobs WHERE kind='plan' AND plan_id=? ORDER BY rowid"
        return self._jobs(sql, plan_id)

    def card(self, context_id: str, job_id: str) -> Job | None:
        """The job whose card shows a job of this context."""
        sql = (
            "SELECT card.* FROM jobs JOIN jobs AS card ON card.id=jobs.card_id"
            " WHERE jobs.context_id=? AND jobs.id=?"
        )
        return next(iter(self._jobs(sql, context_id, job_id)), None)

    def active_job(self, context_id: str) -> Job | None:
        """The job that runs or waits in a context."""
        sql = "SELECT * FROM jobs WHERE context_id=? AND status IN ('running', 'waiting')"
        return next(iter(self._jobs(sql, context_id)), None)

    def owners(self) -> dict[str, str | None]:
        """The mark of the process that runs it, for each job that runs or waits anywhere."""
        sql = "SELECT id, owner FROM jobs WHERE status IN ('running', 'waiting') ORDER BY rowid"
        return {row["id"]: row["owner"] for row in self._rows(sql)}

    def task(self, task_id: str) -> Task:
        return Task.model_validate(self._one("task", "SELECT * FROM tasks WHERE id=?", task_id))

    def tasks(self, job_id: str) -> list[Task]:
        """The tasks of a job, in the order they were made."""
        rows = self._rows("SELECT * FROM tasks WHERE job_id=? ORDER BY rowid", job_id)
        return [Task.model_validate(decode(row)) for row in rows]

    # What waits for the user

    def inquiry(self, inquiry_id: str, kind: InquiryKind) -> Inquiry:
        """One question, or one request for permission."""
        sql = "SELECT * FROM inquiries WHERE id=? AND kind=?"
        what = "question" if kind == "question" else "permission request"
        return Inquiry.model_validate(self._one(what, sql, inquiry_id, kind))

    def pending_inquiries(
        self, context_id: str | None = None, kind: InquiryKind | None = None
    ) -> list[Inquiry]:
        """What waits for the user, in one context or in all of them, oldest first."""
        sql = (
            "SELECT * FROM inquiries WHERE status=?1 AND (?2 IS NULL OR context_id=?2)"
            " AND (?3 IS NULL OR kind=?3) ORDER BY rowid"
        )
        return self._inquiries(sql, PENDING, context_id, kind)

    def job_inquiries(self, job_id: str, kind: InquiryKind | None = None) -> list[Inquiry]:
        """All that a job has asked the user, answered or not, oldest first."""
        sql = "SELECT * FROM inquiries WHERE job_id=?1 AND (?2 IS NULL OR kind=?2) ORDER BY rowid"
        return self._inquiries(sql, job_id, kind)

    def _inquiries(self, sql: str, *values: str | None) -> list[Inquiry]:
        return [Inquiry.model_validate(decode(row)) for row in self._rows(sql, *values)]

    # Plans and checkpoints

    def plan(
        self, context_id: str, revision: int | None = None, plan_id: str | None = None
    ) -> PlanRevision | None:
        """One revision of a plan: the newest revision of the newest plan, unless named."""
        if plan_id is None:
            plan_id = next(reversed(self._plan_ids(context_id)), None)
        sql = (
            "SELECT * FROM plans WHERE context_id=? AND plan_id=? AND (? IS NULL OR revision=?)"
            " ORDER BY revision DESC LIMIT 1"
        )
        rows = self._rows(sql, context_id, plan_id, revision, revision)
        return PlanRevision.model_validate(decode(rows[0])) if rows else None

    def plan_id_of(self, job_id: str) -> str | None:
        """The plan that a job made, discusses or executes."""
        rows = self._rows("SELECT plan_id FROM jobs WHERE id=?", job_id)
        return rows[0]["plan_id"] if rows else None

    def plans(self, context_id: str) -> list[PlanRevision]:
        """Every plan of a context at its newest revision, oldest plan first."""
        newest = (self.plan(context_id, plan_id=one) for one in self._plan_ids(context_id))
        return [one for one in newest if one]

    def _plan_ids(self, context_id: str) -> list[str]:
        sql = "SELECT plan_id FROM plans WHERE context_id=? GROUP BY plan_id ORDER BY min(rowid)"
        return [row["plan_id"] for row in self._rows(sql, context_id)]

    def plan_revisions(self, plan_id: str) -> list[PlanRevision]:
        """All revisions of a plan, oldest first."""
        rows = self._rows("SELECT * FROM plans WHERE plan_id=? ORDER BY revision", plan_id)
        return [PlanRevision.model_validate(decode(row)) for row in rows]

    def newest_revisions_naming(self, path: str) -> list[PlanRevision]:
        """Of each plan that is about a file, or one in this folder, the newest revision."""
        sql = (
            "SELECT * FROM plans WHERE (instr(plan, ?1) OR instr(files_read, ?1)) AND revision="
            "(SELECT max(revision) FROM plans AS all_of_it WHERE all_of_it.plan_id=plans.plan_id)"
        )
        rows = self._rows(sql, to_json(path).strip('"'))
        found = [PlanRevision.model_validate(decode(row)) for row in rows]
        return [one for one in found if one.names(path)]

    def checkpoint(self, checkpoint_id: str) -> CheckpointRecord:
        sql = "SELECT * FROM checkpoints WHERE id=?"
        return CheckpointRecord.model_validate(self._one("checkpoint", sql, checkpoint_id))

    def cell_change(self, change_id: str) -> CellChange:
        """One change of a cell."""
        sql = "SELECT * FROM cell_changes WHERE id=?"
        return CellChange.model_validate(self._one("change of a cell", sql, change_id))

    def pending_cell_changes(self, notebook: str) -> list[CellChange]:
        """What the user has not decided about in a notebook, oldest first."""
        sql = "SELECT * FROM cell_changes WHERE notebook=? AND decision IS NULL ORDER BY rowid"
        return [CellChange.model_validate(decode(row)) for row in self._rows(sql, notebook)]

    def queued_messages(self, context_id: str) -> list[QueuedMessage]:
        """What the user has said and no agent has read yet, oldest first."""
        rows = self._rows(
            "SELECT * FROM queued_messages WHERE context_id=? ORDER BY rowid", context_id
        )
        return [QueuedMessage.model_validate(decode(row)) for row in rows]

    def checkpoints(self, context_id: str) -> list[CheckpointRecord]:
        """The checkpoints of a context, oldest first."""
        rows = self._rows("SELECT * FROM checkpoints WHERE context_id=? ORDER BY rowid", context_id)
        return [CheckpointRecord.model_validate(decode(row)) for row in rows]

    def task_checkpoints(self, context_id: str, task_id: str) -> list[CheckpointRecord]:
        """The checkpoints of one task, oldest first."""
        sql = "SELECT * FROM checkpoints WHERE context_id=? AND task_id=? ORDER BY rowid"
        rows = self._rows(sql, context_id, task_id)
        return [CheckpointRecord.model_validate(decode(row)) for row in rows]
