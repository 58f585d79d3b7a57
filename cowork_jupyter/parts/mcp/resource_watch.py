"""MCP resources that a job has read: while it runs, it is told when they change."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from ...agents.log import RunLog
from ...domain.errors import CoworkError
from ...domain.events import Notice
from ...policy.visible import visible
from .servers import McpServers

PAUSE = 5.0
"""Seconds between two notices about the same resource; changes meanwhile are reported together."""
MAX_FOLLOWED = 20


@dataclass
class _Followed:
    tasks: dict[tuple[str, str], asyncio.Task[None]] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    """As messages mention them, oldest first."""


@dataclass
class JobResources:
    watch: ResourceWatch
    log: RunLog
    _reported_count: int = 0

    def __post_init__(self) -> None:
        self._reported_count = len(self.watch.changes(self.log.job_id))

    def follow(self, server: str, uri: str) -> None:
        self.watch.follow(self.log, server, uri)

    def next_changes(self) -> list[str]:
        """What has changed since the last call, without duplicates."""
        new = self.watch.changes(self.log.job_id)[self._reported_count :]
        self._reported_count += len(new)
        return list(dict.fromkeys(new))


class ResourceWatch:
    """Follows resources that jobs have read, each until its job ends."""

    def __init__(self, mcp: McpServers, pause: float = PAUSE) -> None:
        self._mcp = mcp
        self._pause = pause
        self._jobs: dict[str, _Followed] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def follow(self, log: RunLog, server: str, uri: str) -> None:
        job = self._jobs.setdefault(log.job_id, _Followed())
        if (server, uri) not in job.tasks and len(job.tasks) < MAX_FOLLOWED:
            job.tasks[server, uri] = asyncio.create_task(self._look(job, log, server, uri))

    def changes(self, job_id: str) -> list[str]:
        job = self._jobs.get(job_id)
        return job.changes if job else []

    def job_ended(self, job_id: str) -> None:
        job = self._jobs.pop(job_id, _Followed())
        for task in job.tasks.values():
            task.cancel()
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Must run while the servers are still there to be told."""
        for job_id in list(self._jobs):
            self.job_ended(job_id)
        if self._ending:
            await asyncio.wait(self._ending)

    async def _look(self, job: _Followed, log: RunLog, server: str, uri: str) -> None:
        changed = asyncio.Event()
        following = asyncio.create_task(self._follow(server, uri, changed))
        following.add_done_callback(lambda _ended: changed.set())
        try:
            while True:
                await changed.wait()
                if following.done():  # the next who reads it follows it again
                    del job.tasks[server, uri]
                    return
                changed.clear()
                said = f"{visible(uri)[:200]} of the MCP server '{server}' has changed."
                log.event(Notice(code="resource_changed", message=said))
                job.changes.append(f"@{server}:{uri}")
                await asyncio.sleep(self._pause)
        finally:
            following.cancel()
            await asyncio.wait([following])

    async def _follow(self, server: str, uri: str, changed: asyncio.Event) -> None:
        try:
            await self._mcp.connection(server).follow(uri, changed.set)
        except CoworkError:  # it is gone, or does not want to tell: then nobody hears of it
            return
