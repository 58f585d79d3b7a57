"""The checkpoint before each job, from which all of it can be taken back.

When a job begins that can change something, the workspace is looked at in the background.
Its first tool that can change something waits for that, and only then is the checkpoint
listed: a job that never came so far has left nothing to go back from.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3

from ..domain.errors import CoworkError
from .store import WorkspaceState
from .writer import MAX_LABEL_LENGTH, CheckpointWriter, Origin

logger = logging.getLogger(__name__)


class JobMarks:
    """One for each job."""

    def __init__(self, writer: CheckpointWriter) -> None:
        self._writer = writer
        self._lazy_store = writer.lazy_store
        self._looks: dict[str, asyncio.Task[None]] = {}
        """By job: the look at the workspace before it."""
        self._marks: dict[str, asyncio.Task[None]] = {}
        """By job: writing down that this is the place before it."""

    def begin(self, job_id: str) -> None:
        """Look at how things are before a job, in the background; once for each job."""
        if job_id not in self._looks:
            self._looks[job_id] = asyncio.create_task(self._look())

    async def mark(self, context_id: str, job_id: str) -> None:
        """See to it that the place before a job is written down. Who is cancelled may go."""
        self.begin(job_id)
        if job_id not in self._marks:
            self._marks[job_id] = asyncio.create_task(self._mark(context_id, job_id))
        try:
            await asyncio.shield(self._marks[job_id])
        except (OSError, sqlite3.Error, CoworkError):
            self._marks.pop(job_id, None)  # the next tool tries again
            raise

    async def close(self) -> None:
        """Wait until nothing is done any more; with the store closed that is soon."""
        if rest := [*self._looks.values(), *self._marks.values()]:
            await asyncio.wait(rest)

    async def _look(self) -> None:
        """Whoever needs a checkpoint will find out for themselves if none can be taken."""
        try:
            await self._lazy_store.ask(WorkspaceState.scan)
        except (OSError, sqlite3.Error, CoworkError) as error:
            logger.info("The workspace could not be looked at before a job: %s", error)

    async def _mark(self, context_id: str, job_id: str) -> None:
        await asyncio.wait([self._looks[job_id]])
        if await self._lazy_store.ask(lambda state: state.store.has_job(job_id)):
            return  # a job that was resumed has its mark
        text = self._writer.journal.store.job(job_id).request.strip().partition("\n")[0]
        label = f"Before: {text or 'this job'}"[:MAX_LABEL_LENGTH]
        await self._writer.record(Origin(context_id, job_id, label=label), [])
