"""The pool of a Dask cluster whose workers see the same workspace.

Each tool call is one Dask task, so the cluster's own scheduling, scaling and dashboard know
of it, and a task that waits for the model or the user holds no worker.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, replace

from ...domain.errors import Interrupted, Unavailable
from ...domain.identity import new_id
from ...domain.notices import Notice
from ...domain.settings import Settings
from ...policy.call_parts import paths_of
from ...tools.base import (
    Tool,
    ToolContext,
    ToolParameters,
    ToolResult,
    nobody_answers,
    nothing_said,
)
from ...tools.kernel.state import NoKernels
from ...tools.notebook.stored import NotebookFiles
from ...tools.registry import ToolRegistry, default_tools
from ...tools.tables.sources import are_large
from ...tools.tables.tools import table_tools
from ..log import RunLog
from .cluster import Attempt, Cluster, Lost
from .worker import WorkerOrder

MAX_ATTEMPTS = 3
"""Workers that may die during one harmless call, before it is given up."""
QUEUED = 5.0
"""Seconds without a free worker after which that is said."""


class DaskPool:
    """Runs the tools that touch the workspace on a cluster."""

    def __init__(self, settings: Settings) -> None:
        self._settings = replace(settings, api_key="", keys=frozenset())
        self._cluster = Cluster(settings)

    async def prepare(self) -> None:
        """Connect to the cluster, or say why that cannot be."""
        await self._cluster.check()

    def tools(self, registry: ToolRegistry, log: RunLog) -> ToolRegistry:
        """Those that need nothing but the workspace are sent out; the others stay here."""
        portable = default_tools()
        task = _TaskAtWork(self._cluster, self._settings, log)
        return ToolRegistry(
            task.sent_out(tool) if tool.travels and portable.get(tool.name) is tool else tool
            for tool in registry.values()
        )

    def with_large_tables(self, registry: ToolRegistry, log: RunLog) -> ToolRegistry:
        """Questions about tables are sent out if they are about folders, or about large files."""
        task = _TaskAtWork(self._cluster, self._settings, log)
        return registry.replacing(*map(task.sent_out_if_large, table_tools()))

    async def aclose(self) -> None:
        await self._cluster.aclose()


@dataclass(frozen=True)
class _TaskAtWork:
    """The calls of one task."""

    cluster: Cluster
    settings: Settings
    log: RunLog

    def sent_out(self, tool: Tool) -> Tool:
        """The same tool, run at a worker."""

        async def run(parameters: ToolParameters, context: ToolContext) -> ToolResult:
            return await self._run(tool, parameters, context)

        return replace(tool, run=run)

    def sent_out_if_large(self, tool: Tool) -> Tool:
        """The same tool, run at a worker where there is much to read."""

        async def run(parameters: ToolParameters, context: ToolContext) -> ToolResult:
            paths = paths_of(parameters.model_dump(mode="json"))
            if await asyncio.to_thread(are_large, context.workspace, paths):
                return await self._run(tool, parameters, context)
            return await tool.run(parameters, context)

        return replace(tool, run=run)

    async def _run(
        self, tool: Tool, parameters: ToolParameters, context: ToolContext
    ) -> ToolResult:
        """Run a call; once more elsewhere if its worker is lost and that can do no harm."""
        for _ in range(MAX_ATTEMPTS):
            order = WorkerOrder(
                attempt=new_id("attempt"),
                tool=tool.name,
                parameters=parameters.model_dump(mode="json"),
                context=replace(
                    context,
                    output=_nowhere,
                    sandbox=None,
                    notebooks=NotebookFiles(),
                    kernels=NoKernels(),
                    scratch=None,
                    waiting=nullcontext,
                    ask=nobody_answers,
                    recall=nothing_said,
                ),
                settings=self.settings,
                confined=context.sandbox is not None and context.sandbox.kind != "none",
            )
            attempt = Attempt(order, context.output)
            waiting = asyncio.get_running_loop().call_later(QUEUED, self._tell_queued, attempt)
            try:
                result = await self.cluster.run(attempt)
            except Lost:
                self._face_loss(tool, attempt)
            else:
                return replace(result, data={**result.data, "worker": attempt.worker})
            finally:
                waiting.cancel()
        raise Unavailable(f"{MAX_ATTEMPTS} workers were lost during {tool.name}.")

    def _face_loss(self, tool: Tool, attempt: Attempt) -> None:
        what = f"The worker {attempt.worker} was lost during {tool.name}."
        if attempt.worker and not tool.idempotent:
            raise Interrupted(f"{what} It may have done some or all of its work.")
        said = f"{what} It runs again on another worker."
        self.log.event(Notice(code="worker_lost", message=said))

    def _tell_queued(self, attempt: Attempt) -> None:
        if attempt.worker is None:
            what = "Waiting for a free worker of the Dask cluster."
            self.log.event(Notice(code="waiting_for_worker", message=what))


def _nowhere(_text: str) -> None:
    """Where output would go; the worker says where it really goes."""
