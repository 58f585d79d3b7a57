"""What a worker does and does not do, without a cluster around it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import CoworkError, NotFound
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.dask.worker import (
    CHECK_SECONDS,
    Outcome,
    WorkerOrder,
    WorkspaceProof,
    _perform,
    _run_while,
    grant,
    sees_workspace,
)
from cowork_jupyter.tools.base import ToolContext, ToolResult
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox


class Coordinator:
    """Answers claims, and keeps what it hears."""

    def __init__(self, granted: bool = True) -> None:
        self.granted = granted
        self.heard: list[dict[str, str]] = []

    def hear(self, message: dict[str, str]) -> None:
        self.heard.append(message)
        if message["kind"] == "claim":
            grant(message["claim"], self.granted)

    async def order(self, order: WorkerOrder) -> Outcome:
        return await _run_while(lambda: True, _perform(order, self.hear))


@pytest.fixture
def order(settings: Settings) -> WorkerOrder:
    """To read a file."""
    context = ToolContext(Workspace(settings.workspace), AgentRole.ACTOR)
    return WorkerOrder("attempt", "read_file", {"path": "a.py"}, context, settings, confined=False)


def command(order: WorkerOrder, text: str, *, confined: bool = False) -> WorkerOrder:
    return replace(order, tool="execute_command", parameters={"command": text}, confined=confined)


@pytest.mark.asyncio
async def test_a_granted_call_is_run(order: WorkerOrder) -> None:
    result = await Coordinator().order(order)
    assert isinstance(result, ToolResult)
    assert "answer = 42" in result.text


@pytest.mark.asyncio
async def test_a_call_that_is_not_granted_does_nothing(order: WorkerOrder) -> None:
    assert await Coordinator(granted=False).order(command(order, "touch touched")) is None
    assert not (order.context.workspace.root / "touched").exists()


@pytest.mark.asyncio
async def test_a_call_that_nobody_wants_any_more_ends_without_its_go(order: WorkerOrder) -> None:
    wanted = iter([True, False])
    nobody = _perform(command(order, "touch touched"), lambda _message: None)
    assert await _run_while(lambda: next(wanted, False), nobody) is None
    assert not (order.context.workspace.root / "touched").exists()


@pytest.mark.asyncio
async def test_what_is_stopped_is_stopped_once_and_may_clear_up() -> None:
    cleared_up = False

    async def work() -> None:
        nonlocal cleared_up
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(4 * CHECK_SECONDS)
            cleared_up = True

    wanted = iter([True])
    assert await _run_while(lambda: next(wanted, False), work()) is None
    assert cleared_up


@pytest.mark.asyncio
async def test_an_error_is_given_back_rather_than_raised(order: WorkerOrder) -> None:
    found = await Coordinator().order(replace(order, parameters={"path": "missing"}))
    assert isinstance(found, NotFound)


@pytest.mark.process
@pytest.mark.asyncio
async def test_output_comes_before_the_result_is_given(order: WorkerOrder) -> None:
    coordinator = Coordinator()
    await coordinator.order(command(order, "echo one; echo two"))
    claim, *output = coordinator.heard
    assert claim["kind"] == "claim"
    assert "".join(message["text"] for message in output) == "one\ntwo\n"


@pytest.mark.asyncio
async def test_the_roles_ceiling_holds_at_a_worker_too(order: WorkerOrder) -> None:
    planners = replace(order.context, role=AgentRole.PLANNER)
    refused = await Coordinator().order(replace(command(order, "touch touched"), context=planners))
    assert isinstance(refused, CoworkError)
    assert not (order.context.workspace.root / "touched").exists()


@pytest.mark.asyncio
async def test_a_command_that_counts_on_a_sandbox_does_not_run_without_one(
    order: WorkerOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sandbox, "kind", "none")
    refused = await Coordinator().order(command(order, "touch touched", confined=True))
    assert isinstance(refused, CoworkError)
    assert refused.code == "sandbox_missing"
    assert not (order.context.workspace.root / "touched").exists()
    assert isinstance(await Coordinator().order(replace(order, confined=True)), ToolResult)
    tables = replace(order, tool="describe_table", parameters={"path": "a.csv"}, confined=True)
    refused = await Coordinator().order(tables)
    assert isinstance(refused, CoworkError)
    assert refused.code == "sandbox_missing", "the process that reads tables is confined, too"


def test_who_sees_another_folder_cannot_know_the_proof(tmp_path: Path) -> None:
    proof = WorkspaceProof.in_folder(tmp_path)
    assert not sees_workspace(proof)
    proof.write()
    assert sees_workspace(proof)
    assert not sees_workspace(replace(proof, token="another"))
    proof.remove()
    assert list(tmp_path.iterdir()) == []
