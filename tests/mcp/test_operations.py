"""What an operator is told of servers: that they started, ended or failed, never what they said."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.operations import McpServerChanged, Operation

from .conftest import PATIENCE, House, call, eventually, odd

pytestmark = pytest.mark.asyncio


async def test_starts_ends_and_failures_are_told_once_each(house: House) -> None:
    heard: list[Operation] = []

    def states(server: str) -> list[str]:
        changes = (one for one in heard if isinstance(one, McpServerChanged))
        return [one.state for one in changes if one.server == server]

    house.configure(odd=odd(), missing={"command": "no-such-program"})
    servers = house.servers()
    servers._environment = replace(servers._environment, observe=heard.append)
    async with asyncio.timeout(PATIENCE):
        await servers.connection("odd").client()
        with pytest.raises(CoworkError):
            await servers.connection("missing").client()
    assert states("odd") == ["started"]
    assert states("missing") == ["failed"]
    with pytest.raises(CoworkError):
        await call(house, servers, "mcp__odd__die")
    await eventually(lambda: states("odd") == ["started", "failed", "started"])
    await servers.close()
    assert states("odd") == ["started", "failed", "started", "ended"]
    first = heard[0].line()
    assert first.startswith("mcp server started server=odd kind=stdio seconds=")
    assert "tools=" in first
