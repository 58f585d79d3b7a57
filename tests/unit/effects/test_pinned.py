"""Where expectations are kept: readable, beside what others keep there, and not the agent's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import InvalidInput, NotFound
from cowork_jupyter.domain.expectations import Expectation
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.effects.pinned import FILE, PinnedExpectations
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.notebook.stored import NotebookFiles
from cowork_jupyter.tools.registry import tools_without_kernels
from cowork_jupyter.workspace import Workspace
from tests.unit.agents.conftest import Bench
from tests.unit.agents.conftest import bench as bench
from tests.unit.agents.conftest import settings as settings

pytestmark = pytest.mark.asyncio
ROWS = Expectation(id="exp_rows", of="orders", check="rows", value=3, by="person")
UNIQUE = Expectation(id="exp_id", of="orders", check="unique", column="id", by="person")


@pytest.fixture
def pinned(tmp_path: Path) -> PinnedExpectations:
    return PinnedExpectations(NotebookFiles(), Workspace(tmp_path))


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    cell = {"id": "c0", "cell_type": "code", "source": ["a = 1"], "metadata": {}, "outputs": []}
    metadata = {"kernelspec": {"name": "python3"}, "cowork": {"watch": True}}
    document = {
        "cells": [cell | {"execution_count": None}],
        "metadata": metadata,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(document))
    return path


def document(notebook: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(notebook.read_text())
    return found


async def test_they_stand_in_the_notebook_as_the_contract_writes_them(
    pinned: PinnedExpectations, notebook: Path
) -> None:
    before = document(notebook)
    await pinned.pin("a.ipynb", ROWS)
    await pinned.pin("a.ipynb", UNIQUE)
    rows = {"id": "exp_rows", "of": "orders", "check": "rows", "op": "=", "value": 3}
    unique = {"id": "exp_id", "of": "orders", "check": "unique", "column": "id"}
    assert document(notebook)["metadata"]["cowork"] == {
        "watch": True,
        "expectations": [{**rows, "by": "person"}, {**unique, "by": "person"}],
    }
    after = document(notebook)
    assert after["cells"] == before["cells"]
    assert after["metadata"]["kernelspec"] == before["metadata"]["kernelspec"]
    assert await pinned.all("a.ipynb") == [ROWS, UNIQUE]


async def test_the_same_id_takes_the_place(pinned: PinnedExpectations, notebook: Path) -> None:
    await pinned.pin("a.ipynb", ROWS)
    await pinned.pin("a.ipynb", UNIQUE)
    changed = ROWS.model_copy(update={"value": 5})
    await pinned.pin("a.ipynb", changed)
    assert await pinned.all("a.ipynb") == [changed, UNIQUE]
    await pinned.remove("a.ipynb", "exp_rows")
    assert await pinned.all("a.ipynb") == [UNIQUE]
    with pytest.raises(NotFound):
        await pinned.remove("a.ipynb", "exp_rows")


async def test_without_a_notebook_they_are_the_workspaces(
    pinned: PinnedExpectations, tmp_path: Path
) -> None:
    assert await pinned.all(None) == []
    await pinned.pin(None, ROWS)
    await pinned.pin(None, UNIQUE)
    text = (tmp_path / FILE).read_text()
    assert json.loads(text)[0]["of"] == "orders"
    assert text.count("\n") > 5, "people read it"
    assert await pinned.all(None) == [ROWS, UNIQUE]


async def test_what_makes_no_sense_is_refused_and_left_where_it_stands(
    pinned: PinnedExpectations, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="needs a column"):
        await pinned.pin(None, Expectation(of="orders", check="sum", value=3))
    (tmp_path / ".cowork").mkdir()
    (tmp_path / FILE).write_text('["by hand", {"of": "orders", "check": "nice"}]')
    await pinned.pin(None, ROWS)
    assert await pinned.all(None) == [ROWS]
    assert json.loads((tmp_path / FILE).read_text())[:1] == ["by hand"]


@pytest.mark.parametrize(
    ("tool", "parameters"),
    [
        ("update_file", {"path": FILE, "content": "[]"}),
        ("create_file", {"path": FILE, "content": "[]"}),
        ("delete_file", {"path": FILE}),
        ("execute_command", {"command": f"rm {FILE}"}),
    ],
)
async def test_no_rule_lets_the_agent_change_them_unasked(
    bench: Bench, tool: str, parameters: dict[str, Any]
) -> None:
    service = bench.service
    (bench.workspace / ".cowork").mkdir()
    (bench.workspace / FILE).write_text("[]")
    policy = {"permissions": {"allow": [tool, f"{tool}(**)"]}}
    service.rules.set_policy("job", service.rules.read_policy(policy))
    decision = service.check_call(AgentRole.ACTOR, tool, parameters, bench.context.id)
    assert decision.decision != "allow"


async def test_file_tools_do_not_write_notebooks_at_all(notebook: Path) -> None:
    context = ToolContext(Workspace(notebook.parent), AgentRole.ACTOR)
    with pytest.raises(InvalidInput) as refused:
        await tools_without_kernels(confined=False).call(
            "update_file", {"path": "a.ipynb", "content": "{}"}, context
        )
    assert refused.value.code == "is_notebook"
