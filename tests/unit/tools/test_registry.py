"""The one door to the tools: the role's ceiling, parameters, names."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import CoworkError, Forbidden, InvalidInput, NotFound
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.tools.base import Tool, ToolContext, ToolParameters, ToolResult
from cowork_jupyter.tools.notebook.state import CellState
from cowork_jupyter.tools.registry import ToolRegistry, default_tools, tools_with_kernels
from cowork_jupyter.workspace import Workspace

from .conftest import Call, write

CELLS = {"insert_cell", "edit_cell", "move_cell", "delete_cell"}
READING = {
    "read_file", "list_directory", "get_file_info", "grep", "search_code", "search_symbol",
    "read_notebook", "recall",
}  # fmt: skip


@pytest.mark.parametrize(
    ("role", "more"),
    [
        (AgentRole.PLANNER, set()),
        (AgentRole.REVIEWER, set()),
        (AgentRole.COMMANDER, set()),
        (AgentRole.DESIGNER, {"create_file", "create_notebook"}),
        (AgentRole.TESTER, {"execute_command"}),
        (
            AgentRole.ACTOR,
            {"create_file", "create_notebook", "update_file", "delete_file", "execute_command"}
            | CELLS,
        ),
    ],
)
def test_role_is_offered_what_it_holds_all_permissions_of(role: AgentRole, more: set[str]) -> None:
    assert {tool.name for tool in default_tools().permitted(role)} == READING | more


def test_permissions_are_those_of_the_contract() -> None:
    tools = default_tools()
    assert len(tools) == 17
    read, write = Permission.READ_FILES, Permission.WRITE_FILES
    assert all(tools[name].permissions == {read} for name in READING)
    assert all(tools[name].permissions == {read, write} for name in {"update_file", *CELLS})
    for name in ("create_file", "create_notebook"):
        assert tools[name].permissions == {Permission.CREATE_FILES}
    assert tools["delete_file"].permissions == {read, Permission.DELETE_FILES}
    assert tools["execute_command"].permissions == {Permission.EXECUTE_COMMANDS}


def test_hosts_with_kernels_have_four_tools_more_which_stay_at_home() -> None:
    tools = tools_with_kernels()
    looking, running = {"list_variables", "inspect_variable"}, {"run_cell", "run_code"}
    assert tools.keys() - default_tools().keys() == looking | running
    for name in looking:
        assert tools[name].permissions == {Permission.READ_FILES}
    for name in running:
        assert tools[name].permissions == {Permission.EXECUTE_COMMANDS}
    assert {one for one in looking | running if tools[one].idempotent} == looking
    assert not any(tools[one].travels for one in looking | running)


def test_only_reading_is_run_again_after_a_crash() -> None:
    assert {name for name, tool in default_tools().items() if tool.idempotent} == READING


def test_every_tool_says_what_it_does() -> None:
    for tool in default_tools().values():
        assert tool.description.endswith(".")
        assert tool.parameters.model_json_schema()["properties"]


@pytest.mark.asyncio
async def test_forbidden_call_names_role_tool_and_what_is_missing(root: Path, call: Call) -> None:
    with pytest.raises(Forbidden) as caught:
        await call("update_file", as_role=AgentRole.PLANNER, path="a", content="x")
    error = caught.value
    assert error.code == "not_permitted"
    assert not error.retryable
    for word in ("planner", "update_file", "write_files"):
        assert word in error.message
    assert error.details["missing"] == ["write_files"]


@pytest.mark.asyncio
async def test_ceiling_is_checked_before_parameters(root: Path, call: Call) -> None:
    with pytest.raises(Forbidden):
        await call("delete_file", as_role=AgentRole.REVIEWER, nonsense=1)


@pytest.mark.asyncio
async def test_unknown_tool_suggests_what_the_role_may_use(root: Path, call: Call) -> None:
    with pytest.raises(NotFound, match="read_file") as caught:
        await call("reed_file")
    assert caught.value.code == "unknown_tool"
    with pytest.raises(NotFound) as caught:
        await call("updat_file", as_role=AgentRole.PLANNER)
    assert "update_file" not in caught.value.message
    with pytest.raises(NotFound, match=r"Choose one of: .*grep"):
        await call("zzzzzz")


@pytest.mark.parametrize(
    ("invented", "meant"),
    [("run_python", "run_code"), ("list_files", "list_directory"), ("search_file", "search_code")],
)
def test_a_tool_that_models_invent_is_answered_with_one_that_is_there(
    invented: str, meant: str
) -> None:
    with pytest.raises(NotFound, match=f"Did you mean .*{meant}"):
        tools_with_kernels().named(invented, AgentRole.ACTOR)


def test_the_tester_is_not_offered_what_would_refuse_each_of_its_calls() -> None:
    unconfined = tools_with_kernels(confined=False)
    offered = {tool.name for tool in unconfined.permitted(AgentRole.TESTER)}
    assert {"run_code", "run_cell"}.isdisjoint(offered)
    assert {"execute_command", "list_variables"} <= offered
    actors = {tool.name for tool in tools_with_kernels().permitted(AgentRole.ACTOR)}
    assert {"run_code", "run_cell"} <= actors


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({}, "path: is missing"),
        ({"path": 3}, "path: input should be a valid string"),
        ({"path": "a", "file": "b"}, "file: is unknown; choose from: path, start_line, end_line"),
        ({"path": "a", "start_line": 0}, "start_line: input should be greater than"),
        ({"path": "a", "start_line": 3, "end_line": 2}, "end_line must not be before start_line"),
        ({"path": "\ud800"}, "invalid characters"),
        ({"path": b"a"}, "not a JSON object"),
    ],
)
async def test_bad_parameters_are_named(
    root: Path, call: Call, raw: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await call("read_file", **raw)
    assert caught.value.code == "bad_parameters"
    assert says in caught.value.message
    assert "\n" not in caught.value.message


def watched(tools: ToolRegistry, ran: list[Tool]) -> ToolRegistry:
    """The same tools, which note when they really run."""

    def watch(tool: Tool) -> Tool:
        async def run(parameters: ToolParameters, context: ToolContext) -> ToolResult:
            ran.append(tool)
            return await tool.run(parameters, context)

        return replace(tool, run=run)

    return ToolRegistry(watch(tool) for tool in tools.values())


def picture(root: Path) -> dict[str, tuple[int, object]]:
    """Every byte and mode below the folder."""
    return {
        str(path.relative_to(root)): (
            path.lstat().st_mode,
            path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(root.rglob("*"))
    }


PATHS = st.sampled_from(["a.py", "sub", "sub/b.txt", "new", "link", "out", "../x", ".", "", "a\0"])
VALUES = st.one_of(
    PATHS,
    st.sampled_from(["old", "rm -rf .", "echo x > a.py", "touch y", "*", "(?=x)", "--pre=rm"]),
    st.integers(-1, 5),
    st.none(),
    st.lists(st.text(max_size=3), max_size=2),
)
FIELDS = [
    "path", "content", "old_text", "new_text", "command", "cwd", "pattern", "text", "name", "glob",
    "start_line", "depth", "permissions", "role", "cell_id", "fingerprint", "source", "index",
]  # fmt: skip
CRAFTED = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4)
FINGERPRINT = CellState("a", "raw", "old").fingerprint
NOTEBOOK = (
    '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": ['
    '{"id": "a", "cell_type": "raw", "source": "old", "metadata": {}},'
    '{"id": "b", "cell_type": "raw", "source": "old", "metadata": {}}]}'
)
FULL: dict[str, dict[str, Any]] = {
    "create_file": {"path": "new", "content": "x"},
    "update_file": {"path": "a.py", "content": "x"},
    "delete_file": {"path": "a.py"},
    "execute_command": {"command": "rm -rf *; touch z"},
    "insert_cell": {"path": "n.ipynb", "source": "x"},
    "edit_cell": {"path": "n.ipynb", "cell_id": "a", "fingerprint": FINGERPRINT, "source": "x"},
    "move_cell": {"path": "n.ipynb", "cell_id": "a", "index": 1},
    "delete_cell": {"path": "n.ipynb", "cell_id": "a", "fingerprint": FINGERPRINT},
    "create_notebook": {"path": "new.ipynb"},
}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    role=st.sampled_from(list(AgentRole)), name=st.sampled_from(list(default_tools())), raw=CRAFTED
)
@example(role=AgentRole.PLANNER, name="execute_command", raw={})
@example(role=AgentRole.TESTER, name="execute_command", raw={})
@example(role=AgentRole.DESIGNER, name="update_file", raw={})
def test_role_is_a_ceiling_whatever_is_sent(
    role: AgentRole, name: str, raw: dict[str, Any]
) -> None:
    ran: list[Tool] = []
    tools = watched(default_tools(), ran)
    permitted = {tool.name for tool in tools.permitted(role)}
    harmless = role in (AgentRole.PLANNER, AgentRole.REVIEWER, AgentRole.COMMANDER)
    # Those that change nothing are also sent calls that would surely change something.
    sent = [raw, FULL.get(name, raw)] if role is not AgentRole.ACTOR else [raw]
    if "execute_command" in (name,) and role is AgentRole.ACTOR:
        sent = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ws"
        files: dict[str, str | bytes] = {"a.py": "old\n", "n.ipynb": NOTEBOOK}
        write(root, {**files, "sub/b.txt": "old", "../outside": "secret"})
        (root / "link").symlink_to("a.py")
        (root / "out").symlink_to("../outside")
        before = picture(Path(folder))
        for parameters in sent:
            with contextlib.suppress(CoworkError):
                asyncio.run(tools.call(name, parameters, ToolContext(Workspace(root), role)))
        after = picture(Path(folder))
    assert {tool.name for tool in ran} <= permitted
    if harmless or role is AgentRole.TESTER:
        assert after == before
    if role is AgentRole.DESIGNER:
        assert after.items() >= before.items()
    assert after["outside"] == before["outside"]


def test_every_role_and_tool_pair_runs_only_if_permitted(tmp_path: Path) -> None:
    async def check(role: AgentRole, name: str) -> None:
        ran: list[Tool] = []

        async def run(_parameters: ToolParameters, _context: ToolContext) -> ToolResult:
            ran.append(tool)
            return ToolResult("", "")

        tool = default_tools()[name]
        raw: dict[str, Any] = FULL.get(
            name, {"path": "."} if name != "search_symbol" else {"name": "f"}
        )
        found_by: dict[str, dict[str, Any]] = {
            "grep": {"pattern": "x"},
            "search_code": {"text": "x"},
            "recall": {"query": "x"},
        }
        raw = found_by.get(name, raw)
        registry = ToolRegistry([replace(tool, run=run)])
        with contextlib.suppress(Forbidden):
            await registry.call(name, raw, ToolContext(Workspace(tmp_path), role))
        assert bool(ran) == role.permits(tool.permissions)

    for role in AgentRole:
        for name in default_tools():
            asyncio.run(check(role, name))


@pytest.mark.asyncio
async def test_tools_that_come_and_go_never_stand_in_for_ours() -> None:
    own = default_tools()
    stranger = replace(own["grep"], name="mcp__x__grep")
    others = {"grep": replace(own["grep"], description="not ours"), stranger.name: stranger}
    asked: list[AgentRole] = []

    async def prepare(role: AgentRole) -> None:
        asked.append(role)

    registry = own.with_more(lambda: others, prepare)
    derived = registry.plus(replace(own["grep"], name="delegate"))
    assert list(derived)[-2:] == ["mcp__x__grep", "delegate"]
    assert derived["grep"] is own["grep"]
    others = {}
    assert stranger.name not in derived
    await derived.prepare(AgentRole.ACTOR)
    assert asked == [AgentRole.ACTOR]
