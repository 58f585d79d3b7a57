"""What `jupyter cowork connect` writes leads to the running server, and is let in there."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from cowork_jupyter.parts.mcp_server.connect import CLIENTS, SERVER
from tests.server.live import TOKEN, LiveServer, live_server
from tests.unit.hosts.cli.terminals import run_here

from .conftest import PATIENCE

pytestmark = pytest.mark.asyncio

PLACEHOLDER = re.compile(r"\$\{(?:env:JUPYTER_TOKEN|JUPYTER_TOKEN|input:jupyter-token)\}")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """A server that has told Jupyter of itself; the current folder is below its own."""
    for what in ("CONFIG", "DATA", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{what}_DIR", str(tmp_path / what))
    project = tmp_path / "root" / "project"
    project.mkdir(parents=True)
    monkeypatch.setenv("CODEX_HOME", str(project / ".codex"))
    monkeypatch.chdir(project)
    with live_server(tmp_path, base_url="/user/ada/") as running:
        yield running


def connect(name: str, *arguments: str) -> Any:
    """Run the command; the entry that it writes."""
    assert run_here("connect", name, *arguments, "--write") == 0
    client = CLIENTS[name]
    reader = tomllib if name == "codex" else json
    return reader.loads(client.path.read_text())[client.section][SERVER]


def login(entry: Any) -> dict[str, str]:
    """The headers, once the client has put the user's token where its form says."""
    if entry.get("bearer_token_env_var") == "JUPYTER_TOKEN":
        return {"Authorization": f"Bearer {TOKEN}"}
    headers = entry.get("headers") or entry["http_headers"]
    return {name: PLACEHOLDER.sub(TOKEN, value) for name, value in headers.items()}


@pytest.mark.usefixtures("server")
async def test_each_form_opens_the_door_in_the_role_that_was_chosen() -> None:
    for name in CLIENTS:
        for arguments in ((), ("--role", "actor", "--token")):
            entry = connect(name, *arguments)
            assert (TOKEN in json.dumps(entry)) == bool(arguments)
            address = entry.get("url") or entry["httpUrl"]
            async with (
                httpx2.AsyncClient(headers=login(entry), timeout=PATIENCE) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                offered = {tool.name for tool in (await client.list_tools()).tools}
            assert ("insert_cell" in offered) == bool(arguments)
            assert "read_notebook" in offered
