"""A checkpoint around every tool call that can change something, and one before each job.

Tools that name their files get exactly those kept; everything else that can write gets a
scan of the workspace before and after. It is written down before the tool runs, so that
nothing is lost if we are killed meanwhile. The scan before a job and those after its tools
run in the background, in threads: only the next tool that can change something waits for
them. A tool whose checkpoint cannot be taken does not run.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from ..domain.errors import CoworkError, Unavailable
from ..domain.identity import new_id
from ..domain.notices import Notice
from ..domain.redaction import without_surrogates
from ..domain.roles import Permission
from ..workspace import Workspace
from .documents import OpenDocuments, captured
from .entries import Change, FileEntry, Uncovered, same
from .exclude import inside_git
from .recovery import Recovery
from .side_by_side import RunningCall, SideBySide
from .store import WorkspaceState
from .writer import MAX_LABEL_LENGTH, CheckpointWriter, Origin


class JobMarks:
    """The checkpoint before each job, from which all of it can be taken back.

    When a job begins that can change something, the workspace is looked at in the background.
    Its first tool that can change something waits for that, and only then is the checkpoint
    listed: a job that never came so far has left nothing to go back from.
    """

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

    def forget(self, job_id: str) -> None:
        """The job has ended. If it is resumed, its mark is in the record."""
        for kept in (self._looks, self._marks):
            if task := kept.get(job_id):
                task.add_done_callback(partial(_drop, kept, job_id))

    async def close(self) -> None:
        """Wait until nothing is done any more; with the store closed that is soon."""
        if rest := [*self._looks.values(), *self._marks.values()]:
            await asyncio.wait(rest)

    async def _look(self) -> None:
        """Whoever needs a checkpoint will find out for themselves if none can be taken."""
        try:
            await self._lazy_store.ask(WorkspaceState.scan)
        except (OSError, sqlite3.Error, CoworkError) as error:
            logger.debug("The workspace could not be looked at before a job: %s", error)

    async def _mark(self, context_id: str, job_id: str) -> None:
        began = time.monotonic()
        await asyncio.wait([self._looks[job_id]])
        if await self._lazy_store.ask(lambda state: state.store.has_job(job_id)):
            return  # a job that was resumed has its mark
        text = self._writer.journal.store.job(job_id).request.strip().partition("\n")[0]
        label = f"Before: {text or 'this job'}"[:MAX_LABEL_LENGTH]
        spent = time.monotonic() - began
        await self._writer.record(Origin(context_id, job_id, label=label), [], spent=spent)


def _drop(kept: dict[str, asyncio.Task[None]], job_id: str, _ended: asyncio.Task[None]) -> None:
    kept.pop(job_id, None)


logger = logging.getLogger(__name__)

CACHES = frozenset(
    {"__pycache__", ".ipynb_checkpoints", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".cache"}
)
"""Left out by checkpoints, and missed by nobody: a card that names them every time tells less."""
MAX_AT_RISK = 20
BEAT = 1.0
"""Seconds between two signs of life while a tool runs."""
_CHANGING = frozenset(Permission) - {Permission.READ_FILES}


@dataclass(frozen=True)
class ToolUse:
    """A call that is about to run."""

    context_id: str
    job_id: str | None
    task_id: str | None
    step_id: str | None
    tool: str
    permissions: frozenset[Permission]
    parameters: Mapping[str, Any]

    @property
    def origin(self) -> Origin:
        """What its checkpoint belongs to, with a label such as `update_file data/a.csv`."""
        about = next((str(parameter) for parameter in self.parameters.values() if parameter), "")
        label = f"{self.tool} {about}".strip().partition("\n")[0][:MAX_LABEL_LENGTH]
        place = (self.context_id, self.job_id, self.task_id, self.step_id)
        return Origin(*place, self.tool, label)


@dataclass(frozen=True)
class _Open:
    """A checkpoint whose tool runs, with what the tool can change: some paths, or all."""

    id: str
    before: dict[str, FileEntry | None] | None
    spent: float
    """Seconds that the look before it took."""
    call: RunningCall


class Recorder:
    """Takes checkpoints."""

    def __init__(
        self, writer: CheckpointWriter, workspace: Workspace, documents: OpenDocuments
    ) -> None:
        self._writer = writer
        self._lazy_store = writer.lazy_store
        self._workspace = workspace
        self._documents = documents
        self._recovery = Recovery(writer, documents)
        self._marks = JobMarks(writer)
        self._settling: dict[asyncio.Task[None], str | None] = {}
        """Looks at the workspace after tools, with the tools' jobs."""
        self._side_by_side = SideBySide()

    @asynccontextmanager
    async def during(self, job_id: str, permissions: frozenset[Permission]) -> AsyncIterator[None]:
        """Around a job, or a part of it, that may do so much.

        If it can change something, what there is at its beginning is looked at, in the
        background. It ends when all that its tools changed is recorded.
        """
        if permissions & _CHANGING:
            self._marks.begin(job_id)
        try:
            yield
        finally:
            await self.settled(job_id)

    def job_ended(self, job_id: str) -> None:
        """Nothing more will be changed by this job, unless it is resumed."""
        self._marks.forget(job_id)

    def recover(self) -> None:
        """The same as `finish_interrupted`, in the background."""
        self._recovery.begin()

    async def finish_interrupted(self) -> None:
        """Record what tools had changed when they were cut off, here or in a process now gone."""
        await self._recovery.finish()

    @asynccontextmanager
    async def around(self, use: ToolUse) -> AsyncIterator[None]:
        """Keep what the call may change, let it run, and record what it changed."""
        if not use.permissions & _CHANGING:
            yield
            return
        opened = await self._open(use)
        beating = asyncio.create_task(self._beat(opened.id))
        try:
            yield
        finally:
            opened.call.over = True
            work = asyncio.create_task(self._after(use, opened))
            self._settling[work] = use.job_id
            work.add_done_callback(self._settling.pop)
            work.add_done_callback(lambda _: beating.cancel())
            if opened.before is not None:
                await _to_the_end(work)

    async def settled(self, job_id: str | None = None) -> None:
        """Wait until all that tools did, those of one job or all, is recorded."""
        tasks = [task for task, job in self._settling.items() if job_id in (None, job)]
        if tasks:
            await _to_the_end(asyncio.ensure_future(asyncio.wait(tasks)))

    async def close(self) -> None:
        """Finish what must be, and let go of the store, whereby what need not be ends."""
        await self.settled()
        try:
            await asyncio.to_thread(self._lazy_store.close)
        except RuntimeError:  # the interpreter is ending, and starts no more threads
            self._lazy_store.close()
        await self._recovery.close()
        await self._marks.close()

    async def preview(self) -> list[Uncovered]:
        """What a command run now could change beyond recall; known before it runs."""
        snapshot = await self._lazy_store.ask(WorkspaceState.scan)
        return snapshot.uncovered()

    async def at_risk(self) -> list[str]:
        """The same in words, for the card that asks about a command."""
        try:
            found = await self.preview()
        except (OSError, sqlite3.Error) as error:
            return [f"everything (no checkpoint can be taken: {error})"]
        missed = [entry for entry in found if PurePosixPath(entry.path).name not in CACHES]
        lines = [
            f"{without_surrogates(entry.path)} ({entry.why})" for entry in missed[:MAX_AT_RISK]
        ]
        more = len(missed) - len(lines)
        return [*lines, f"and {more:,} more"] if more else lines

    async def _open(self, use: ToolUse) -> _Open:
        call = self._side_by_side.begin(use.context_id)
        try:
            await self._recovery.finish()
            if use.job_id is not None:
                await self._marks.mark(use.context_id, use.job_id)
            if self._settling:
                await asyncio.wait(self._settling)
            began = time.monotonic()
            call.named = await asyncio.to_thread(self._named_paths, use)
            before = await self._before(use, call)
            opened = _Open(new_id("cp"), before, time.monotonic() - began, call)
            await self._written_down(opened, use.origin)
        except BaseException as error:
            self._side_by_side.end(call)
            if not isinstance(error, OSError | sqlite3.Error):
                raise
            raise Unavailable(
                f"{use.tool} did not run, because no checkpoint can be taken: {error}. "
                "Free some disk space, or lower Cowork.checkpoint_total_limit.",
                code="no_checkpoint",
                retryable=False,
            ) from error
        return opened

    async def _before(self, use: ToolUse, call: RunningCall) -> dict[str, FileEntry | None] | None:
        """The state of what the call names; None if it may change anything, and all is kept."""
        call.brief = bool(_named(use)) and Permission.EXECUTE_COMMANDS not in use.permissions
        if call.brief:
            return await captured(self._lazy_store, self._documents, call.named)
        await self._lazy_store.ask(WorkspaceState.scan)
        return None

    async def _written_down(self, opened: _Open, origin: Origin) -> None:
        """From here on nothing that the tool does is lost. Who is cancelled leaves nothing open."""
        work = asyncio.create_task(self._writer.open(opened.id, origin, opened.before))
        try:
            await _to_the_end(work)
        except asyncio.CancelledError:
            await _to_the_end(asyncio.create_task(self._writer.drop(opened.id)))
            raise

    async def _beat(self, checkpoint_id: str) -> None:
        """Say that we live, so that it is known what happened while we did."""
        while True:
            await asyncio.sleep(BEAT)
            with suppress(OSError, sqlite3.Error, CoworkError):
                await self._lazy_store.ask(
                    lambda state: state.store.unfinished.say_alive(checkpoint_id)
                )

    async def _after(self, use: ToolUse, opened: _Open) -> None:
        began = time.monotonic()
        try:
            found, uncovered = await self._changes(opened)
            changes = await self._side_by_side.own(opened.call, found)
            if changes:
                spent = opened.spent + time.monotonic() - began
                await self._writer.record(use.origin, changes, uncovered, opened.id, spent=spent)
            else:
                await self._writer.drop(opened.id)
        except (OSError, sqlite3.Error, CoworkError) as error:
            logger.exception("No checkpoint of %s", use.tool)
            await self._recovery.release(opened.id)
            message = f"The changes of {use.tool} could not be recorded yet: {error}"
            self._notice(use, message)
        finally:
            self._side_by_side.end(opened.call)

    def _notice(self, use: ToolUse, message: str) -> None:
        with suppress(CoworkError, sqlite3.Error), self._writer.journal.transaction() as tx:
            notice = Notice(code="no_checkpoint", message=message)
            tx.append_event(use.context_id, notice, use.job_id, use.task_id)

    async def _changes(self, opened: _Open) -> tuple[list[Change], list[Uncovered]]:
        if opened.before is None:
            return await self._lazy_store.ask(lambda state: _found_by_scans(state, opened.id))
        found = await captured(self._lazy_store, self._documents, opened.before)
        changes = [
            Change(path, entry, found.get(path))
            for path, entry in sorted(opened.before.items())
            if not same(entry, found.get(path))
        ]
        lost = [
            Uncovered(change.path, change.before.why_not_kept)
            for change in changes
            if change.before and change.before.why_not_kept
        ]
        return changes, lost

    def _named_paths(self, use: ToolUse) -> frozenset[str]:
        """The files that a call names, wherever symlinks lead."""
        return frozenset(path for name in _named(use) for path in self._places(name))

    def _places(self, path: str) -> set[str]:
        found = set()
        for follow in (True, False):
            try:
                with self._workspace.locate(path, follow=follow) as place:
                    found.add(place.path)
            except CoworkError:
                continue  # the tool will say what is wrong with it
        return {
            found_path for found_path in found if found_path != "." and not inside_git(found_path)
        }


def _named(use: ToolUse) -> list[str]:
    return [
        value
        for name, value in use.parameters.items()
        if isinstance(value, str) and (name == "path" or name.endswith("_path"))
    ]


def _found_by_scans(
    state: WorkspaceState, checkpoint_id: str
) -> tuple[list[Change], list[Uncovered]]:
    """What this scan, and those since the checkpoint was opened, found different."""
    snapshot = state.scan()
    return state.store.checkpoint(checkpoint_id).changes, snapshot.uncovered()


async def _to_the_end(work: asyncio.Future[Any]) -> None:
    """Wait for this even if whoever waits is cancelled meanwhile, and be cancelled then."""
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise
