"""MCP servers as tools against the SDK alone: the first call, each call, and starting Jupyter."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # a Jupyter server has it loaded
import mcp_types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.mcp import sdk
from cowork_jupyter.tools.registry import ToolRegistry, default_tools
from tests.mcp.conftest import House, npm

from .bench_server_start import start
from .rows import Row

FIRST_CALLS, CALLS, STARTS = 9, 300, 5
TOOL = "mcp__every__echo"
WORDS = {"message": "hello"}
assert jsonschema
assert sdk


def measure() -> Iterator[Row]:
    yield from asyncio.run(_calls())
    yield _start()


async def _calls() -> list[Row]:
    own: list[float] = []
    ours: list[float] = []
    for _ in range(FIRST_CALLS):
        began = time.perf_counter()
        async with _plain() as client:
            await client.call_tool("echo", WORDS)
            own.append(time.perf_counter() - began)
        began = time.perf_counter()
        async with _house() as (house, registry):
            await registry.prepare(AgentRole.ACTOR)
            await registry.call(TOOL, dict(WORDS), house.context())
            ours.append(time.perf_counter() - began)
    first, alone = min(ours), min(own)
    async with _plain() as client, _house() as (house, registry):
        await registry.prepare(AgentRole.ACTOR)
        plain: list[float] = []
        through: list[float] = []
        for _ in range(CALLS):
            began = time.perf_counter()
            await client.call_tool("echo", WORDS)
            plain.append(time.perf_counter() - began)
            began = time.perf_counter()
            await registry.call(TOOL, dict(WORDS), house.context())
            through.append(time.perf_counter() - began)
    more = (statistics.median(through) - statistics.median(plain)) * 1000
    return [
        Row(
            "MCP, first call with the server's start, against the SDK alone",
            first / alone,
            "×",
            1.2,
            f"{first * 1000:.0f} ms against {alone * 1000:.0f} ms, the best of {FIRST_CALLS}",
        ),
        Row(
            "MCP, what a call takes more than the SDK's own",
            more,
            "ms",
            3,
            f"{statistics.median(through) * 1000:.2f} ms against "
            f"{statistics.median(plain) * 1000:.2f} ms, median of {CALLS}",
        ),
    ]


def _start() -> Row:
    servers = {f"server{number}": {"command": "no-such-server"} for number in range(20)}
    settings = json.dumps({"mcpServers": servers})
    start(extension=True)  # warms the disk cache; not counted
    none, many = [], []
    for _ in range(STARTS):
        none.append(start(extension=True)[0])
        many.append(start(extension=True, settings=settings)[0])
    ratio = statistics.median(many) / statistics.median(none)
    note = f"{statistics.median(many):.2f} s against {statistics.median(none):.2f} s"
    return Row("MCP, server start with 20 servers configured, against none", ratio, "×", 1.05, note)


@asynccontextmanager
async def _plain() -> AsyncIterator[Client]:
    """The SDK's own client and transport, and nothing of ours."""
    entry: dict[str, Any] = npm("server-everything")
    server = StdioServerParameters(command=entry["command"], args=entry["args"])
    info = mcp_types.Implementation(name="bench", version="1")
    with Path(os.devnull).open("w") as nowhere:  # noqa: ASYNC230
        async with Client(stdio_client(server, errlog=nowhere), client_info=info) as client:
            await client.list_tools()
            yield client


@asynccontextmanager
async def _house() -> AsyncIterator[tuple[House, ToolRegistry]]:
    """Ours, with a server that was never heard of."""
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        house.configure(every=npm("server-everything"))
        servers = house.servers()
        try:
            yield house, default_tools().with_more(servers.tools, servers.prepare)
        finally:
            await servers.close()
