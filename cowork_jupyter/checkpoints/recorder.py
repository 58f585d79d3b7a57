"""Takes a checkpoint around every tool call that can change something, and one before each job.

Tools that name their files get exactly those stored; for everything else that can write, the
workspace is scanned before and after. The checkpoint is written before the tool runs, so that
nothing is lost if we are killed meanwhile. The scan before a job and those after its tools run
in the background: only the next tool that can change something waits for them. A tool whose
checkpoint cannot be taken does not run.

Several conversations may run tools at the same time. A scan finds what others did meanwhile, too;
what they did to files that they name is theirs, as far as that explains what was found. Else
rolling back one agent's work would roll back another's.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from ..domain.errors import CoworkError, Unavailable
from ..domain.events import Notice
from ..domain.redaction import without_surrogates
from ..domain.roles import Permission
from ..store import StoreError
from ..workspace import Workspace
from .entries import Change, Uncovered, same
from .store import Checkpoint, Phase
from .workspace_state import WorkspaceState, inside_git
from .writer import MAX_LABEL_LENGTH, CheckpointWriter, Recovery

logger = logging.getLogger(__name__)

CACHES = frozenset(
    {"__pycache__", ".ipynb_checkpoints", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".cache"}
)
"""Not worth naming on an approval card, although checkpoints leave them out."""
MAX_AT_RISK = 20
HEARTBEAT_SECONDS = 1.0
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

    def new_checkpoint(self) -> Checkpoint:
        """With a label such as `update_file data/a.csv`."""
        about = next((str(parameter) for parameter in self.parameters.values() if parameter), "")
        return Checkpoint(
            self.context_id,
            self.job_id,
            self.task_id,
            step_id=self.step_id,
            tool=self.tool,
            label=f"{self.tool} {about}".strip().partition("\n")[0][:MAX_LABEL_LENGTH],
        )

    @property
    def path_parameters(self) -> list[str]:
        return [
            value
            for name, value in self.parameters.items()
            if isinstance(value, str) and (name == "path" or name.endswith("_path"))
        ]

    @property
    def phase(self) -> Phase:
        """`paths` if it can change nothing but the files that it names, and so does not take long;
        `scan` if it can change anything.
        """
        is_command = Permission.EXECUTE_COMMANDS in self.permissions
        return "paths" if self.path_parameters and not is_command else "scan"


@dataclass(eq=False)
class _Call:
    """A call that runs, or whose changes are not known yet."""

    use: ToolUse
    checkpoint: Checkpoint
    named: frozenset[str] = frozenset()
    """The files that it names."""
    spent: float = 0.0
    """Seconds that storing the state before it took."""
    is_over: bool = False
    others: list[Change] = field(default_factory=list)
    """What calls of other conversations have done meanwhile to what they name, in order."""
    is_known: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether others know what this one did to what it names."""


class _JobMarks:
    """The checkpoint before each job, from which all of it can be rolled back.

    When a job begins that can change something, the workspace is scanned in the background. Its
    first tool that can change something waits for that, and only then is the checkpoint written:
    a job that never came so far has changed nothing.
    """

    def __init__(self, writer: CheckpointWriter) -> None:
        self._writer = writer
        self._scans: dict[str, asyncio.Task[None]] = {}
        self._marked: set[str] = set()
        self._marking = asyncio.Lock()

    def begin(self, job_id: str) -> None:
        if job_id not in self._scans:
            self._scans[job_id] = asyncio.create_task(self._scan())

    async def mark(self, context_id: str, job_id: str) -> None:
        """Write the checkpoint, once for each job."""
        began = time.monotonic()
        self.begin(job_id)
        await asyncio.wait([self._scans[job_id]])
        async with self._marking:
            if job_id not in self._marked:
                spent = time.monotonic() - began
                await _wait_uncancelled(asyncio.create_task(self._mark(context_id, job_id, spent)))
                self._marked.add(job_id)

    def forget(self, job_id: str) -> None:
        """The job has ended. If it is resumed, its mark is in the store."""
        self._marked.discard(job_id)
        if scan := self._scans.get(job_id):
            scan.add_done_callback(lambda _: self._scans.pop(job_id, None))

    async def close(self) -> None:
        if self._scans:
            await asyncio.wait(self._scans.values())

    async def _scan(self) -> None:
        try:
            await self._writer.lazy_store.run(WorkspaceState.scan)
        except (OSError, sqlite3.Error, CoworkError) as error:
            # The first tool will say so.
            logger.debug("The workspace could not be scanned before a job: %s", error)

    async def _mark(self, context_id: str, job_id: str, spent: float) -> None:
        if await self._writer.lazy_store.run(lambda state: state.store.has_job(job_id)):
            return  # it was resumed
        text = self._writer.journal.store.job(job_id).request.strip().partition("\n")[0]
        label = f"Before: {text or 'this job'}"[:MAX_LABEL_LENGTH]
        await self._writer.record(Checkpoint(context_id, job_id, label=label), spent=spent)


class Recorder:
    def __init__(self, writer: CheckpointWriter, workspace: Workspace) -> None:
        self._writer = writer
        self._lazy_store = writer.lazy_store
        self._workspace = workspace
        self._recovery = Recovery(writer)
        self._marks = _JobMarks(writer)
        self._calls: set[_Call] = set()
        self._settling: dict[asyncio.Task[None], str | None] = {}
        """What still records the changes of tools, with the tools' jobs."""

    @asynccontextmanager
    async def during(self, job_id: str, permissions: frozenset[Permission]) -> AsyncIterator[None]:
        """Wrap a job, or a part of it; ends when all that its tools changed is recorded."""
        if permissions & _CHANGING:
            self._marks.begin(job_id)
        try:
            yield
        finally:
            await self.settle(job_id)

    def job_ended(self, job_id: str) -> None:
        self._marks.forget(job_id)

    def recover(self) -> None:
        """The same as `finish_interrupted`, in the background."""
        self._recovery.begin()

    async def finish_interrupted(self) -> None:
        """Record what tools had changed when they were cut off, here or in a dead process."""
        await self._recovery.finish()

    @asynccontextmanager
    async def around(self, use: ToolUse) -> AsyncIterator[None]:
        """Store what the call may change, let it run, and record what it changed."""
        if not use.permissions & _CHANGING:
            yield
            return
        call = await self._open(use)
        heartbeat = asyncio.create_task(self._heartbeat(call.checkpoint.id))
        try:
            yield
        finally:
            call.is_over = True
            work = asyncio.create_task(self._after(call))
            self._settling[work] = use.job_id
            work.add_done_callback(self._settling.pop)
            work.add_done_callback(lambda _: heartbeat.cancel())
            if use.phase == "paths":
                await _wait_uncancelled(work)

    async def settle(self, job_id: str | None = None) -> None:
        """Wait until the changes of all tools, or those of one job, are recorded."""
        tasks = [task for task, job in self._settling.items() if job_id in (None, job)]
        if tasks:
            await _wait_uncancelled(asyncio.ensure_future(asyncio.wait(tasks)))

    async def close(self) -> None:
        """Finish what must be; closing the store ends the rest."""
        await self.settle()
        try:
            await asyncio.to_thread(self._lazy_store.close)
        except RuntimeError:  # the interpreter is ending, and starts no more threads
            self._lazy_store.close()
        await self._recovery.close()
        await self._marks.close()

    async def preview(self) -> list[Uncovered]:
        """What a command run now could change irrecoverably."""
        snapshot = await self._lazy_store.run(WorkspaceState.scan)
        return snapshot.uncovered()

    async def at_risk(self) -> list[str]:
        """The same in words, for the card that asks about a command."""
        try:
            uncovered = await self.preview()
        except (OSError, sqlite3.Error, StoreError) as error:
            return [f"everything (no checkpoint can be taken: {error})"]
        missed = [entry for entry in uncovered if PurePosixPath(entry.path).name not in CACHES]
        lines = [
            f"{without_surrogates(entry.path)} ({entry.why})" for entry in missed[:MAX_AT_RISK]
        ]
        more = len(missed) - len(lines)
        return [*lines, f"and {more:,} more"] if more else lines

    # --- before the tool

    async def _open(self, use: ToolUse) -> _Call:
        call = _Call(use, use.new_checkpoint())
        self._calls.add(call)  # before its scan, so that others tell it what they do
        try:
            await self._recovery.finish()
            if use.job_id is not None:
                await self._marks.mark(use.context_id, use.job_id)
            if self._settling:
                await asyncio.wait(self._settling)
            began = time.monotonic()
            call.named = await asyncio.to_thread(self._named_paths, use)
            if use.phase == "paths":
                entries = await self._writer.capture(call.named)
                before = [Change(path, entry, entry) for path, entry in entries.items()]
                call.checkpoint = replace(call.checkpoint, changes=before)
            else:
                await self._lazy_store.run(WorkspaceState.scan)
            call.spent = time.monotonic() - began
            await self._write(call)
        except BaseException as error:
            self._end(call)
            if not isinstance(error, OSError | sqlite3.Error):
                raise
            raise Unavailable(
                f"{use.tool} did not run, because no checkpoint can be taken: {error}. "
                "Free some disk space, or lower Cowork.checkpoint_total_limit.",
                code="no_checkpoint",
                retryable=False,
            ) from error
        return call

    def _named_paths(self, use: ToolUse) -> frozenset[str]:
        """The files that a call names, and those that their symlinks lead to."""
        paths = set()
        for path in use.path_parameters:
            for follow in (True, False):
                # Otherwise the tool will say what is wrong with it.
                with suppress(CoworkError), self._workspace.locate(path, follow=follow) as place:
                    paths.add(place.path)
        return frozenset(path for path in paths if path != "." and not inside_git(path))

    async def _write(self, call: _Call) -> None:
        """From here on nothing that the tool does is lost. A cancelled call leaves no trace."""
        work = self._writer.store(call.checkpoint, call.use.phase)
        try:
            await _wait_uncancelled(asyncio.create_task(work))
        except asyncio.CancelledError:
            await _wait_uncancelled(asyncio.create_task(self._writer.drop(call.checkpoint.id)))
            raise

    async def _heartbeat(self, checkpoint_id: str) -> None:
        """Say that we live, so that recovery knows what happened while we did."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            with suppress(OSError, sqlite3.Error, CoworkError):
                await self._lazy_store.run(lambda state: state.store.say_alive(checkpoint_id))

    # --- after the tool

    async def _after(self, call: _Call) -> None:
        began, use = time.monotonic(), call.use
        try:
            checkpoint = await self._writer.find_changes(call.checkpoint, use.phase)
            own = await self._own_changes(call, checkpoint.changes)
            if own:
                spent = call.spent + time.monotonic() - began
                await self._writer.record(replace(checkpoint, changes=own), spent=spent)
            else:
                await self._writer.drop(call.checkpoint.id)
        except (OSError, sqlite3.Error, CoworkError) as error:
            logger.exception("No checkpoint of %s", use.tool)
            await self._recovery.release(call.checkpoint.id)
            message = f"The changes of {use.tool} could not be recorded yet: {error}"
            with suppress(CoworkError, sqlite3.Error), self._writer.journal.transaction() as tx:
                notice = Notice(code="no_checkpoint", message=message)
                tx.append_event(use.context_id, notice, use.job_id, use.task_id)
        finally:
            self._end(call)

    def _end(self, call: _Call) -> None:
        call.is_known.set()
        self._calls.discard(call)

    async def _own_changes(self, call: _Call, changes: Sequence[Change]) -> list[Change]:
        """Of what was found after a call, all but what others are known to have done."""
        others = [other for other in self._calls if other.use.context_id != call.use.context_id]
        for other in others:
            other.others.extend(change for change in changes if change.path in call.named)
        call.is_known.set()  # before waiting for others, who may wait for this one
        unnamed = {change.path for change in changes} - call.named
        for other in others:
            if other.named & unnamed and (other.use.phase == "paths" or other.is_over):
                await other.is_known.wait()
        return [
            change
            for change in changes
            if change.path in call.named or not _is_explained(change, call.others)
        ]


def _is_explained(change: Change, others: Iterable[Change]) -> bool:
    """Whether what others did, one after the other, leads from before to after."""
    state = change.before
    for other in others:
        if other.path == change.path and same(state, other.before):
            state = other.after
            if same(state, change.after):
                return True
    return False


async def _wait_uncancelled(work: asyncio.Future[Any]) -> None:
    """Wait for this even if the caller is cancelled meanwhile, and raise that then."""
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise
