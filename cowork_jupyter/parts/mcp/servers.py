"""All servers of a service: their tools as one mapping, and their management."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...domain.errors import NotFound
from ...domain.operations import Observe, ignore_operation
from ...domain.roles import AgentRole
from ...domain.settings import Settings
from ...policy.trust import Pins, Trust
from ...tools.base import Tool
from .config import ConfiguredServer, ConfiguredServers, ServerConfig
from .connection import McpConnection
from .environment import McpEnvironment
from .facts import KnownTools
from .resources import resource_tools
from .schema import warm_up
from .tools import tool_name, tool_of

if TYPE_CHECKING:
    from ...llm.client import LanguageModel


class McpServers:
    """The currently configured servers. Changes of settings take effect at once."""

    def __init__(
        self,
        configured: ConfiguredServers,
        known: KnownTools,
        pins: Pins,
        environment: McpEnvironment,
    ) -> None:
        self.configured = configured
        self._known = known
        self.pins = pins
        self._environment = environment
        self._seen: tuple[ConfiguredServer, ...] | None = None
        self._connections: dict[str, McpConnection] = {}
        self._retired: list[McpConnection] = []
        self._tools: Mapping[str, Tool] | None = None
        self._refused: dict[tuple[str, str], str] = {}

    # For agents

    def tools(self) -> Mapping[str, Tool]:
        """Every known tool, by name; starts nothing."""
        self._follow()
        if self._tools is None:
            self._tools = self._collect()
        return self._tools

    async def prepare(self, role: AgentRole) -> None:
        """Start servers that never ran, as far as the role could use their tools. A slow one is
        not waited for twice.
        """
        await self._follow_up()
        unknown = [
            connection
            for connection in self._connections.values()
            if connection.tools is None and not connection.was_awaited
            if _may_use(role, connection)
        ]
        if unknown:
            for connection in unknown:
                connection.was_awaited = True
            starting = [asyncio.ensure_future(connection.client()) for connection in unknown]
            patience = self._environment.patience.first_look
            done, late = await asyncio.wait(starting, timeout=patience)
            for each in late:
                each.cancel()  # only the wait: the server goes on starting
            for each in done:
                each.exception()
        if self.tools():
            await warm_up()

    # For the user

    def connection(self, name: str) -> McpConnection:
        self._follow()
        found = self._connections.get(name)
        if found is None:
            known = next((server for server in self.configured.all() if server.name == name), None)
            why = f" is not used: {known.why_not or 'it is disabled'}" if known else " is unknown"
            raise NotFound(f"The MCP server '{name[:100]}'{why}.")
        return found

    def names(self) -> list[str]:
        return [server.name for server in self.configured.all() if server.in_use]

    def connection_of(self, server: ConfiguredServer) -> McpConnection | None:
        self._follow()
        return self._connections.get(server.name) if server.in_use else None

    def why_refused(self, server: str, tool: str) -> str:
        self.tools()
        return self._refused.get((server, tool), "")

    async def restart(self, name: str) -> None:
        """Restart a server and wait until it runs; raises if it does not."""
        await self._follow_up()
        connection = self.connection(name)
        await connection.restart()
        await connection.client()

    async def add(self, name: str, raw: dict[str, Any]) -> None:
        self.configured.add(name, raw)
        await self._follow_up()

    async def remove(self, name: str) -> None:
        self.configured.remove(name)
        await self._follow_up()

    async def enable(self, name: str, enabled: bool) -> None:
        self.configured.enable(name, enabled)
        await self._follow_up()

    async def close(self) -> None:
        ending = [*self._connections.values(), *self._retired]
        self._connections, self._retired = {}, []
        await asyncio.gather(*(connection.stop() for connection in ending))

    # How it follows

    def _follow(self) -> None:
        """Apply the current settings. May be called from any thread."""
        servers = self.configured.all()
        if servers is self._seen:
            return
        self._seen = servers
        before, now = self._connections, dict[str, McpConnection]()
        for server in servers:
            if server.in_use and server.config:
                held = before.get(server.name)
                same = held is not None and held.config == server.config
                now[server.name] = held if held and same else self._connect(server.config)
        self._retired += [each for each in before.values() if each not in now.values()]
        self._connections, self._tools = now, None

    def _connect(self, config: ServerConfig) -> McpConnection:
        def learned() -> None:
            self._tools = None
            used = {each.config.identity for each in self._connections.values()}
            assert connection.known
            self._known.keep(config, connection.known, used)

        connection = McpConnection(config, self._environment, learned, self._known.of(config))
        return connection

    async def _follow_up(self) -> None:
        self._follow()
        retired, self._retired = self._retired, []
        await asyncio.gather(*(connection.stop() for connection in retired))

    def _collect(self) -> Mapping[str, Tool]:
        found: dict[str, Tool] = {}
        self._refused = {}
        for connection in self._connections.values():
            config = connection.config
            for facts in connection.tools or ():
                try:
                    if config.leaves_out(facts.name):
                        raise ValueError("you have disabled it")
                    if tool_name(config.slug, facts.name) in found:
                        raise ValueError("another of its tools has the same name")
                    tool = tool_of(connection, facts, self.pins)
                except ValueError as error:
                    self._refused[config.name, facts.name] = str(error)
                else:
                    found[tool.name] = tool
        with_resources = [each for each in self._connections.values() if each.has_resources]
        found.update((tool.name, tool) for tool in resource_tools(with_resources))
        return MappingProxyType(found)


def _may_use(role: AgentRole, connection: McpConnection) -> bool:
    config = connection.config
    named = [config.permissions_for(""), *map(config.permissions_for, config.entry.tools)]
    return any(role.permits(permissions) for permissions in named)


def servers_of(
    settings: Settings,
    trust: Trust,
    pins: Pins,
    model: Callable[[], LanguageModel],
    observe: Observe = ignore_operation,
) -> McpServers:
    """The servers of one service. Starts nothing, and imports nothing of the SDK."""
    return McpServers(
        ConfiguredServers(settings.workspace, settings.user_settings, trust),
        KnownTools(settings.data_dir / "mcp_tools.json"),
        pins,
        McpEnvironment(str(settings.workspace), model, observe=observe),
    )
