"""Serving a desk on the standard streams."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from .protocol import server_for
from .tool_host import ToolHost


async def serve(host: ToolHost) -> None:
    """Until the client closes the stream. What is printed meanwhile goes to stderr."""
    server = server_for(host)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
