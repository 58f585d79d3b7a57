"""Servers whose calls become tasks, at our client: ours, at a real Jupyter server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from cowork_jupyter.domain.errors import CoworkError
from tests.server.live import LiveServer

from .conftest import PATIENCE, House, call, conformance_server
from .offered import Panel

pytestmark = pytest.mark.asyncio


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with conformance_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.mark.slow
async def test_a_task_is_followed_to_its_result_and_each_answer_is_a_sign_of_life(
    house: House, server: LiveServer
) -> None:
    servers = await house.ready(jupyter={"url": f"{server.api}mcp", "timeout": 5})
    result = await call(house, servers, "mcp__jupyter__slow_compute", seconds=8)
    assert result.text == "done"


async def test_a_task_that_fails_says_why(house: House, server: LiveServer) -> None:
    servers = await house.ready(jupyter={"url": f"{server.api}mcp"})
    with pytest.raises(CoworkError, match="This job fails"):
        await call(house, servers, "mcp__jupyter__failing_job")
    with pytest.raises(CoworkError, match="This job is none"):
        await call(house, servers, "mcp__jupyter__protocol_error_job")


async def test_whoever_stops_waiting_stops_the_task(house: House, server: LiveServer) -> None:
    servers = await house.ready(jupyter={"url": f"{server.api}mcp"})
    shown: list[str] = []
    around = house.context(output=shown.append)
    waiting = asyncio.create_task(
        call(house, servers, "mcp__jupyter__slow_compute", around, seconds=3_600)
    )
    async with asyncio.timeout(PATIENCE):
        while not shown:
            await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    panel = Panel(server)
    context = await panel.conversation("cowork-jupyter")
    async with asyncio.timeout(PATIENCE):
        while any(
            job["status"] == "running"
            for job in (await panel.get(f"context/{context}/jobs"))["items"]
        ):
            await asyncio.sleep(0.05)
