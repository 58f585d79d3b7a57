"""Everything that can be asked of the store."""

from __future__ import annotations

import json

from ..domain.cell_changes import CellChange
from ..domain.contexts import Job, Task
from ..domain.errors import NotFound
from ..domain.queue import QueuedMessage
from .context_reader import ContextReader
from .log_reader import LogReader
from .records import PENDING, CheckpointRecord, Inquiry, InquiryKind, PlanRevision
from .rows import decode, to_json


class Reader(ContextReader, LogReader):
    """All the questions."""

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
        return Task.model_validate(
            self._single_row("task", "SELECT * FROM tasks WHERE id=?", task_id)
        )

    def tasks(self, job_id: str) -> list[Task]:
        """The tasks of a job, in the order they were made."""
        rows = self._rows("SELECT * FROM tasks WHERE job_id=? ORDER BY rowid", job_id)
        return [Task.model_validate(decode(row)) for row in rows]

    # What waits for the user

    def inquiry(self, inquiry_id: str, kind: InquiryKind) -> Inquiry:
        """One question, or one request for permission."""
        sql = "SELECT * FROM inquiries WHERE id=? AND kind=?"
        what = "question" if kind == "question" else "permission request"
        return Inquiry.model_validate(self._single_row(what, sql, inquiry_id, kind))

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
        newest = (self.plan(context_id, plan_id=plan_id) for plan_id in self._plan_ids(context_id))
        return [revision for revision in newest if revision]

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
        return [revision for revision in found if revision.names(path)]

    def checkpoint(self, checkpoint_id: str) -> CheckpointRecord:
        sql = "SELECT * FROM checkpoints WHERE id=?"
        return CheckpointRecord.model_validate(self._single_row("checkpoint", sql, checkpoint_id))

    def cell_change(self, change_id: str) -> CellChange:
        """One change of a cell."""
        sql = "SELECT * FROM cell_changes WHERE id=?"
        return CellChange.model_validate(self._single_row("change of a cell", sql, change_id))

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
