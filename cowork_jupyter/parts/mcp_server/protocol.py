"""A tool host as an MCP server."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import cache
from typing import Any

from mcp.server.context import HandlerResult
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ImageContent,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as McpTool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ..._version import __version__
from ...domain.errors import CoworkError
from ...domain.roles import Permission
from ...tools.base import Tool, ToolParameters, ToolResult
from .calls import (
    FORM,
    Context,
    OngoingCall,
    OngoingCalls,
    add_tasks,
    can_ask,
    consent_of,
    handle,
    takes_tasks,
)
from .tool_host import Ask, Consent, GuestCaller, Tell, ToolHost

logger = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds after which a call becomes a task, for clients that support tasks."""

_ONLY_LOOKING = {Permission.READ_FILES}
_ONLY_ADDING = {Permission.READ_FILES, Permission.CREATE_FILES}
_INSTRUCTIONS = (
    "Tools for one workspace and its notebooks, in the role {role}: {what} Paths are relative "
    "to the workspace. A call may wait for the user's approval; do not retry a call that was "
    "denied. The user can roll changes back."
)


def server_for(host: ToolHost) -> Server[Any]:
    calls = OngoingCalls()

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        # Always in the same order: clients keep what they have read.
        tools = sorted(map(describe, host.tools()), key=lambda tool: tool.name)
        return ListToolsResult(tools=tools)

    async def call_tool(context: Context, params: CallToolRequestParams) -> HandlerResult:
        if params.request_state:
            call = _resume(calls, params)
        else:
            call = _begin(calls, host, context, params)
        call.listener = _reporter(context.session)
        try:
            await call.wait(PATIENCE if takes_tasks(context) else None)
        except asyncio.CancelledError:
            call.cancel()  # the client has no handle to come back with
            raise
        finally:
            call.listener = None
        if call.is_over:
            calls.drop(call)
            return call.result
        if call.questions:
            return InputRequiredResult(input_requests={**call.questions}, request_state=call.id)
        return handle(call)

    spec = host.role.spec
    server = Server[Any](
        "cowork-jupyter",
        version=__version__,
        title="Cowork for Jupyter",
        instructions=_INSTRUCTIONS.format(role=spec.label, what=spec.description),
        on_list_tools=list_tools,
    )
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    add_tasks(server, calls)
    return server


def _begin(
    calls: OngoingCalls, host: ToolHost, context: Context, params: CallToolRequestParams
) -> OngoingCall:
    session, given = context.session, params.arguments or {}
    is_asked = can_ask(session.client_capabilities)
    # Older clients are asked while they wait, newer ones with a result that says so.
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    ask = _asker(session, context) if is_asked and not is_modern else None

    async def run(caller: GuestCaller) -> CallToolResult:
        try:
            by = replace(caller, ask=ask) if ask else caller
            result = await host.call(by, params.name, given)
        except CoworkError as error:
            if error.code == "unknown_tool":
                raise MCPError(code=INVALID_PARAMS, message=error.message) from None
            return CallToolResult(content=[TextContent(text=error.for_model)], is_error=True)
        return CallToolResult(content=_content(result))

    call = calls.new(params.name, given)
    call.begin(run, _name_of(session), asks=is_asked and is_modern)
    return call


def _resume(calls: OngoingCalls, params: CallToolRequestParams) -> OngoingCall:
    call = calls.find(params.request_state or "")
    if (call.tool, call.arguments) != (params.name, params.arguments or {}):
        raise MCPError(code=INVALID_PARAMS, message="This belongs to another call.")
    call.answer(params.input_responses or {})
    return call


def describe(tool: Tool) -> McpTool:
    """A tool with its schema, and with hints that are true."""
    return McpTool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema=_schema_of(tool.parameters),
        annotations=ToolAnnotations(
            read_only_hint=tool.permissions <= _ONLY_LOOKING,
            destructive_hint=not tool.permissions <= _ONLY_ADDING,
            idempotent_hint=tool.idempotent,
            open_world_hint=Permission.EXECUTE_COMMANDS in tool.permissions,
        ),
    )


@cache
def _schema_of(parameters: type[ToolParameters]) -> dict[str, Any]:
    return parameters.model_json_schema()


def _content(result: ToolResult) -> list[ContentBlock]:
    images = result.images
    pictures = (ImageContent(data=image.data, mime_type=image.media_type) for image in images)
    return [TextContent(text=result.text), *pictures]


def _name_of(session: ServerSession) -> str:
    known = session.client_params
    return known.client_info.title or known.client_info.name if known else ""


def _asker(session: ServerSession, context: Context) -> Ask:
    async def ask(text: str) -> Consent | None:
        try:
            answer = await session.elicit_form(text, FORM, related_request_id=context.request_id)
        except Exception:  # the client claims to support this, but does not
            logger.warning("A client could not ask its user about a call", exc_info=True)
            return None
        return consent_of(answer)

    return ask


def _reporter(session: ServerSession) -> Tell:
    """Reports progress; the number only says that time goes on."""
    count = 0

    async def tell(text: str) -> None:
        nonlocal count
        count += 1
        await session.report_progress(count, message=text)

    return tell


async def serve(host: ToolHost) -> None:
    """Runs until the client closes the stream. Prints go to stderr meanwhile."""
    server = server_for(host)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
