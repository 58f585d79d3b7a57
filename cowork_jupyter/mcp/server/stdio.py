from __future__ import annotations

from mcp.server.stdio import stdio_server

from .protocol import server_for
from .tool_host import ToolHost


async def serve(host: ToolHost) -> None:
    """Runs until the client closes the stream. Prints go to stderr meanwhile."""
    server = server_for(host)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
