"""The SDK's own server over HTTP: `http_server.py http|sse PORT`. Tells its address first."""

import asyncio
import contextlib
import socket
import sys
from typing import Annotated

import uvicorn
from mcp import MCPError
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve, Sample
from mcp_types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel
from starlette.requests import Request

server = MCPServer("weather")


class City(BaseModel):
    """What the server asks for."""

    city: str


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def header(name: str, context: Context) -> str:
    """One of the headers that came with the request."""
    request = context.request_context.request
    assert isinstance(request, Request)
    return f"{name}: {request.headers.get(name)}"


@server.tool()
async def slow(steps: int, context: Context) -> str:
    """Take some steps, and tell of each."""
    for step in range(steps):
        await context.report_progress(step + 1, steps, f"step {step + 1}")
    return "done"


async def asked_city() -> Elicit[City]:
    return Elicit("Which city?", City)


@server.tool()
async def where(city: Annotated[ElicitationResult[City], Resolve(asked_city)]) -> str:
    """Ask the user where they are."""
    return f"{city.action}: {city.data.city if city.action == 'accept' else ''}"


async def asked_model() -> Sample:
    content = TextContent(type="text", text="Will it rain?")
    return Sample([SamplingMessage(role="user", content=content)], max_tokens=10)


@server.tool()
async def forecast(said: Annotated[CreateMessageResult, Resolve(asked_model)]) -> str:
    """Let the model say it."""
    return f"the model says: {getattr(said.content, 'text', '')}"


@server.tool()
async def grow(context: Context) -> str:
    """Have one more tool from now on."""

    def later() -> str:
        """Came later."""
        return "later"

    server.add_tool(later)
    await context.notify_tools_changed()  # to those who listen
    with contextlib.suppress(MCPError):
        await context.session.send_tool_list_changed()  # to those who are older
    return "grown"


@server.resource("weather://today")
def today() -> str:
    """The weather of today."""
    return "sunny"


@server.prompt()
def report(city: str) -> str:
    """Ask for a report."""
    return f"Write about the weather in {city}."


async def main(kind: str, port: int) -> None:
    app = server.sse_app() if kind == "sse" else server.streamable_http_app()
    with socket.create_server(("127.0.0.1", port)) as bound:
        path = "/sse" if kind == "sse" else "/mcp"
        print(f"http://127.0.0.1:{bound.getsockname()[1]}{path}", flush=True)
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve([bound])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
