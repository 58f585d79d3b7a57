"""Two agents of others in two notebooks of one server, at the same time: nothing mixes."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.server.live import LiveServer

from .offered import Panel, over_http, said
from .offered import panel as panel
from .offered import server as server

pytestmark = pytest.mark.asyncio

NAMES = ("ada", "bob")
STEPS = 3
ALLOWED = ("insert_cell", "run_cell", "run_code")
EMPTY = {
    "cells": [],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def root(server: LiveServer) -> Path:
    """The workspace, with a notebook for each."""
    folder = server.log_file.parent / "root"
    for name in NAMES:
        (folder / f"{name}.ipynb").write_text(json.dumps(EMPTY))
    return folder


async def step(client: Client, name: str, number: int) -> str:
    """Add a cell to one's own notebook and run it, with what the cells before it have made."""
    path, source = f"{name}.ipynb", source_of(name, number)
    added = await client.call_tool("insert_cell", {"path": path, "source": source})
    found = re.search(r"Cell (\w+) now", said(added))
    assert found, said(added)
    given = {"path": path, "cell_id": found[1], "start_kernel": True}
    return said(await client.call_tool("run_cell", given))


def source_of(name: str, number: int) -> str:
    return f"made = [*globals().get('made', []), '{name}{number}']\nprint(*made)"


def sources(notebook: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(notebook.read_text())["cells"]]


async def kept(panel: Panel, name: str) -> list[dict[str, Any]]:
    """The checkpoints of one of them in which something was changed."""
    context = await panel.conversation(name)
    found = (await panel.get(f"context/{context}/checkpoints"))["items"]
    return [one for one in found if one["changes"]]


async def test_each_works_in_its_own_notebook_conversation_and_checkpoints(
    server: LiveServer, panel: Panel, root: Path
) -> None:
    for tool in ALLOWED:
        await panel.post("rules", {"effect": "allow", "rule": tool, "scope": "global"})
    async with (
        over_http(server, "actor", name="ada") as ada,
        over_http(server, "actor", name="bob") as bob,
    ):
        for number in range(STEPS):
            shown = await asyncio.gather(step(ada, "ada", number), step(bob, "bob", number))
        for name, last in zip(NAMES, shown, strict=True):
            assert last.startswith(" ".join(f"{name}{number}" for number in range(STEPS)) + "\n")
    for name in NAMES:
        expected = [source_of(name, number) for number in range(STEPS)]
        assert sources(root / f"{name}.ipynb") == expected
        calls = [one["parameters"]["path"] for one in await panel.events(name, "tool-call")]
        assert calls == [f"{name}.ipynb"] * 2 * STEPS
        inserted = [one["files"] for one in await kept(panel, name) if one["tool"] == "insert_cell"]
        assert inserted == [[f"{name}.ipynb"]] * STEPS
    of_bob = (root / "bob.ipynb").read_bytes()
    first, *_ = await kept(panel, "ada")
    back = await panel.post(f"checkpoints/{first['id']}/rollback")
    assert back["restored"] == ["ada.ipynb"]
    assert sources(root / "ada.ipynb") == []
    assert (root / "bob.ipynb").read_bytes() == of_bob


async def test_a_call_that_names_no_notebook_is_refused(server: LiveServer) -> None:
    async with over_http(server, "actor", name="vague") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name in ("run_cell", "list_variables", "inspect_variable", "insert_cell"):
            assert "path" in tools[name].input_schema["required"]
        missing = await client.call_tool("list_variables", {})
        nowhere = await client.call_tool("run_code", {"code": "1", "where": "notebook"})
    assert (missing.is_error, nowhere.is_error) == (True, True)
    assert "path: is missing" in said(missing)
    assert "Name the notebook with 'path'" in said(nowhere)
