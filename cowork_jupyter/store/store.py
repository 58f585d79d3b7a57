"""The store: one SQLite file with everything that happened."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..domain.contexts import Context, Job, StepStatus, WorkingTime
from ..domain.events import Event
from ..domain.redaction import Mask
from ..domain.roles import AgentRole
from .database import BUSY_SECONDS, Database, explain, explain_errors
from .migrations import migrate
from .reader import Reader
from .records import JobEnd
from .recovery import UNFINISHED, ProcessLock, interrupt, orphaned_jobs
from .transaction import Transaction

_LOOK_AGAIN = 0.02


class Store(Reader):
    """One open database.

    Calls are synchronous and short (a commit takes tens of microseconds), so the service makes them
    directly on its event loop; `wait_for_write_lock` waits there for other processes. Threads may
    share a store, processes may share its file.
    """

    def __init__(
        self,
        path: Path,
        mask: Mask | None = None,
        resolve_role: Callable[[AgentRole], AgentRole] | None = None,
    ) -> None:
        self.path = Path(path)
        self.resolve_role = resolve_role or self.resolve_role
        self.mask = mask or Mask()
        self.unstored_ends: dict[str, JobEnd] = {}
        """Of jobs that have ended while nothing can be written: readers see them as ended."""
        self._database = Database(self.path)
        try:
            with explain_errors(self.path), self._database.alone() as connection:
                migrate(connection, self.path)
            self._owner = ProcessLock(self.path)
        except OSError as error:
            self._database.close()
            raise explain(error, self.path) from error
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        self._owner.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        with explain_errors(self.path), self._database.reading() as connection:
            return connection.execute(sql, values).fetchall()

    def _jobs(self, sql: str, *values: str) -> list[Job]:
        return [self._as_ended(job) for job in super()._jobs(sql, *values)]

    def _as_ended(self, job: Job) -> Job:
        end = self.unstored_ends.get(job.id)
        if end is None:
            return job
        cut_off = {"status": StepStatus.INTERRUPTED, "completed_at": end.completed_at}
        tasks = [
            task.model_copy(update=cut_off | _worked(task, end))
            if task.status in UNFINISHED
            else task
            for task in job.tasks
        ]
        return job.model_copy(update={**vars(end), **_worked(job, end), "tasks": tasks})

    def active_job(self, context_id: str) -> Job | None:
        job = super().active_job(context_id)
        return None if job is None or job.status.is_final else job

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Commit changes together with their events, or nothing.

        Do not await inside: other processes wait until the block ends.
        """
        with explain_errors(self.path), self._database.transaction() as connection:
            tx = Transaction(connection, self._owner.name, self.mask)
            tx.resolve_role = self.resolve_role
            yield tx

    def is_free(self) -> bool:
        return self._database.is_free()

    async def wait_for_write_lock(self) -> None:
        """Wait for other writers without blocking the loop, as long as a transaction would."""
        deadline = time.monotonic() + BUSY_SECONDS
        while not self.is_free():
            if time.monotonic() > deadline:
                return  # the transaction will raise
            await asyncio.sleep(_LOOK_AGAIN)

    def save_context(self, context: Context) -> Context:
        with self.transaction() as tx:
            tx.save_context(context)
        return context

    def delete_context(self, context_id: str) -> None:
        with self.transaction() as tx:
            tx.delete_context(context_id)

    def is_running_here(self, job_id: str) -> bool:
        return self.owners().get(job_id) == self._owner.name

    def recover(self) -> list[Event]:
        """Interrupt jobs of dead processes; living ones are left alone.

        Called once by each service when it opens the store. Returns the events about it.
        """
        with self.transaction() as tx:
            for job in orphaned_jobs(tx, self._owner.is_alive):
                interrupt(tx, job)
        self._owner.sweep()
        return tx.events_added


def _worked(of: WorkingTime, end: JobEnd) -> dict[str, Any]:
    seconds = of.worked_until(datetime.fromisoformat(end.completed_at))
    return {"worked_seconds": seconds, "working_since": None}
