"""The configured MCP servers, as agents and their users know servers of others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...agents.foreign import ForeignServer, Prompt, Resource, ResourceTemplate
from ...agents.log import RunLog
from ...domain.errors import CoworkError
from ...domain.events import Notice
from ...domain.roles import AgentRole, Permission
from ...policy.visible import visible
from ...service.service import CoworkService
from ...tools.base import Tool
from . import offers
from .connection import McpConnection
from .resources import READ, rule_name
from .servers import McpServers
from .tools import ResultBuilder

PAUSE = 5.0
"""Seconds between two notices about the same resource; changes meanwhile are reported together."""
MAX_FOLLOWED = 20


def servers_in(service: CoworkService) -> McpServers:
    foreign = service.factory.foreign
    assert isinstance(foreign, McpForeignServers)
    return foreign.mcp


class McpForeignServers:
    def __init__(self, mcp: McpServers) -> None:
        self.mcp = mcp
        self._watch = ResourceWatch(mcp)

    def names(self) -> list[str]:
        return self.mcp.names()

    def server(self, name: str) -> ForeignServer:
        return McpForeignServer(self.mcp.connection(name))

    def tools(self) -> Mapping[str, Tool]:
        return self.mcp.tools()

    async def prepare(self, role: AgentRole) -> None:
        await self.mcp.prepare(role)

    def followed_by(self, log: RunLog) -> JobResources:
        return JobResources(self._watch, log)

    def job_ended(self, job_id: str) -> None:
        self._watch.job_ended(job_id)

    async def close(self) -> None:
        await self._watch.close()
        await self.mcp.close()


@dataclass(frozen=True)
class McpForeignServer:
    connection: McpConnection

    @property
    def name(self) -> str:
        return self.connection.config.name

    @property
    def is_ready(self) -> bool:
        return self.connection.state == "ready"

    @property
    def permissions(self) -> frozenset[Permission]:
        return self.connection.config.permissions_for("")

    @property
    def rule_names(self) -> tuple[str, ...]:
        return READ, rule_name(self.connection.config, "read")

    async def resources(self) -> list[Resource]:
        return await offers.resources_of(self.connection)

    async def templates(self) -> list[ResourceTemplate]:
        return await offers.templates_of(self.connection)

    async def values_for(
        self,
        template: ResourceTemplate,
        variable: str,
        begun: str,
        known: Iterable[tuple[str, str]],
    ) -> list[str]:
        return await offers.values_for(self.connection, template, variable, begun, known)

    async def read(self, uri: str) -> ResultBuilder:
        return await offers.read(self.connection, uri)

    async def prompts(self) -> list[Prompt]:
        return await offers.prompts_of(self.connection)

    async def prompt(self, name: str, arguments: dict[str, str]) -> ResultBuilder:
        return await offers.prompt_of(self.connection, name, arguments)


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
