"""The specification of roles, scenario by scenario.

Each test is named after its requirement and scenario. What the specification asks of the
user interface is tested in a browser; here is only what the interface needs for it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import cowork_jupyter
from cowork_jupyter.domain.contexts import Job, JobStatus
from cowork_jupyter.domain.errors import Conflict
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.prompt import read_prompt
from cowork_jupyter.service.parts import tools_of_parts
from cowork_jupyter.tools.notebook.state import CellState
from cowork_jupyter.tools.registry import tools_without_kernels
from cowork_jupyter.workspace.sandbox.sandbox import available_sandbox
from tests.scripted import Scripted, ScriptedServer, call, calls, plan, text
from tests.unit.agents.conftest import Bench, make_bench
from tests.unit.store.old_versions import SEED_MESSAGES, make

pytestmark = pytest.mark.process

READ, WRITE, CREATE, DELETE, EXECUTE = Permission
PLANNER, ACTOR, COMMANDER, DESIGNER, REVIEWER, TESTER = AgentRole

TOOLS = tools_without_kernels(tools_of_parts(), confined=available_sandbox("auto") != "none")
CELLS = [CellState(f"cell-{number}", "code", f"x = {number}") for number in range(3)]
WORKING_CALLS: dict[str, dict[str, Any]] = {
    "read_file": {"path": "a.py"},
    "list_directory": {"path": "."},
    "get_file_info": {"path": "a.py"},
    "grep": {"pattern": "answer"},
    "search_code": {"text": "answer"},
    "search_symbol": {"name": "answer"},
    "recall": {"query": "answer"},
    "describe_table": {"path": "t.csv"},
    "query_table": {"paths": ["t.csv"], "sql": "SELECT * FROM t"},
    "create_file": {"path": "new.py", "content": "x = 1\n"},
    "update_file": {"path": "a.py", "content": "answer = 43\n"},
    "delete_file": {"path": "old.txt"},
    "execute_command": {"command": "touch made"},
    "read_notebook": {"path": "n.ipynb"},
    "insert_cell": {"path": "n.ipynb", "source": "y = 1"},
    "edit_cell": {
        "path": "n.ipynb",
        "cell_id": "cell-0",
        "fingerprint": CELLS[0].fingerprint,
        "source": "x = 5",
    },
    "move_cell": {"path": "n.ipynb", "cell_id": "cell-1", "index": 0},
    "delete_cell": {
        "path": "n.ipynb",
        "cell_id": "cell-2",
        "fingerprint": CELLS[2].fingerprint,
    },
    "create_notebook": {"path": "m.ipynb", "cells": [{"source": "z = 1"}]},
}
WORKING_CALLS |= {"run_code": {"code": "6 * 7"}} if "run_code" in TOOLS else {}
"""A call of each tool that works, and that leaves its mark if it changes anything."""

NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"id": cell.id, "cell_type": "code", "source": cell.source, "metadata": {},
         "outputs": [], "execution_count": None}
        for cell in CELLS
    ],
}  # fmt: skip

open_bench = asynccontextmanager(make_bench)
every_role = pytest.mark.parametrize("role", AgentRole)


@pytest.fixture
def settings(tmp_path: Path, scripted: ScriptedServer) -> Settings:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.py").write_text("answer = 42\n")
    (workspace / "old.txt").write_text("old\n")
    (workspace / "t.csv").write_text("n\n1\n")
    (workspace / "n.ipynb").write_text(json.dumps(NOTEBOOK))
    return Settings(
        workspace=workspace,
        data_dir=tmp_path / "data",
        base_url=scripted.base_url,
        model="scripted",
    )


@pytest_asyncio.fixture
async def bench(settings: Settings) -> AsyncIterator[Bench]:
    async with open_bench(settings) as made:
        yield made


async def tell(bench: Bench, words: str = "go") -> Job:
    """Send a message in whatever role the context has."""
    job_id = bench.service.send_message(bench.context.id, words).job_id
    assert job_id
    return await bench.service.jobs.wait(job_id)


async def take_role(bench: Bench, role: AgentRole) -> None:
    bench.context = await bench.service.conversations.switch_role(bench.context.id, role)


def prompts(scripted: ScriptedServer) -> list[str]:
    """The system prompt of each request so far."""
    return [request.body["messages"][0]["content"] for request in scripted.requests]


def roles_named(prompt: str) -> list[str]:
    return re.findall(r"You are operating in (\w+) role", prompt)


def tools_named(prompt: str) -> set[str]:
    return {name for name in TOOLS if re.search(rf"\b{name}\b", prompt)}


def permitted(role: AgentRole) -> set[str]:
    return {tool.name for tool in TOOLS.permitted(role)}


def picture(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.*")}


def working_turns() -> list[Scripted]:
    """All working calls, as many in a turn as may be."""
    working = list(WORKING_CALLS.items())
    return [calls(*working[:10]), calls(*working[10:])]


def errors(bench: Bench) -> list[str | None]:
    """How each call ended: the error's code, or nothing."""
    return [result["error"] and result["error"]["code"] for result in bench.results()]


# Requirement: Role-Based Agent Execution


@every_role
@pytest.mark.asyncio
async def test_role_based_agent_execution__agent_has_active_role(
    bench: Bench, scripted: ScriptedServer, role: AgentRole
) -> None:
    await take_role(bench, role)
    scripted.add(text("Here I am."))
    assert (await tell(bench, "Who are you?")).status is JobStatus.COMPLETED
    (prompt,) = prompts(scripted)
    assert roles_named(prompt) == [role.name]
    assert tools_named(prompt) == permitted(role)
    assert read_prompt("roles", f"{role}.md").splitlines()[0] in prompt
    assert bench.messages()[-1].agent_role is role


@pytest.mark.asyncio
async def test_role_based_agent_execution__role_stored_in_context(settings: Settings) -> None:
    assert issubclass(AgentRole, Enum)
    async with open_bench(settings) as bench:
        assert bench.context.role is ACTOR
        chosen = bench.service.conversations.create(role=REVIEWER)
    async with open_bench(settings) as again:
        store = again.service.journal.store
        assert store.context(bench.context.id).role is ACTOR
        assert store.context(chosen.id).role is REVIEWER
        assert store.context(chosen.id).model_dump(mode="json")["role"] == "reviewer"


ARCHIVIST = """
name = "archivist"
label = "Archivist"
description = "Reads, and clears away what is old."
icon = "book"
colour = "brown"
permissions = ["read_files", "delete_files"]
prompt = "You are operating in ARCHIVIST role. You clear away what is old."
"""
AS_ARCHIVIST = """
import asyncio, json, sys
from pathlib import Path
import cowork_jupyter
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.service.wiring import build_service

async def main(workspace, data, base_url, old_context):
    settings = Settings(Path(workspace), Path(data), model="scripted", base_url=base_url)
    service = build_service(settings, interactive=False)
    service.rules.add(Effect.ALLOW, "delete_file", Scope.SESSION)
    context = service.conversations.create(role=AgentRole("archivist"))
    for context_id in (context.id, old_context):
        message = service.send_message(context_id, "Clear away.")
        await service.jobs.wait(message.job_id)
    store = service.journal.store
    print(json.dumps({
        "package": cowork_jupyter.__file__,
        "role": store.context(context.id).role,
        "old role": store.context(old_context).role,
        "results": [
            m.data.model_dump()["error"]
            for m in store.messages(context.id).items
            if m.role == "tool"
        ],
        "spoken by": store.messages(context.id).items[-1].agent_role,
        "view": next(v.model_dump() for v in service.roles() if v.name == "archivist"),
    }))
    await service.close()

asyncio.run(main(*sys.argv[1:]))
"""


def package_with_a_seventh_role(folder: Path) -> Path:
    """A copy of the package with one declaration more."""
    skipped = shutil.ignore_patterns("labextension", "static", "__pycache__")
    package = shutil.copytree(
        Path(cowork_jupyter.__file__).parent, folder / "cowork_jupyter", ignore=skipped
    )
    (package / "roles/archivist.toml").write_text(ARCHIVIST)
    return package


def run_with(package: Path, script: str, settings: Settings, context_id: str) -> dict[str, Any]:
    """What the script prints, run in a process of its own that imports this package."""
    arguments = map(str, (settings.workspace, settings.data_dir, settings.base_url, context_id))
    ended = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=package.parent,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    printed: dict[str, Any] = json.loads(ended.stdout)
    return printed


@pytest.mark.asyncio
async def test_role_based_agent_execution__role_extensibility(
    settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    async with open_bench(settings) as old:
        await take_role(old, PLANNER)
    package = package_with_a_seventh_role(tmp_path / "copy")
    scripted.add(
        calls(
            ("update_file", WORKING_CALLS["update_file"]), ("execute_command", {"command": "ls"})
        ),
        call("delete_file", path="old.txt"),
        text("Cleared."),
        text("An old chat goes on."),
    )
    seen = run_with(package, AS_ARCHIVIST, settings, old.context.id)
    assert Path(seen["package"]).parent == package
    assert (seen["role"], seen["spoken by"]) == ("archivist", "archivist")
    may = permitted(PLANNER) | {"delete_file"}
    assert set(seen["view"]["tools"]) == may | {"read_skill"}
    assert seen["view"]["permissions"] == ["read_files", "delete_files"]
    assert roles_named(prompts(scripted)[0]) == ["ARCHIVIST"]
    assert tools_named(prompts(scripted)[0]) == may
    assert [error and error["code"] for error in seen["results"]] == ["not_permitted"] * 2 + [None]
    assert picture(settings.workspace).keys() == {"a.py", "n.ipynb", "t.csv"}
    assert seen["old role"] == "planner"
    assert roles_named(prompts(scripted)[-1]) == ["PLANNER"]


# Requirement: Role Permission System


@pytest.mark.asyncio
async def test_role_permission_system__planner_role_permissions(
    bench: Bench, scripted: ScriptedServer
) -> None:
    assert PLANNER.spec.permissions == {READ}
    await take_role(bench, PLANNER)
    before = picture(bench.workspace)
    scripted.add(*working_turns(), text("Done."))
    await tell(bench)
    changing = {
        "create_file", "update_file", "delete_file", "execute_command",
        "insert_cell", "edit_cell", "move_cell", "delete_cell", "create_notebook",
    }  # fmt: skip
    assert permitted(PLANNER) == set(TOOLS) - changing
    assert errors(bench) == ["not_permitted" if name in changing else None for name in TOOLS]
    assert picture(bench.workspace) == before
    assert not (bench.workspace / "made").exists()


@pytest.mark.asyncio
async def test_role_permission_system__actor_role_permissions(
    bench: Bench, scripted: ScriptedServer
) -> None:
    assert ACTOR.spec.permissions == {READ, WRITE, DELETE, EXECUTE, CREATE}
    assert permitted(ACTOR) == set(TOOLS)
    scripted.add(*working_turns(), text("Done."))
    await tell(bench)
    assert errors(bench) == [None] * len(TOOLS)
    after = picture(bench.workspace)
    cells = json.loads(after.pop("n.ipynb"))["cells"]
    assert ["".join(cell["source"]) for cell in cells] == ["x = 1", "x = 5", "y = 1"]
    assert json.loads(after.pop("m.ipynb"))["cells"][0]["source"] == ["z = 1"]
    assert after == {"a.py": "answer = 43\n", "new.py": "x = 1\n", "t.csv": "n\n1\n"}
    assert (bench.workspace / "made").exists()


# Requirement: Role-Based Tool Filtering


@pytest.mark.parametrize(
    ("role", "protocol"),
    [*((role, "json") for role in AgentRole), (PLANNER, "json_schema"), (PLANNER, "native")],
)
@pytest.mark.asyncio
async def test_role_based_tool_filtering__filter_tools_by_role_permissions(
    settings: Settings, scripted: ScriptedServer, role: AgentRole, protocol: str
) -> None:
    scripted.add(
        calls(*((name, WORKING_CALLS[name]) for name in TOOLS if name not in permitted(role)))
    )
    scripted.add(text("I may not."), text("I may not."))
    before = picture(settings.workspace)
    async with open_bench(settings, tool_protocol=protocol) as bench:
        await take_role(bench, role)
        await tell(bench)
        # Whatever is sent names the permitted tools and no other: prompt, grammar, tool list.
        assert tools_named(json.dumps(scripted.requests[0].body)) == permitted(role)
        assert set(errors(bench)) <= {"not_permitted"}
    assert picture(settings.workspace) == before


@pytest.mark.asyncio
async def test_role_based_tool_filtering__permission_enforcement(
    bench: Bench, scripted: ScriptedServer
) -> None:
    await take_role(bench, PLANNER)
    scripted.add(
        call("read_file", path="a.py"), call("delete_file", path="a.py"), text("I see I may not.")
    )
    assert (await tell(bench)).status is JobStatus.COMPLETED
    read, deleted = bench.results()
    assert read["ok"]
    error = deleted["error"]
    assert (error["code"], error["retryable"]) == ("not_permitted", False)
    assert "planner may not use delete_file: it lacks delete_files" in error["message"]
    told = scripted.requests[2].body["messages"][-1]["content"]
    assert told.startswith("Result of delete_file (failed):")
    assert "not retryable" in told
    assert (bench.workspace / "a.py").exists()
    assert [one.data.model_dump()["tool"] for one in bench.messages(MessageType.TOOL_CALL)] == [
        "read_file",
        "delete_file",
    ]


# Requirement: Role-Specific System Prompts


@pytest.mark.asyncio
async def test_role_specific_system_prompts__planner_role_prompt(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("Hello."))
    await bench.tell("Hello", PLANNER)
    (prompt,) = prompts(scripted)
    for required in (
        "You are operating in PLANNER role",
        "Your responsibilities:",
        "read-only",
        '{"type": "plan"',
        "Be thorough",
        "Discuss and refine",
        "You explore, think and propose",
        "they switch to the ACTOR role",
    ):
        assert required in prompt


@pytest.mark.asyncio
async def test_role_specific_system_prompts__actor_role_prompt(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("Hello."))
    await bench.tell("Hello", ACTOR)
    (prompt,) = prompts(scripted)
    assert prompt.count("✅") == len(Permission)
    for required in (
        "You are operating in ACTOR role",
        "Your responsibilities:",
        "all tools at hand",
        "Autonomy:",
        '{"type": "question"',
        "Execute the approved plan",
        "ask for approval with a question first",
    ):
        assert required in prompt


# Requirement: Role Switching


@pytest.mark.asyncio
async def test_role_switching__user_switches_role(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(text("One."), text("Two."))
    await tell(bench)
    await take_role(bench, PLANNER)
    await tell(bench)
    assert bench.service.journal.store.context(bench.context.id).role is PLANNER
    assert [roles_named(prompt) for prompt in prompts(scripted)] == [["ACTOR"], ["PLANNER"]]
    (logged,) = bench.messages(MessageType.ROLE_CHANGE)
    assert logged.data.model_dump() == {"from": "actor", "to": "planner"}
    assert logged.text == "The role is now Planner."
    (told,) = bench.events(EventType.ROLE_CHANGED)
    assert told.data == logged.data
    assert "The role is now Planner." in str(scripted.requests[1].body["messages"])


@pytest.mark.asyncio
async def test_role_switching__role_switch_validation(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("execute_command", command="sleep 600"), text("never said"))
    job_id = bench.start("Run it")
    await bench.until(EventType.TOOL_CALL)
    with pytest.raises(Conflict, match="would stop it") as refusal:
        await take_role(bench, PLANNER)
    assert refusal.value.code == "confirmation_required"
    assert refusal.value.details == {"job_id": job_id}
    assert bench.service.journal.store.context(bench.context.id).role is ACTOR
    assert not bench.service.journal.store.job(job_id).status.is_final
    assert bench.messages(MessageType.ROLE_CHANGE) == []

    await bench.service.conversations.switch_role(bench.context.id, PLANNER, confirm=True)
    assert bench.service.journal.store.job(job_id).status is JobStatus.CANCELLED
    assert bench.service.journal.store.context(bench.context.id).role is PLANNER
    assert errors(bench) == ["cancelled"]
    assert len(bench.messages(MessageType.ROLE_CHANGE)) == 1
    assert len(scripted.requests) == 1


# Requirement: Role Display in UI (the data for it)


@pytest.mark.asyncio
async def test_role_display_in_ui__role_indicator(bench: Bench) -> None:
    shown = {view.name: view for view in bench.service.roles()}
    assert list(shown) == [str(role) for role in AgentRole]
    assert (shown["planner"].colour, shown["planner"].icon) == ("blue", "search")
    assert (shown["actor"].colour, shown["actor"].icon) == ("green", "bolt")
    assert all(view.label and view.description for view in shown.values())
    for name, view in shown.items():
        team = {"delegate"} if view.delegates_to else set()
        assert set(view.tools) == permitted(AgentRole(name)) | team | {"read_skill"}
    assert bench.service.journal.store.context(bench.context.id).role.value in shown


@pytest.mark.asyncio
async def test_role_display_in_ui__role_in_message_history(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(plan("Tidy", "read"), call("read_file", path="a.py"), text("Tidied."))
    await bench.tell("Plan it", PLANNER)
    await take_role(bench, ACTOR)
    await bench.tell("Do it", ACTOR)
    history = [(one.role, one.message_type.value, one.agent_role) for one in bench.messages()]
    assert history == [
        ("user", "text", PLANNER),
        ("assistant", "plan", PLANNER),
        ("system", "role_change", ACTOR),
        ("user", "text", ACTOR),
        ("assistant", "tool_call", ACTOR),
        ("tool", "tool_result", ACTOR),
        ("assistant", "text", ACTOR),
    ]


# Requirement: Backward Compatibility


@pytest.fixture
def old_chat(settings: Settings) -> str:
    """A database from before roles and types existed, with one chat in it."""
    make(
        settings.database,
        SEED_MESSAGES,
        "INSERT INTO messages (id, session_id, role, content, message_type) VALUES"
        " ('m1', 'chat', 'user', 'Write a poem', NULL),"
        " ('m2', 'chat', 'assistant', 'Roses are red', 'normal')",
    )
    return "chat"


@pytest.mark.asyncio
async def test_backward_compatibility__load_chat_without_role_field(
    settings: Settings, scripted: ScriptedServer, old_chat: str
) -> None:
    async with open_bench(settings) as bench:
        store = bench.service.journal.store
        bench.context = store.context(old_chat)
        assert bench.context.role is ACTOR
        assert [one.message_type for one in bench.messages()] == [MessageType.TEXT] * 2
        scripted.add(call("update_file", path="a.py", content="poem\n"), text("Done."))
        assert (await tell(bench, "Put it into a.py")).status is JobStatus.COMPLETED
        assert (bench.workspace / "a.py").read_text() == "poem\n"
        assert "Roses are red" in str(scripted.requests[0].body["messages"])
        await take_role(bench, PLANNER)
    async with open_bench(settings) as again:
        assert again.service.journal.store.context(old_chat).role is PLANNER


@pytest.mark.asyncio
async def test_backward_compatibility__a_context_that_lost_its_role_is_an_actor(
    settings: Settings,
) -> None:
    async with open_bench(settings) as bench:
        await take_role(bench, PLANNER)
    make(settings.database, "UPDATE contexts SET role=NULL")
    async with open_bench(settings) as again:
        assert again.service.journal.store.context(bench.context.id).role is ACTOR
