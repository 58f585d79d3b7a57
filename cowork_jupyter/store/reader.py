"""All queries of the store."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel

from ..domain.contexts import Context, FoundContext, Job, QueuedMessage, Task
from ..domain.effects import CellChange, DataEffect
from ..domain.errors import NotFound
from ..domain.events import Event, EventType, FileMoved
from ..domain.guidance import Guidance, GuidanceUsed
from ..domain.messages import Answer, Message
from ..domain.roles import AgentRole
from .folding import data_after
from .records import PENDING, CheckpointRecord, Page, PlanRevision, UserRequest, UserRequestKind
from .retention import BY_CONTEXT, LIST_DELETED, UNUSED, ContextSize
from .rows import decode, to_json
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

ALL = -1
"""SQLite's "no limit"."""
END = 2**62
"""Greater than every position."""
MAX_PAGE_SIZE = 512

_FIRST_PAGE = 32
_NEWEST_JOBS = 20  # which the user may still want to learn from
_SAID = (
    "SELECT seq, content FROM messages WHERE context_id=? AND seq<?"  # noqa: S608 (our words)
    f" AND COALESCE(message_type, 'text') NOT IN {NOT_SPOKEN} ORDER BY seq DESC LIMIT ?"
)
_STREAMED_SINCE = (
    "SELECT * FROM events WHERE context_id=?1 AND job_id=?2 AND (type IN"
    " ('text-delta', 'reasoning-delta')"
    " OR type='notice' AND json_extract(data, '$.code')='restarted')"
    " AND seq>COALESCE((SELECT min(seq) FROM messages WHERE job_id=?2), 0)"
    " AND seq>COALESCE((SELECT max(seq) FROM messages WHERE job_id=?2"
    " AND task_id IS events.task_id), 0) ORDER BY seq"
)


def _as_stored(role: AgentRole) -> AgentRole:
    return role


M = TypeVar("M", bound=BaseModel)


class RowReader(ABC):
    """Inside a `Transaction` it sees that transaction's changes."""

    @abstractmethod
    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]: ...

    def _list(self, model: type[M], sql: str, *values: Any) -> list[M]:
        return [model.model_validate(decode(row)) for row in self._rows(sql, *values)]

    def _get(self, model: type[M], what: str, sql: str, key: str, *more: str) -> M:
        """Raises NotFound if there is none; `what` is its name for the user."""
        for item in self._list(model, sql, key, *more):
            return item
        raise NotFound(f"There is no {what} '{key}'.", details={"id": key})


def message_of(row: sqlite3.Row) -> Message:
    return Message.model_validate(decode(row))


def event_of(row: sqlite3.Row, data: Message | Any) -> Event:
    return Event(
        seq=row["seq"],
        type=row["type"],
        context_id=row["context_id"],
        job_id=row["job_id"],
        task_id=row["task_id"],
        created_at=row["created_at"],
        data=data,
    )


class LogReader(RowReader):
    """Events and messages."""

    def last_seq(self, context_id: str) -> int:
        sql = "SELECT max(seq) FROM events WHERE context_id=?"
        return self._rows(sql, context_id)[0][0] or 0

    def events(self, context_id: str, after: int = 0, limit: int = ALL) -> list[Event]:
        sql = "SELECT * FROM events WHERE context_id=? AND seq>? ORDER BY seq LIMIT ?"
        rows = self._rows(sql, context_id, after, limit)
        seqs = [row["seq"] for row in rows if row["type"] == EventType.MESSAGE]
        messages = self._messages_between(context_id, seqs[0], seqs[-1]) if seqs else {}
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

    def memory_offer_workspace(self, job_id: str) -> str | None:
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


class ContextReader(RowReader):
    """Conversations: found, deleted, and how large they are."""

    def context(self, context_id: str) -> Context:
        sql = "SELECT * FROM contexts WHERE id=?"
        return self._get(Context, "context", sql, context_id)

    def owner(self, context_id: str) -> str:
        """Empty if it belongs to nobody in particular."""
        rows = self._rows("SELECT owner FROM owners WHERE context_id=?", context_id)
        return str(rows[0]["owner"]) if rows else ""

    def workspace(self, context_id: str) -> str:
        rows = self._rows("SELECT folder FROM workspaces WHERE context_id=?", context_id)
        return str(rows[0]["folder"]) if rows else ""

    def made_by_kernel(self, context_id: str) -> str | None:
        """The kernel whose code made the context."""
        rows = self._rows("SELECT kernel_id FROM owners WHERE context_id=?", context_id)
        return rows[0]["kernel_id"] if rows else None

    def contexts(
        self,
        after: int | None = None,
        limit: int = 100,
        owner: str | None = None,
        notebook: str | None = None,
        pinned: bool | None = None,
        workspace: str | None = None,
        search: str = "",
    ) -> Page[FoundContext]:
        """Contexts, newest first; with an owner, only theirs and nobody's.

        A search matches contexts that contain all its words in the title, the notebook's path, or
        what was said; tool output is not searched.
        """
        sql = (
            "SELECT contexts.* FROM contexts"
            " LEFT JOIN owners ON owners.context_id=contexts.id"
            " LEFT JOIN workspaces ON workspaces.context_id=contexts.id"
            " WHERE position<?1 AND (?2 IS NULL OR COALESCE(owner, '') IN ('', ?2))"
            " AND (?4 IS NULL OR notebook=?4) AND (?5 IS NULL OR pinned=?5)"
            " AND (?6 IS NULL OR folder=?6)"
            " ORDER BY position DESC LIMIT ?3"
        )
        words = words_of(search)
        start = END if after is None else after
        which = (notebook, pinned, workspace)
        rows = self._rows(sql, start, owner, ALL if words else limit + 1, *which)
        matches = self._containing(rows, words) if words else ((row, "") for row in rows)
        page = list(islice(matches, limit + 1))
        items = [
            FoundContext.model_validate({**decode(row), "snippet": snippet})
            for row, snippet in page[:limit]
        ]
        return Page(items, page[limit - 1][0]["position"] if len(page) > limit else None)

    def _containing(
        self, rows: Iterable[sqlite3.Row], words: list[str]
    ) -> Iterator[tuple[sqlite3.Row, str]]:
        """The contexts that contain all words, each with an excerpt."""
        places = {word: self._places(word) for word in words}
        for row in rows:
            named = fold(f"{row['title']} {row['notebook'] or ''}")
            snippet = ""
            for word in words:
                if word in named:
                    continue
                text = self._message_with(word, row, places[word])
                if text is None:
                    break
                snippet = snippet or excerpt(text, word)
            else:
                yield row, snippet

    def _places(self, word: str) -> dict[int, int] | None:
        """Newest likely message by context; None if the word is too common for the index."""
        if len(word) > SHORT:
            match = query(grams_of(word), "AND")
        else:
            grams = self._rows(GRAMS, word)
            if len(grams) == FEW_GRAMS or sum(row["doc"] for row in grams) > FEW_MESSAGES:
                return None
            match = query((row["term"] for row in grams), "OR")
        return {row["position"]: row["seq"] for row in self._rows(PLACES, match)} if match else {}

    def _message_with(
        self, word: str, context: sqlite3.Row, places: dict[int, int] | None
    ) -> str | None:
        newest = END if places is None else places.get(context["position"], 0) + 1
        size = 1 if places is not None else 4  # a common word is in one of these
        while rows := self._rows(_SAID, context["id"], newest, size):
            for row in rows:
                text = text_of(row["content"])
                if word in fold(text):
                    return text
            newest, size = rows[-1]["seq"], min(size * 8, MAX_PAGE_SIZE)
        return None

    def deleted_contexts(self) -> list[tuple[Context, str]]:
        """Contexts that can still be restored, each with its time of deletion; newest first."""
        rows = self._rows(LIST_DELETED)
        return [(Context.model_validate_json(row["row"]), row["deleted_at"]) for row in rows]

    def unused_contexts(self, since: str, limit: int = ALL) -> list[str]:
        """Contexts not used since then, oldest first, except those pinned, at work, or waiting."""
        return [row["id"] for row in self._rows(UNUSED, since, limit)]

    def context_sizes(self) -> list[ContextSize]:
        rows = self._rows(BY_CONTEXT)
        return [ContextSize(**{**dict(row), "pinned": bool(row["pinned"])}) for row in rows]

    def free_bytes(self) -> int:
        (pages,), (size,) = (
            self._rows(f"PRAGMA {name}")[0] for name in ("freelist_count", "page_size")
        )
        return int(pages) * int(size)


class Reader(ContextReader, LogReader):
    resolve_role: Callable[[AgentRole], AgentRole] = staticmethod(_as_stored)
    """Gives roles in plans, which are stored by name, the rights of their declaration."""

    # Jobs and tasks

    def job(self, job_id: str) -> Job:
        for job in self._jobs("SELECT * FROM jobs WHERE id=?", job_id):
            return job
        raise NotFound(f"There is no job '{job_id}'.", details={"id": job_id})

    def jobs(self, context_id: str) -> list[Job]:
        return self._jobs("SELECT * FROM jobs WHERE context_id=? ORDER BY rowid", context_id)

    def _jobs(self, sql: str, *values: str) -> list[Job]:
        """Find jobs; one more query finds the tasks of all of them."""
        jobs = {row["id"]: {**decode(row), "tasks": []} for row in self._rows(sql, *values)}
        in_these = "SELECT * FROM tasks WHERE job_id IN (SELECT value FROM json_each(?))"
        for row in self._rows(f"{in_these} ORDER BY rowid", json.dumps([*jobs])):
            jobs[row["job_id"]]["tasks"].append(decode(row))
        return [Job.model_validate(fields) for fields in jobs.values()]

    def streamed_since_messages(self, job: Job) -> list[Event]:
        """What models have streamed in a job since the last message of the same task."""
        rows = self._rows(_STREAMED_SINCE, job.context_id, job.id)
        return [event_of(row, json.loads(row["data"])) for row in rows]

    def card_jobs(self, card_id: str) -> list[Job]:
        """The jobs that a card shows, oldest first.

        Those started on it; and, for the card on which a plan was made, every execution of that
        plan, wherever it was started.
        """
        sql = (
            "SELECT jobs.* FROM jobs JOIN jobs AS root ON root.id=?1"
            " WHERE jobs.id=?1 OR jobs.card_id=?1 OR (jobs.kind='plan' AND root.kind<>'plan'"
            " AND jobs.plan_id=root.plan_id) ORDER BY jobs.rowid"
        )
        return self._jobs(sql, card_id)

    def executions(self, plan_id: str) -> list[Job]:
        sql = "SELECT * FROM jobs WHERE kind='plan' AND plan_id=? ORDER BY rowid"
        return self._jobs(sql, plan_id)

    def card(self, context_id: str, job_id: str) -> Job | None:
        sql = (
            "SELECT card.* FROM jobs JOIN jobs AS card ON card.id=jobs.card_id"
            " WHERE jobs.context_id=? AND jobs.id=?"
        )
        return next(iter(self._jobs(sql, context_id, job_id)), None)

    def active_job(self, context_id: str) -> Job | None:
        sql = "SELECT * FROM jobs WHERE context_id=? AND status IN ('running', 'waiting')"
        return next(iter(self._jobs(sql, context_id)), None)

    def owners(self) -> dict[str, str | None]:
        """Process mark by id of every job that runs or waits."""
        sql = "SELECT id, owner FROM jobs WHERE status IN ('running', 'waiting') ORDER BY rowid"
        return {row["id"]: row["owner"] for row in self._rows(sql)}

    def task(self, task_id: str) -> Task:
        return self._get(Task, "task", "SELECT * FROM tasks WHERE id=?", task_id)

    def tasks(self, job_id: str) -> list[Task]:
        return self._list(Task, "SELECT * FROM tasks WHERE job_id=? ORDER BY rowid", job_id)

    # What waits for the user

    def user_request(self, request_id: str, kind: UserRequestKind) -> UserRequest:
        sql = "SELECT * FROM inquiries WHERE id=? AND kind=?"
        what = "question" if kind == "question" else "permission request"
        return self._get(UserRequest, what, sql, request_id, kind)

    def pending_requests(
        self, context_id: str | None = None, kind: UserRequestKind | None = None
    ) -> list[UserRequest]:
        """Open requests in one context or in all, oldest first."""
        sql = (
            "SELECT * FROM inquiries WHERE status=?1 AND (?2 IS NULL OR context_id=?2)"
            " AND (?3 IS NULL OR kind=?3) ORDER BY rowid"
        )
        return self._list(UserRequest, sql, PENDING, context_id, kind)

    def job_requests(self, job_id: str, kind: UserRequestKind | None = None) -> list[UserRequest]:
        sql = "SELECT * FROM inquiries WHERE job_id=?1 AND (?2 IS NULL OR kind=?2) ORDER BY rowid"
        return self._list(UserRequest, sql, job_id, kind)

    # Plans and checkpoints

    def plan(
        self, context_id: str, revision: int | None = None, plan_id: str | None = None
    ) -> PlanRevision | None:
        """By default the newest revision of the newest plan."""
        if plan_id is None:
            plan_id = next(reversed(self._plan_ids(context_id)), None)
        sql = (
            "SELECT * FROM plans WHERE context_id=? AND plan_id=? AND (? IS NULL OR revision=?)"
            " ORDER BY revision DESC LIMIT 1"
        )
        revisions = self._plans(sql, context_id, plan_id, revision, revision)
        return revisions[0] if revisions else None

    def plan_id_of(self, job_id: str) -> str | None:
        rows = self._rows("SELECT plan_id FROM jobs WHERE id=?", job_id)
        return rows[0]["plan_id"] if rows else None

    def plans(self, context_id: str) -> list[PlanRevision]:
        newest = (self.plan(context_id, plan_id=plan_id) for plan_id in self._plan_ids(context_id))
        return [revision for revision in newest if revision]

    def _plan_ids(self, context_id: str) -> list[str]:
        sql = "SELECT plan_id FROM plans WHERE context_id=? GROUP BY plan_id ORDER BY min(rowid)"
        return [row["plan_id"] for row in self._rows(sql, context_id)]

    def plan_revisions(self, plan_id: str) -> list[PlanRevision]:
        return self._plans("SELECT * FROM plans WHERE plan_id=? ORDER BY revision", plan_id)

    def _plans(self, sql: str, *values: object) -> list[PlanRevision]:
        revisions = self._list(PlanRevision, sql, *values)
        for revision in revisions:
            revision.plan = revision.plan.with_roles(self.resolve_role)
        return revisions

    def newest_revisions_naming(self, path: str) -> list[PlanRevision]:
        """The newest revision of each plan about a file, or about one in this folder."""
        sql = (
            "SELECT * FROM plans WHERE (instr(plan, ?1) OR instr(files_read, ?1)) AND revision="
            "(SELECT max(revision) FROM plans AS all_of_it WHERE all_of_it.plan_id=plans.plan_id)"
        )
        revisions = self._plans(sql, to_json(path).strip('"'))
        return [revision for revision in revisions if revision.names(path)]

    def checkpoint(self, checkpoint_id: str) -> CheckpointRecord:
        sql = "SELECT * FROM checkpoints WHERE id=?"
        return self._get(CheckpointRecord, "checkpoint", sql, checkpoint_id)

    def cell_change(self, change_id: str) -> CellChange:
        sql = "SELECT * FROM cell_changes WHERE id=?"
        return self._get(CellChange, "change of a cell", sql, change_id)

    def pending_cell_changes(self, notebook: str) -> list[CellChange]:
        sql = "SELECT * FROM cell_changes WHERE notebook=? AND decision IS NULL ORDER BY rowid"
        return self._list(CellChange, sql, notebook)

    def queued_messages(self, context_id: str) -> list[QueuedMessage]:
        """What no agent has read yet, oldest first."""
        return self._list(
            QueuedMessage,
            "SELECT * FROM queued_messages WHERE context_id=? ORDER BY rowid",
            context_id,
        )

    def checkpoints(self, context_id: str) -> list[CheckpointRecord]:
        return self._list(
            CheckpointRecord,
            "SELECT * FROM checkpoints WHERE context_id=? ORDER BY rowid",
            context_id,
        )

    def task_checkpoints(self, context_id: str, task_id: str) -> list[CheckpointRecord]:
        sql = "SELECT * FROM checkpoints WHERE context_id=? AND task_id=? ORDER BY rowid"
        return self._list(CheckpointRecord, sql, context_id, task_id)
