"""The SDK's own client at our server, and the user who is asked in the panel."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation, TextContent

from tests.server.live import TOKEN, LiveServer, live_server

from .conftest import PATIENCE

LOGIN = {"Authorization": f"token {TOKEN}"}


@asynccontextmanager
async def over_http(
    server: LiveServer, role: str = "", *, name: str = "visitor", mode: Any = "auto"
) -> AsyncIterator[Client]:
    """Connected to a Jupyter server; no cookies, only its token."""
    address = f"{server.api}mcp" + (f"?role={role}" if role else "")
    async with httpx2.AsyncClient(headers=LOGIN, timeout=PATIENCE) as http:
        transport = streamable_http_client(address, http_client=http)
        who = Implementation(name=name, version="1")
        async with Client(transport, client_info=who, mode=mode) as client:
            yield client


def command(home: Path, *arguments: str) -> StdioServerParameters:
    """`jupyter cowork mcp` in a folder, with a user of its own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COWORK_", "OPENAI_"))}
    folders = {f"JUPYTER_{what}_DIR": str(home / what) for what in ("CONFIG", "DATA")}
    return StdioServerParameters(
        command=str(Path(sys.executable).with_name("jupyter-cowork")),
        args=["mcp", *arguments],
        cwd=home / "workspace",
        env={**kept, **folders},
    )


@asynccontextmanager
async def over_stdio(home: Path, *arguments: str) -> AsyncIterator[Client]:
    """Connected to a process of our own."""
    who = Implementation(name="visitor", version="1")
    async with Client(stdio_client(command(home, *arguments)), client_info=who) as client:
        yield client


def said(result: CallToolResult) -> str:
    """The text of a result."""
    return "".join(one.text for one in result.content if isinstance(one, TextContent))


@dataclass
class Panel:
    """The user, at the other addresses of the same server."""

    server: LiveServer

    async def get(self, address: str) -> Any:
        return await self._call("GET", address)

    async def post(self, address: str, body: Any = None) -> Any:
        return await self._call("POST", address, body or {})

    async def _call(self, method: str, address: str, body: Any = None) -> Any:
        async with httpx.AsyncClient(headers=LOGIN, timeout=PATIENCE) as http:
            answer = await http.request(method, f"{self.server.api}{address}", json=body)
        assert answer.is_success, answer.text
        return answer.json()

    async def conversation(self, name: str) -> str:
        """The one that this client's calls are recorded in."""
        for one in (await self.get("context"))["items"]:
            if one["title"] == f"MCP: {name}":
                return str(one["id"])
        raise AssertionError(f"there is no conversation of {name}")

    async def asked(self, name: str) -> dict[str, Any]:
        """The call of this client that waits for the user, once it does."""
        async with asyncio.timeout(PATIENCE):
            while True:
                titles = [one["title"] for one in (await self.get("context"))["items"]]
                if f"MCP: {name}" in titles:
                    context = await self.conversation(name)
                    waiting = (await self.get(f"context/{context}/permissions"))["items"]
                    if waiting:
                        return dict(waiting[0])
                await asyncio.sleep(0.05)

    async def events(self, name: str, kind: str) -> list[dict[str, Any]]:
        """What was recorded of this client's calls."""
        context = await self.conversation(name)
        found = (await self.get(f"context/{context}/events?after=0&timeout=10"))["events"]
        return [one["data"] for one in found if one["type"] == kind]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def panel(server: LiveServer) -> Panel:
    return Panel(server)


@pytest.fixture
def on_disk(server: LiveServer) -> Callable[[], str]:
    """What the file really holds."""
    path = server.log_file.parent / "root" / "a.txt"
    path.write_text("one\n")
    return path.read_text
