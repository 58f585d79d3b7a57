"""Where the tools of a plan's tasks run: here, or on the workers of a cluster.

The head of a task stays with the coordinator: it talks to the model, asks the user, decides and
records. Its tools that touch the workspace may run at a worker. So what runs commands is never what
decides about them, no key leaves the server, a task that waits for an answer holds no worker, and a
worker that dies takes nothing with it but the one call that it was running.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..domain.errors import Unavailable
from ..tools.registry import ToolRegistry
from .log import RunLog


class WorkerPool(Protocol):
    async def prepare(self) -> None:
        """Raise CoworkError if no work can be done."""

    def tools(self, registry: ToolRegistry, log: RunLog, files: Sequence[str] = ()) -> ToolRegistry:
        """The same tools for one task, run by the workers of this pool.

        `files` are those that the task is about, for workers that do not see the workspace. A call
        that was cut off is repeated if that can do no harm; else it raises Interrupted.
        """

    async def end_task(self, task_id: str) -> None:
        """Release what the task's tools left at workers."""

    def with_large_tables(self, registry: ToolRegistry, log: RunLog) -> ToolRegistry:
        """The same tools for a run that is no task: workers query large tables."""

    async def aclose(self) -> None: ...


class AsyncioPool:
    """Everything happens in this process, concurrently in its event loop."""

    async def prepare(self) -> None:
        pass

    def tools(
        self,
        registry: ToolRegistry,
        log: RunLog,  # noqa: ARG002
        files: Sequence[str] = (),  # noqa: ARG002
    ) -> ToolRegistry:
        return registry

    with_large_tables = tools

    async def end_task(self, task_id: str) -> None:
        pass

    async def aclose(self) -> None:
        pass


class MissingPool(AsyncioPool):
    """Of a part that is not there: plans say so, all else works."""

    def __init__(self, workers: str) -> None:
        self._workers = workers

    async def prepare(self) -> None:
        raise Unavailable(
            f"Cowork.workers is '{self._workers}', which this installation was made without. "
            "Remove the setting to run plans here.",
            code="bad_settings",
            retryable=False,
        )
