"""A workspace on disk, and tools called the way the service calls them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.tools.base import ToolContext, ToolResult
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace

Call = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "ws"
    root.mkdir()
    return root


@pytest.fixture
def call(root: Path) -> Call:
    """Call a tool by name, as an actor unless said otherwise."""

    async def call(name: str, /, *, as_role: AgentRole = AgentRole.ACTOR, **raw: Any) -> ToolResult:
        return await default_tools().call(name, raw, ToolContext(Workspace(root), as_role))

    return call


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
