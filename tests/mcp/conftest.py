"""A workspace, the user's settings, and servers that are gone when the test is."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.client import Model
from cowork_jupyter.parts.mcp.config import ConfiguredServers
from cowork_jupyter.parts.mcp.environment import McpEnvironment, Timeouts
from cowork_jupyter.parts.mcp.facts import KnownTools
from cowork_jupyter.parts.mcp.servers import McpServers
from cowork_jupyter.policy.rulebook import settings_offers
from cowork_jupyter.policy.trust import Pins, Trust
from cowork_jupyter.tools.base import ToolContext, ToolResult
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace
from tests import quick
from tests.scripted.fixtures import scripted as scripted
from tests.server.live import LiveServer, live_server
from tests.unit.conftest import clean_environment as clean_environment

HERE = Path(__file__).parent
NPM = HERE / "node_modules" / "@modelcontextprotocol"
SCORES: list[str] = []
"""What the conformance suite says, for the end of the run."""
PATIENCE = 120.0
"""Seconds after which a test calls it hanging."""


def pytest_configure() -> None:
    quick.keep_files_in_memory()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for score in SCORES:
        terminalreporter.write_line(score)


def odd(*mode: str, **more: Any) -> dict[str, Any]:
    """An entry for the server that can misbehave."""
    script = str(HERE / "odd_server.py")
    return {"command": sys.executable, "args": ["-I", "-S", script, *mode], **more}


def npm(name: str, *arguments: str, **more: Any) -> dict[str, Any]:
    """An entry for a server of npm."""
    return {"command": "node", "args": [str(NPM / name / "dist" / "index.js"), *arguments], **more}


def library(log: Path, *mode: str, **more: Any) -> dict[str, Any]:
    """An entry for the server that has resources and prompts, and logs what it is asked for."""
    script = str(HERE / "library_server.py")
    return {"command": sys.executable, "args": [script, str(log), *mode], **more}


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


@contextmanager
def http_server(kind: str, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The SDK's own server as a process, and its address."""
    command = [sys.executable, str(HERE / "http_server.py"), kind, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().decode().strip()
            assert address, "it did not start"
            yield address, process
        finally:
            process.kill()


@contextmanager
def conformance_server(folder: Path) -> Iterator[LiveServer]:
    """A Jupyter server that also has `conformance_tools`, and lets everybody in."""
    both = {"cowork_jupyter": True, "tests.mcp.conformance_tools": True}
    arguments = (
        f"--ServerApp.jpserver_extensions={both}",
        "--ServerApp.identity_provider_class=tests.mcp.conformance_tools.Anybody",
        "--ServerApp.disable_check_xsrf=True",
    )
    here = {"PYTHONPATH": str(HERE.parent.parent)}
    with live_server(folder, *arguments, token="", environment=here) as running:
        yield running


class House:
    """One user in one workspace."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.settings = Settings(workspace=self.workspace, data_dir=folder / "data")
        self.trust = Trust(folder / "data" / "trust.json", self.workspace)
        self.trust.add_finder(lambda: settings_offers(self.workspace))
        self.pins = Pins(folder / "data" / "mcp_pins.json")
        self.made: list[McpServers] = []

    def configure(self, **servers: dict[str, Any]) -> None:
        """What the user has in their settings."""
        self._write(self.settings.user_settings, servers)

    def bring(self, **servers: dict[str, Any]) -> None:
        """What the workspace has in its settings."""
        self._write(self.workspace / ".cowork" / "settings.json", servers)

    def _write(self, file: Path, servers: dict[str, Any]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"mcpServers": servers}))

    def servers(self, **patience: Any) -> McpServers:
        """A service's servers, with no patience for restarts."""
        long = {"first_look": PATIENCE, "last_words": PATIENCE}
        quick = {"pauses": (0.0, 0.0, 0.0), **long, **patience}
        made = McpServers(
            ConfiguredServers(self.workspace, self.settings.user_settings, self.trust),
            KnownTools(self.settings.data_dir / "mcp_tools.json"),
            self.pins,
            McpEnvironment(
                str(self.workspace), lambda: Model(base_url="", model=""), Timeouts(**quick)
            ),
        )
        self.made.append(made)
        return made

    async def ready(self, **servers: dict[str, Any]) -> McpServers:
        """The same with these servers, all of them running."""
        self.configure(**servers)
        made = self.servers()
        for name in servers:
            async with asyncio.timeout(PATIENCE):
                await made.connection(name).client()
        return made

    def context(self, role: AgentRole = AgentRole.ACTOR, **more: Any) -> ToolContext:
        """A call's surroundings."""
        return ToolContext(Workspace(self.workspace), role, **more)


async def call(
    house: House, servers: McpServers, tool: str, context: ToolContext | None = None, **given: Any
) -> ToolResult:
    """Call a tool through the door that agents use."""
    registry = default_tools().with_more(servers.tools, servers.prepare)
    async with asyncio.timeout(PATIENCE):
        return await registry.call(tool, given, context or house.context())


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path)
    yield made
    for servers in made.made:
        await servers.close()
