"""Where the work of a plan's tasks is done: here, or on the workers of a cluster.

The head of a task stays with the coordinator: it talks to the model, asks the user, decides
and writes down. Its tools may be at a worker: those that touch the workspace run there. So what
runs commands is never what decides about them, no key leaves the server, a task that waits
for an answer holds no worker, and a worker that dies takes nothing of the task with it but
the one call that it was running.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...domain.settings import Settings
from ...tools.registry import ToolRegistry
from ..log import RunLog


class WorkerPool(Protocol):
    """Where tasks find somebody to run their tools."""

    async def prepare(self) -> None:
        """Make sure that work can be done; raises `CoworkError` that says why it cannot."""

    def tools(self, registry: ToolRegistry, log: RunLog, files: Sequence[str] = ()) -> ToolRegistry:
        """The same tools for one task, run by the workers of this pool.

        `files` are those that the task is about, for workers that do not see the workspace.
        A call that was cut off is repeated if that can do no harm; else it raises `Interrupted`.
        """

    async def end_task(self, task_id: str) -> None:
        """The task has ended for now: let go of what its tools left at workers."""

    def with_large_tables(self, registry: ToolRegistry, log: RunLog) -> ToolRegistry:
        """The same tools for a run that is no task: what looks at much data, workers do."""

    async def aclose(self) -> None:
        """Let go of the workers."""


class AsyncioPool:
    """Everything happens in this process, side by side in its event loop."""

    async def prepare(self) -> None:
        """Nothing to prepare."""

    def tools(
        self,
        registry: ToolRegistry,
        log: RunLog,  # noqa: ARG002
        files: Sequence[str] = (),  # noqa: ARG002
    ) -> ToolRegistry:
        """The tools as they are."""
        return registry

    with_large_tables = tools

    async def end_task(self, task_id: str) -> None:
        """Nothing was left anywhere."""

    async def aclose(self) -> None:
        """Nothing to let go of."""


def pool_for(settings: Settings) -> WorkerPool:
    """The pool that was configured. Dask itself is imported when the first plan is run."""
    if settings.workers == "dask":
        from .dask import DaskPool

        return DaskPool(settings)
    return AsyncioPool()
