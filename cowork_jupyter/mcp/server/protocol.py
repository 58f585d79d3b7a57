"""A tool host as an MCP server: its tools described and called as the protocol has it."""

from __future__ import annotations

from functools import cache
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ImageContent,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as McpTool

from ..._version import __version__
from ...domain.errors import CoworkError
from ...domain.roles import Permission
from ...tools.base import Tool, ToolParameters, ToolResult
from .tool_host import Tell, ToolHost

Context = ServerRequestContext[Any, Any]

_ONLY_LOOKING = {Permission.READ_FILES}
_ONLY_ADDING = {Permission.READ_FILES, Permission.CREATE_FILES}
_INSTRUCTIONS = (
    "Tools for one workspace and its notebooks, in the role {role}: {what} Paths are relative "
    "to the workspace. A call may wait for the user's approval; do not retry a call that was "
    "denied. The user can roll changes back."
)


def server_for(host: ToolHost) -> Server[Any]:
    """A server that offers what the host does."""

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[described(tool) for tool in host.tools()])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        session = context.session
        given = params.arguments or {}
        try:
            result = await host.call(_name_of(session), params.name, given, _teller(session))
        except CoworkError as error:
            if error.code == "unknown_tool":
                raise MCPError(code=INVALID_PARAMS, message=error.message) from None
            return CallToolResult(content=[TextContent(text=error.for_model)], is_error=True)
        return CallToolResult(content=_content(result))

    spec = host.role.spec
    return Server(
        "cowork-jupyter",
        version=__version__,
        title="Cowork for Jupyter",
        instructions=_INSTRUCTIONS.format(role=spec.label, what=spec.description),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def described(tool: Tool) -> McpTool:
    """A tool with its schema, and with hints that are true."""
    executes = Permission.EXECUTE_COMMANDS in tool.permissions
    looks = tool.permissions <= _ONLY_LOOKING
    return McpTool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema=_schema_of(tool.parameters),
        annotations=ToolAnnotations(
            read_only_hint=looks,
            destructive_hint=not tool.permissions <= _ONLY_ADDING,
            idempotent_hint=tool.idempotent,
            open_world_hint=executes,
        ),
    )


@cache
def _schema_of(parameters: type[ToolParameters]) -> dict[str, Any]:
    return parameters.model_json_schema()


def _content(result: ToolResult) -> list[ContentBlock]:
    pictures = (
        ImageContent(data=image.data, mime_type=image.media_type) for image in result.images
    )
    return [TextContent(text=result.text), *pictures]


def _name_of(session: ServerSession) -> str:
    known = session.client_params
    return known.client_info.title or known.client_info.name if known else ""


def _teller(session: ServerSession) -> Tell:
    """Progress for who has asked for it; the number only says that time goes on."""
    count = 0

    async def tell(text: str) -> None:
        nonlocal count
        count += 1
        await session.report_progress(count, message=text)

    return tell
