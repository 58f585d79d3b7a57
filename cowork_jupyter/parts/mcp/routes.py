"""Endpoints for MCP servers: list, configure, and use their resources and prompts.

No answer holds a value from `env` or `headers`: references such as `${TOKEN}` are shown as they
are, everything else as dots.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ...agents.foreign import Prompt, Resource
from ...api.calls import Call
from ...api.models import Items, Name, RequestBody, Text
from ...api.routes import table
from ...domain.roles import Permission
from . import offers
from .config import ConfiguredServer
from .connection import McpConnection
from .facts import McpToolFacts
from .foreign import servers_in
from .secrets import masked_entry
from .servers import McpServers
from .tools import describe, tool_name

ServerName = Annotated[Name, Field(min_length=1, max_length=60)]


class NewMcpServer(RequestBody):
    """`POST mcp/servers`: an entry as it stands under `mcpServers` in settings."""

    name: ServerName
    config: dict[str, Any]


class McpServerChoice(RequestBody):
    """`PUT mcp/servers/{name}`."""

    enabled: bool


class ResourceChoice(RequestBody):
    """`POST mcp/servers/{name}/resources`."""

    uri: Name


class PromptValues(RequestBody):
    """`POST mcp/servers/{name}/prompts/{prompt}`."""

    arguments: dict[str, Text] = {}


class McpTool(BaseModel):
    """A tool of a server, with what it claims about itself."""

    name: str
    tool: str
    """The name that agents use."""
    description: str
    hints: dict[str, bool]
    """Unverified claims of the server."""
    permissions: list[Permission]
    pinned: Literal["new", "same", "changed"]
    problem: str = ""


class McpServer(BaseModel):
    """A server and its status."""

    name: str
    source: Literal["user", "workspace"]
    kind: str
    enabled: bool
    state: Literal["unused", "idle", "starting", "ready", "failed"]
    why: str
    """Why it is not used, or what is wrong with it."""
    config: dict[str, Any]
    tools: list[McpTool]
    output: str
    """The end of its log output."""


class McpServerList(Items[McpServer]):
    """Every configured server."""


class ResourceList(Items[Resource]):
    """The resources of a server."""


class McpPromptList(Items[Prompt]):
    """The prompts of a server."""


class ForeignText(BaseModel):
    """Text from a server."""

    text: str


@table.get("mcp/servers", McpServerList)
async def list_servers(call: Call) -> BaseModel:
    """Every MCP server, used or not, with its tools and its output."""
    servers = servers_in(call.service)
    return McpServerList(items=[_view(servers, server) for server in servers.configured.all()])


@table.post("mcp/servers", McpServer, body=NewMcpServer, status=201, action="execute")
async def add_server(call: Call) -> BaseModel:
    """Add a server to the user's settings. It starts on first use."""
    await servers_in(call.service).add(call.body.name, call.body.config)
    return _find_server(servers_in(call.service), call.body.name)


@table.put("mcp/servers/{name}", McpServer, body=McpServerChoice, action="execute")
async def choose_server(call: Call) -> BaseModel:
    """Enable or disable a server."""
    await servers_in(call.service).enable(call.path["name"], call.body.enabled)
    return _find_server(servers_in(call.service), call.path["name"])


@table.delete("mcp/servers/{name}", action="execute")
async def remove_server(call: Call) -> None:
    """Remove one of the user's own servers from their settings."""
    await servers_in(call.service).remove(call.path["name"])


@table.post("mcp/servers/{name}/restart", McpServer, action="execute")
async def restart_server(call: Call) -> BaseModel:
    """Restart a server, and wait until it is running."""
    await servers_in(call.service).restart(call.path["name"])
    return _find_server(servers_in(call.service), call.path["name"])


@table.get("mcp/servers/{name}/resources", ResourceList, action="execute")
async def list_resources(call: Call) -> BaseModel:
    """The resources of a server, which is started if necessary."""
    return ResourceList(items=await offers.resources_of(_connection(call)))


@table.post("mcp/servers/{name}/resources", ForeignText, body=ResourceChoice, action="execute")
async def read_resource(call: Call) -> BaseModel:
    """A resource, as text."""
    return ForeignText(text=await offers.read_resource(_connection(call), call.body.uri))


@table.get("mcp/servers/{name}/prompts", McpPromptList, action="execute")
async def list_prompts(call: Call) -> BaseModel:
    """The prompts of a server, which is started if necessary."""
    return McpPromptList(items=await offers.prompts_of(_connection(call)))


@table.post("mcp/servers/{name}/prompts/{prompt}", ForeignText, body=PromptValues, action="execute")
async def write_prompt(call: Call) -> BaseModel:
    """A prompt with its arguments filled in, to read and to send."""
    values = dict(call.body.arguments)
    text = await offers.written_prompt(_connection(call), call.path["prompt"], values)
    return ForeignText(text=text)


def _connection(call: Call) -> McpConnection:
    return servers_in(call.service).connection(call.path["name"])


def _find_server(servers: McpServers, name: str) -> McpServer:
    return next(
        _view(servers, server) for server in servers.configured.all() if server.name == name
    )


def _view(servers: McpServers, server: ConfiguredServer) -> McpServer:
    connection = servers.connection_of(server)
    return McpServer(
        name=server.name,
        source=server.source,
        kind=server.config.kind if server.config else "",
        enabled=server.enabled,
        state=connection.state if connection else "unused",
        why=server.why_not or (connection.why if connection else ""),
        config=masked_entry(server.config.entry) if server.config else {},
        tools=[_tool(servers, connection, facts) for facts in connection.tools or ()]
        if connection
        else [],
        output=connection.tail.text() if connection else "",
    )


def _tool(servers: McpServers, connection: McpConnection, facts: McpToolFacts) -> McpTool:
    config = connection.config
    name = tool_name(config.slug, facts.name)
    return McpTool(
        name=facts.name,
        tool=name,
        description=describe(config.slug, facts.description or facts.title),
        hints=facts.hints,
        permissions=sorted(config.permissions_for(facts.name)),
        pinned=servers.pins.look_up(name, facts.fingerprint(config)).state,
        problem=servers.why_refused(config.name, facts.name),
    )
