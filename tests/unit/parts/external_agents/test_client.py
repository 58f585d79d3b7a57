from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acp import schema

from cowork_jupyter.domain.replies import ToolCall
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.external_agents.client import equivalent_call, permissions_for
from cowork_jupyter.workspace import Workspace


def asked(kind: Any, **more: Any) -> schema.ToolCallUpdate:
    return schema.ToolCallUpdate(tool_call_id="t", title="It", kind=kind, **more)


def change(path: Path, old: str | None, new: str) -> schema.FileEditToolCallContent:
    return schema.FileEditToolCallContent(type="diff", path=str(path), old_text=old, new_text=new)


def at(*paths: Path) -> list[schema.ToolCallLocation]:
    return [schema.ToolCallLocation(path=str(path)) for path in paths]


def test_calls_that_we_have_a_tool_for(tmp_path: Path) -> None:
    place, workspace = tmp_path / "d" / "a.py", Workspace(tmp_path)
    command = asked("execute", raw_input={"command": "ls"})
    both = {"old_text": "1", "new_text": "2"}
    assert [
        equivalent_call(one, workspace)
        for one in (
            command,
            asked("read", locations=at(place)),
            asked("delete", locations=at(place)),
            asked("edit", content=[change(place, "1", "2")]),
            asked("edit", content=[change(place, None, "2")]),
        )
    ] == [
        ToolCall(tool="execute_command", parameters={"command": "ls"}),
        ToolCall(tool="read_file", parameters={"path": "d/a.py"}),
        ToolCall(tool="delete_file", parameters={"path": "d/a.py"}),
        ToolCall(tool="update_file", parameters={"path": "d/a.py", **both}),
        ToolCall(tool="create_file", parameters={"path": "d/a.py", "content": "2"}),
    ]


def test_what_does_not_fit_one_call_of_ours_is_for_the_user(tmp_path: Path) -> None:
    place, workspace = tmp_path / "a.py", Workspace(tmp_path)
    for one in (
        asked("execute", raw_input={"command": ["ls"]}),
        asked("edit", locations=at(place)),
        asked("edit", content=[change(place, "1", "2"), change(place, "3", "4")]),
        asked("edit", content=[change(place, "1", "2"), change(tmp_path / "b", "3", "4")]),
        asked("read", locations=at(Path("/etc/passwd"))),
        asked("fetch", locations=at(place)),
        asked(None, locations=at(place)),
    ):
        assert equivalent_call(one, workspace) is None


@pytest.mark.parametrize(
    ("kind", "roles"),
    [
        ("read", set(AgentRole)),
        ("edit", {AgentRole.ACTOR}),
        ("delete", {AgentRole.ACTOR}),
        ("move", {AgentRole.ACTOR}),
        ("execute", {AgentRole.ACTOR, AgentRole.TESTER}),
        ("other", {AgentRole.ACTOR, AgentRole.TESTER}),
        (None, {AgentRole.ACTOR, AgentRole.TESTER}),
    ],
)
def test_a_kind_needs_what_it_does_and_what_is_unknown_needs_the_most(
    kind: str | None, roles: set[AgentRole]
) -> None:
    assert {role for role in AgentRole if role.permits(permissions_for(asked(kind)))} == roles
