"""The configured MCP servers, as agents and their users know servers of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...agents.foreign import ForeignServer, Prompt, Resource, ResourceTemplate
from ...agents.log import RunLog
from ...domain.roles import AgentRole, Permission
from ...service.service import CoworkService
from ...tools.base import Tool
from . import offers
from .connection import McpConnection
from .resource_watch import JobResources, ResourceWatch
from .resources import READ, rule_name
from .servers import McpServers
from .tools import ResultBuilder


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
