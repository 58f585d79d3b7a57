"""The pool of a Dask cluster whose workers see the same workspace.

Each tool call is one Dask task, so the cluster's own scheduling, scaling and dashboard know
of it, and a task that waits for the model or the user holds no worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

from ...agents.log import RunLog
from ...domain.errors import CoworkError, Interrupted, Unavailable
from ...domain.events import Notice
from ...domain.identity import new_id
from ...domain.settings import Settings
from ...policy.calls import paths_of
from ...service.parts import shipped_tools
from ...tools.base import (
    Tool,
    ToolContext,
    ToolParameters,
    ToolResult,
    no_answer,
    no_closed_tools,
    no_follower,
    no_remarks,
)
from ...tools.kernel.scratch import ScratchCode, run_code_in_scratch
from ...tools.kernel.state import NoKernels, no_sandbox
from ...tools.notebook.stored import NotebookFiles
from ...tools.registry import ToolRegistry
from ...tools.shell import execute_command
from ..tables import TABLE_TOOLS, table_tools
from ..tables.sources import are_large
from .cluster import Attempt, Cluster, WorkerLost
from .parcels import FileBundle, pack, write_back
from .remote_scratch import KernelSnapshot, end_scratch, snapshot_kernel
from .sent_files import RemoteResult, remove_tree
from .worker import WorkerOrder

MAX_ATTEMPTS = 3
"""Workers that may die during one harmless call before it is given up."""
MAX_LISTED = 10
MAX_REPEATED = 2_000
"""Characters of a call's output that are reported although what it wrote was refused."""
WORK_ON_COPIES = TABLE_TOOLS | {execute_command.name}
"""Tools that work as well on copies of their files, beside code in scratch. All others are about
the workspace itself, and run where it is.
"""
QUEUED_SECONDS = 5.0


class DaskPool:
    def __init__(self, settings: Settings) -> None:
        self._settings = replace(settings, api_key="", keys={})
        self._cluster = Cluster(settings)
        self._tasks: dict[str, _RemoteTask] = {}

    async def prepare(self) -> None:
        await self._cluster.check()

    def tools(self, registry: ToolRegistry, log: RunLog, files: Sequence[str] = ()) -> ToolRegistry:
        """Send out tools that need nothing but the workspace, and code that runs in scratch."""
        portable = shipped_tools()
        task = _RemoteTask(self._cluster, self._settings, log, dict.fromkeys(files))
        self._tasks[log.task_id or ""] = task
        sent = [
            task.remote(tool)
            for tool in registry.values()
            if tool.travels and portable.get(tool.name) is tool
        ]
        code = registry.get(run_code_in_scratch.name)
        return registry.replacing(*sent, *([task.with_remote_scratch(code)] if code else []))

    async def end_task(self, task_id: str) -> None:
        task = self._tasks.pop(task_id, None)
        if task and task.kernel_at:
            await self._cluster.tell(task.kernel_at, end_scratch, self._settings, task_id)
            await self._cluster.tell(task.kernel_at, remove_tree, task_id)

    def with_large_tables(self, registry: ToolRegistry, log: RunLog) -> ToolRegistry:
        """Send out queries about folders of tables or large files."""
        task = _RemoteTask(self._cluster, self._settings, log)
        return registry.replacing(*map(task.remote_if_large, table_tools()))

    async def aclose(self) -> None:
        await self._cluster.aclose()


@dataclass
class _RemoteTask:
    cluster: Cluster
    settings: Settings
    log: RunLog
    files: dict[str, None] = field(default_factory=dict)
    """Those that it is about, and what its calls have written; in order."""
    kernel_at: str | None = None

    def remote(self, tool: Tool) -> Tool:
        async def run(parameters: ToolParameters, context: ToolContext) -> ToolResult:
            if tool.name in WORK_ON_COPIES or await self.cluster.is_shared():
                return await self._run(tool, parameters, context)
            return await tool.run(parameters, context)

        return replace(tool, run=run)

    def remote_if_large(self, tool: Tool) -> Tool:
        async def run(parameters: ToolParameters, context: ToolContext) -> ToolResult:
            paths = paths_of(parameters.model_dump(mode="json"))
            is_large = await asyncio.to_thread(are_large, context.workspace, paths)
            if is_large and await self.cluster.is_shared():  # to send it all would take longer
                return await self._run(tool, parameters, context)
            return await tool.run(parameters, context)

        return replace(tool, run=run)

    def with_remote_scratch(self, tool: Tool) -> Tool:
        """What it runs in scratch runs at a worker, the rest where it did."""
        if tool.read_only:
            return replace(tool, read_only=self.with_remote_scratch(tool.read_only))
        return self._in_scratch(tool) if issubclass(tool.parameters, ScratchCode) else tool

    def _in_scratch(self, tool: Tool) -> Tool:
        async def run(parameters: ToolParameters, context: ToolContext) -> ToolResult:
            if context.scratch is None:
                raise no_sandbox()
            kernels = await snapshot_kernel(parameters, context)
            return await self._run(tool, parameters, replace(context, kernels=kernels))

        return replace(tool, run=run)

    async def _run(
        self, tool: Tool, parameters: ToolParameters, context: ToolContext
    ) -> ToolResult:
        """Run a call; once more elsewhere if its worker is lost and that can do no harm."""
        in_scratch = issubclass(tool.parameters, ScratchCode)
        for _ in range(MAX_ATTEMPTS):
            order = self._order(tool, parameters, context)
            attempt = Attempt(order, context.output)
            if in_scratch:
                attempt.only_at, attempt.claimed = self.kernel_at, self._keep_kernel_at
            if in_scratch or tool.name in WORK_ON_COPIES:
                attempt.pack = partial(asyncio.to_thread, self._pack, tool, order, context)
            waiting = asyncio.get_running_loop().call_later(
                QUEUED_SECONDS, self._tell_queued, attempt
            )
            try:
                outcome = await self.cluster.run(attempt)
            except WorkerLost:
                self._handle_loss(tool, attempt, in_scratch=in_scratch)
            else:
                result = await self._write_back(outcome, attempt, context)
                return replace(result, data={**result.data, "worker": attempt.worker})
            finally:
                waiting.cancel()
        raise Unavailable(f"{MAX_ATTEMPTS} workers were lost during {tool.name}.")

    def _pack(self, tool: Tool, order: WorkerOrder, context: ToolContext) -> FileBundle:
        tables = paths_of(order.parameters) if tool.name in TABLE_TOOLS else ()
        # A question about tables needs no other files.
        cwd = order.parameters.get("cwd") or PurePosixPath(context.notebook or "").parent
        return pack(context.workspace, () if tables else self.files, tables, str(cwd))

    async def _write_back(
        self, outcome: ToolResult | RemoteResult, attempt: Attempt, context: ToolContext
    ) -> ToolResult:
        if isinstance(outcome, ToolResult):
            return outcome
        assert attempt.parcel
        layout, result = attempt.parcel.layout, outcome.result
        # Not to what was pinned: with the first file that is written, that is another one.
        workspace = replace(context.clearance, pins={}).guard(context.workspace)
        try:
            written = await asyncio.to_thread(write_back, workspace, layout, outcome.changes)
        except CoworkError as error:
            said = f"{error.message}\nIts output:\n{result.text[-MAX_REPEATED:]}"
            raise CoworkError(said, code=error.code, retryable=error.retryable) from error
        self.files |= dict.fromkeys(written)
        there = _list_paths([file.path for file in layout.files]) or "no files"
        note = f"[It ran on a worker that had only {there} of the workspace."
        note += f" Copied back: {_list_paths(written)}.]" if written else "]"
        data = {**result.data, "brought_back": written}
        return replace(result, text=f"{result.text}\n{note}", data=data)

    def _keep_kernel_at(self, worker: str) -> None:
        """Also for code that fails or is cancelled: it leaves variables, and a process."""
        self.kernel_at = worker

    def _order(self, tool: Tool, parameters: ToolParameters, context: ToolContext) -> WorkerOrder:
        return WorkerOrder(
            attempt=new_id("attempt"),
            tool=tool.name,
            parameters=parameters.model_dump(mode="json"),
            context=replace(
                context,
                output=_nowhere,
                sandbox=None,
                notebooks=NotebookFiles(),
                kernels=context.kernels
                if isinstance(context.kernels, KernelSnapshot)
                else NoKernels(),
                scratch=None,
                waiting=nullcontext,
                ask=no_answer,
                follow=no_follower,
                closed=no_closed_tools,
                recall=no_remarks,
            ),
            settings=self.settings,
            confined=context.sandbox is not None and context.sandbox.kind != "none",
            task=self.log.task_id or "",
        )

    def _handle_loss(self, tool: Tool, attempt: Attempt, *, in_scratch: bool) -> None:
        what = f"The worker {attempt.worker or attempt.only_at} was lost during {tool.name}."
        if in_scratch and (attempt.worker or attempt.only_at):
            self.kernel_at = None
            raise Unavailable(
                f"The worker {attempt.worker or attempt.only_at}, which ran scratch, is gone, "
                "and the variables with it. Import and read again what you need.",
                code="scratch_lost",
            )
        if attempt.worker and not tool.idempotent:
            raise Interrupted(f"{what} It may have done some or all of its work.")
        said = f"{what} It runs again on another worker."
        self.log.event(Notice(code="worker_lost", message=said))

    def _tell_queued(self, attempt: Attempt) -> None:
        if attempt.worker is None:
            what = "Waiting for a free worker of the Dask cluster."
            self.log.event(Notice(code="waiting_for_worker", message=what))


def _list_paths(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - MAX_LISTED:,} more" if len(paths) > MAX_LISTED else ""
    return f"{', '.join(paths[:MAX_LISTED])}{more}"


def _nowhere(_text: str) -> None:
    """A placeholder that can be pickled; the worker puts its own output in."""
