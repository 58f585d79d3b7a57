"""A guest is in no notebook: each of its calls that works on one says which."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.mcp_server.guests import McpGuests, guests_of
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.tools.kernel.scratch import require_notebook
from cowork_jupyter.tools.kernel.state import CodeResult, CodeRun, NoKernels, Variables
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace import Workspace

from .test_guests import call

NOTEBOOK_TOOLS = {
    *("read_notebook", "insert_cell", "edit_cell", "move_cell", "delete_cell"),
    *("create_notebook", "run_cell", "list_variables", "inspect_variable"),
}
pytestmark = pytest.mark.asyncio


class HomeKernel(NoKernels):
    """One that stands for whoever names no notebook."""

    home = "home.ipynb"

    def __init__(self) -> None:
        self.used: list[str] = []

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        self.used.append(run.path)
        return CodeResult(run.path)

    async def variables(self, workspace: Workspace, path: str) -> Variables:
        self.used.append(path)
        return Variables(path, (), 0)


@pytest.fixture
def kernel() -> HomeKernel:
    return HomeKernel()


@pytest_asyncio.fixture
async def service(tmp_path: Path, kernel: HomeKernel) -> AsyncIterator[CoworkService]:
    (tmp_path / "workspace").mkdir()
    settings = Settings(workspace=tmp_path / "workspace", data_dir=tmp_path / "data")
    made = build_service(settings, kernels=kernel)
    for tool in ("run_code", "run_cell"):
        made.rules.add(Effect.ALLOW, tool, Scope.GLOBAL)
    yield made
    await made.close()


@pytest.fixture
def desk(service: CoworkService) -> McpGuests:
    return guests_of(service, AgentRole.ACTOR)


@pytest.mark.parametrize("confined", [True, False])
async def test_every_tool_of_notebooks_and_kernels_requires_a_path(confined: bool) -> None:
    tools = [require_notebook(one) for one in tools_with_kernels(confined=confined).values()]
    required = {
        tool.name: tool.parameters.model_json_schema().get("required", [])
        for tool in tools
        if tool.category in {"kernel", "notebooks"}
    }
    assert {name for name, names in required.items() if "path" in names} == (
        NOTEBOOK_TOOLS if confined else {*NOTEBOOK_TOOLS, "run_code"}
    )
    assert set(required) == {*NOTEBOOK_TOOLS, "run_code"}


async def test_they_are_the_tools_that_a_guest_is_offered(desk: McpGuests) -> None:
    offered = {tool.name: tool.parameters.model_fields for tool in desk.tools()}
    assert all(offered[name]["path"].is_required() for name in NOTEBOOK_TOOLS)
    assert "tables" not in offered["run_code"]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("run_code", {"code": "1", "where": "notebook"}),
        ("run_code", {"code": "1"}),
        ("run_code", {"code": "1", "path": ""}),
        ("run_cell", {"cell_id": "c0"}),
        ("list_variables", {}),
        ("inspect_variable", {"name": "df"}),
    ],
)
async def test_no_notebook_is_meant_when_none_is_named(
    desk: McpGuests, kernel: HomeKernel, tool: str, given: dict[str, Any]
) -> None:
    with pytest.raises(CoworkError, match="path") as refused:
        await call(desk, tool, **given)
    assert refused.value.code == "bad_parameters"
    assert kernel.used == []


async def test_the_notebook_that_is_named_is_used(desk: McpGuests, kernel: HomeKernel) -> None:
    await call(desk, "run_code", code="1", path="a.ipynb")
    await call(desk, "list_variables", guest="another", path="b.ipynb")
    assert kernel.used == ["a.ipynb", "b.ipynb"]
