"""Tables of every format, and the tools as a planner calls them: in the sandbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.parts import shipped_tools
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox

from ...agents.conftest import bench as bench
from ...agents.conftest import settings as settings
from ...tools.conftest import root as root

Describe = Callable[..., Awaitable[str]]
Query = Callable[..., Awaitable[str]]


@pytest.fixture
def planner(root: Path, tmp_path: Path) -> Iterator[ToolContext]:
    sandbox = Sandbox(Settings(root, tmp_path / "data"))
    yield ToolContext(Workspace(root), AgentRole.PLANNER, sandbox=sandbox)
    sandbox.close()


@pytest.fixture
def describe(planner: ToolContext) -> Describe:
    async def describe(path: str, **more: Any) -> str:
        given = {"path": path, **more}
        return (await shipped_tools().call("describe_table", given, planner)).text

    return describe


@pytest.fixture
def query(planner: ToolContext) -> Query:
    """What a SELECT over these paths gives."""

    async def query(sql: str, *paths: str, **more: Any) -> str:
        given = {"sql": sql, "paths": list(paths), **more}
        return (await shipped_tools().call("query_table", given, planner)).text

    return query
