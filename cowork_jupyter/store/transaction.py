"""All changes to the store, always inside a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from ..domain.contexts import Context, Initiator, Job, QueuedMessage, Task, Usage, WorkingTime
from ..domain.effects import CellChange
from ..domain.errors import Conflict, NotFound
from ..domain.events import Event, EventData, FileMoved, type_of
from ..domain.identity import now
from ..domain.messages import Message, RoleChangeData
from ..domain.redaction import Mask
from ..domain.roles import AgentRole
from . import retention, search
from .folding import fold_job, fold_turn
from .reader import Reader
from .records import CheckpointRecord, PlanRevision, UserRequest
from .rows import encode, insert, to_json, upsert

_KEPT_HERE = ("tasks", *WorkingTime.model_fields)
"""Stored by `save_task`, or kept by the transaction itself."""


def _saved(model: type[BaseModel]) -> list[str]:
    return [name for name in model.model_fields if name not in _KEPT_HERE]


_SAVE_JOB = upsert("jobs", [*_saved(Job), "owner"])
_SAVE = {
    "contexts": upsert("contexts", list(Context.model_fields)),
    "tasks": upsert("tasks", _saved(Task)),
    "inquiries": upsert("inquiries", list(UserRequest.model_fields)),
    "plans": upsert("plans", list(PlanRevision.model_fields), key="plan_id,revision"),
    "checkpoints": upsert("checkpoints", list(CheckpointRecord.model_fields)),
    "cell_changes": upsert("cell_changes", list(CellChange.model_fields)),
    "queued_messages": upsert("queued_messages", list(QueuedMessage.model_fields)),
}
_IS_THERE = "(notebook=?1 OR substr(notebook, 1, length(?1) + 1)=?1 || '/')"
"""The notebook itself, or one in this folder."""
_CONCERNED = (
    f"SELECT id FROM contexts WHERE {_IS_THERE} OR id IN"  # noqa: S608 (our words)
    " (SELECT context_id FROM jobs WHERE status IN ('running', 'waiting'))"
)
_LEAVE_NOTEBOOK = f"UPDATE contexts SET notebook=NULL WHERE {_IS_THERE}"  # noqa: S608 (our words)
_MOVE_NOTEBOOK = [
    f"UPDATE OR IGNORE {table} SET notebook=?2 || substr(notebook, length(?1) + 1)"  # noqa: S608
    f" WHERE {_IS_THERE}"
    for table in ("contexts", "jobs", "cell_changes")
]
_LAST_EVENT = (
    "SELECT created_at FROM events WHERE context_id=? AND job_id=? ORDER BY seq DESC LIMIT 1"
)
_ADD_MESSAGE = insert("messages", [*Message.model_fields, "seq"])
_ADD_EVENT = insert("events", list(Event.model_fields))

D = TypeVar("D", bound=BaseModel)
_Record = Task | UserRequest | PlanRevision | CheckpointRecord | CellChange | QueuedMessage


class Transaction(Reader):
    """Changes that are stored together or not at all, with the events about them."""

    def __init__(self, connection: sqlite3.Connection, owner: str, mask: Mask) -> None:
        self._connection = connection
        self._owner = owner
        self._mask = mask
        self.events_added: list[Event] = []
        """To be shown only after the commit."""

    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        return self._connection.execute(sql, values).fetchall()

    # The log

    def append_event(
        self,
        context_id: str,
        data: EventData,
        job_id: str | None = None,
        task_id: str | None = None,
    ) -> Event:
        data, fields = self._masked(data)
        event = self._event(context_id, data, job_id, task_id, now())
        self._add_event(event, to_json(fields))
        return event

    def append_message(self, message: Message) -> Event:
        """Store a message and the event that announces it, and fold its streamed pieces into one
        row.
        """
        message, fields = self._masked(message)
        if message.job_id:
            fold_turn(
                self._connection, self._mask, message.context_id, message.job_id, message.task_id
            )
        event = self._event(
            message.context_id, message, message.job_id, message.task_id, message.created_at
        )
        values = encode(fields)
        self._execute_in(message.context_id, _ADD_MESSAGE, (*values, event.seq))
        search.add_message(self._connection, message.context_id, event.seq)
        self._add_event(event, None)
        self._connection.execute(
            "UPDATE contexts SET updated_at=? WHERE id=?", (now(), message.context_id)
        )
        return event

    def save_message_data(self, message: Message) -> None:
        """Update a message's data, and show the message again."""
        message, fields = self._masked(message)
        sql = "UPDATE messages SET data=? WHERE id=?"
        self._connection.execute(sql, (to_json(fields["data"]), message.id))
        self.append_event(message.context_id, message, message.job_id, message.task_id)

    def _masked(self, data: D) -> tuple[D, dict[str, Any]]:
        """Redact; also return the redacted values as plain data."""
        fields = data.model_dump()
        hidden = self._mask.everywhere(fields)
        return (data if hidden == fields else type(data).model_validate(hidden)), hidden

    def _event(
        self,
        context_id: str,
        data: EventData,
        job_id: str | None,
        task_id: str | None,
        created_at: str,
    ) -> Event:
        return Event(
            seq=self.last_seq(context_id) + 1,
            type=type_of(data),
            context_id=context_id,
            job_id=job_id,
            task_id=task_id,
            created_at=created_at,
            data=data,
        )

    def _add_event(self, event: Event, data: str | None) -> None:
        values = (
            event.seq,
            event.type.value,
            event.context_id,
            event.job_id,
            event.task_id,
            event.created_at,
            data,
        )
        self._execute_in(event.context_id, _ADD_EVENT, values)
        self.events_added.append(event)

    # The state

    def save_context(self, context: Context) -> None:
        # In the order of the columns, and including fields that are dumped only if true.
        fields = {**dict.fromkeys(Context.model_fields, False), **context.model_dump()}
        self._connection.execute(_SAVE["contexts"], self._encoded(fields))

    def set_owner(self, context_id: str, owner: str, kernel_id: str | None = None) -> None:
        sql = "INSERT OR REPLACE INTO owners (context_id, owner, kernel_id) VALUES (?, ?, ?)"
        self._execute_in(context_id, sql, (context_id, owner, kernel_id))

    def set_role(
        self, context_id: str, role: AgentRole, by: Initiator | None = None
    ) -> RoleChangeData:
        """Let the next message go to this role, and say so."""
        facts = {"from": self.context(context_id).role, "to": role, "by": by}
        changed = RoleChangeData.model_validate(facts)
        sql = "UPDATE contexts SET role=?, updated_at=? WHERE id=?"
        self._connection.execute(sql, (role.value, now(), context_id))
        self.append_event(context_id, changed)
        return changed

    def set_workspace(self, context_id: str, folder: str) -> None:
        sql = "INSERT OR REPLACE INTO workspaces (context_id, folder) VALUES (?, ?)"
        self._execute_in(context_id, sql, (context_id, folder))

    def delete_context(self, context_id: str) -> None:
        self.context(context_id)
        search.forget_context(self._connection, context_id)
        self._connection.execute("DELETE FROM contexts WHERE id=?", (context_id,))

    def trash_context(self, context_id: str) -> None:
        self.context(context_id)
        retention.trash_context(self._connection, context_id, now())

    def restore_context(self, context_id: str) -> Context:
        if all(context.id != context_id for context, _ in self.deleted_contexts()):
            raise NotFound(
                "This conversation can no longer be restored.", details={"id": context_id}
            )
        retention.restore_context(self._connection, context_id)
        return self.context(context_id)

    def release_space(self) -> bool:
        """Return some free pages to the file system; True if there are more."""
        return retention.release_pages(self._connection)

    def remove_deleted(self, deadline: str) -> list[str]:
        """Delete for good what was set aside before this time; return the contexts' ids."""
        return retention.purge_trash(self._connection, deadline)

    def save_job(self, job: Job) -> None:
        """Store a job as run by this process. Tasks are stored by `save_task`."""
        fields = job.model_dump(include=set(_saved(Job)))
        owner = None if job.status.is_final else self._owner
        self._execute_in(job.context_id, _SAVE_JOB, (*self._encoded(fields), owner))
        if job.status.is_final:
            end_time(self._connection, job.id, job.completed_at or now())
            fold_job(self._connection, self._mask, job.context_id, job.id)
        else:
            keep_job_time(self._connection, job.id, now())

    def save_usage(self, job_id: str, usage: Usage) -> None:
        sql = "UPDATE jobs SET usage=? WHERE id=?"
        self._connection.execute(sql, (to_json(usage.model_dump()), job_id))

    def save_task(self, task: Task) -> None:
        self._save("tasks", task)
        keep_task_time(self._connection, task.id, now())
        keep_job_time(self._connection, task.job_id, now())

    def end_working_time(self, job: Job) -> None:
        """For a job whose process is dead: it worked until the last that is known of it."""
        last = self._rows(_LAST_EVENT, job.context_id, job.id)
        end_time(self._connection, job.id, last[0]["created_at"] if last else job.created_at)

    def save_memory_offer(self, job: Job, workspace: str, status: str) -> None:
        """Note that a run may have taught something worth remembering, or what was decided about
        it.
        """
        sql = upsert("memory_offers", ("job_id", "context_id", "workspace", "status"), key="job_id")
        self._execute_in(job.context_id, sql, (job.id, job.context_id, workspace, status))

    def save_request(self, request: UserRequest) -> None:
        self._save("inquiries", request)
        if request.task_id:
            keep_task_time(self._connection, request.task_id, now())
        if request.job_id:
            keep_job_time(self._connection, request.job_id, now())

    def save_plan(self, revision: PlanRevision) -> None:
        self._save("plans", revision)

    def save_checkpoint(self, checkpoint: CheckpointRecord) -> None:
        self._save("checkpoints", checkpoint)

    def save_cell_change(self, change: CellChange) -> None:
        self._save("cell_changes", change)

    def move_file(self, old: str, new: str) -> None:
        """Follow a renamed file or folder in everything that is still to be done with it.

        A conversation about a notebook that was at the new path before loses its notebook.
        """
        revisions = self.newest_revisions_naming(old)
        concerned = {row["id"] for row in self._rows(_CONCERNED, old)}
        self._connection.execute(_LEAVE_NOTEBOOK, (new,))
        for statement in _MOVE_NOTEBOOK:
            self._connection.execute(statement, (old, new))
        for context_id in sorted(concerned | {revision.context_id for revision in revisions}):
            self.append_event(context_id, FileMoved(old=old, new=new))
        for revision in revisions:
            revision.move_file(old, new)
            self.save_plan(revision)
            self.append_event(revision.context_id, revision.as_event())

    def save_queued_message(self, message: QueuedMessage) -> None:
        self._save("queued_messages", message)

    def delete_queued_messages(self, ids: Iterable[str]) -> None:
        self._delete("queued_messages", ids)

    def delete_checkpoints(self, ids: Iterable[str]) -> None:
        self._delete("checkpoints", ids)

    def _delete(self, table: str, ids: Iterable[str]) -> None:
        values = [(row_id,) for row_id in ids]
        self._connection.executemany(f"DELETE FROM {table} WHERE id=?", values)  # noqa: S608

    def _save(self, table: str, record: _Record) -> None:
        fields = record.model_dump(include=set(_saved(type(record))))
        self._execute_in(record.context_id, _SAVE[table], self._encoded(fields))

    def _encoded(self, fields: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(
            self._mask(value) if isinstance(value, str) else value for value in encode(fields)
        )

    def _execute_in(self, context_id: str, sql: str, values: tuple[Any, ...]) -> None:
        """Raise NotFound if the context does not exist any more."""
        try:
            self._connection.execute(sql, values)
        except sqlite3.IntegrityError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
                raise Conflict(f"This is already stored: {error}.") from error
            raise NotFound(
                f"There is no context '{context_id}'.", details={"id": context_id}
            ) from error


# --- working time: no waits for the user, no downtime

# It is stored span by span. A task works while it runs and nothing of it waits for the user. A job
# works unless it waits for the user in all that it does.
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
