"""Maps what an external agent asks permission for to calls of our tools, so that the same rules
decide.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acp import schema

from ...domain.roles import Permission
from ...workspace import Workspace

_LOOKING = frozenset({Permission.READ_FILES})
_NEEDED: dict[str, frozenset[Permission]] = {
    "read": _LOOKING,
    "search": _LOOKING,
    "think": frozenset(),
    "edit": frozenset({Permission.READ_FILES, Permission.WRITE_FILES}),
    "move": frozenset({Permission.WRITE_FILES, Permission.DELETE_FILES}),
    "delete": frozenset({Permission.READ_FILES, Permission.DELETE_FILES}),
}
"""What a role must hold for a kind of call. Of any other kind we assume the most."""


@dataclass(frozen=True)
class MappedCall:
    tool: str
    parameters: dict[str, Any]


def permissions_for(call: schema.ToolCallUpdate) -> frozenset[Permission]:
    return _NEEDED.get(call.kind or "other", frozenset({Permission.EXECUTE_COMMANDS}))


def same_as(call: schema.ToolCallUpdate, workspace: Workspace) -> MappedCall | None:
    """The call of ours that would do the same; None if there is none."""
    given = call.raw_input if isinstance(call.raw_input, Mapping) else {}
    if call.kind == "execute" and isinstance(given.get("command"), str):
        return MappedCall("execute_command", {"command": given["command"]})
    changes = [content for content in call.content or [] if isinstance(content, schema.Diff)]
    paths = [diff.path for diff in changes] or [location.path for location in call.locations or []]
    if len(set(paths)) != 1:
        return None
    path = inside(workspace, paths[0])
    if path is None:
        return None
    if call.kind == "read":
        return MappedCall("read_file", {"path": path})
    if call.kind == "delete":
        return MappedCall("delete_file", {"path": path})
    if call.kind != "edit" or len(changes) != 1:
        return None
    (change,) = changes
    if not change.old_text:
        return MappedCall("create_file", {"path": path, "content": change.new_text})
    both = {"old_text": change.old_text, "new_text": change.new_text}
    return MappedCall("update_file", {"path": path, **both})


def inside(workspace: Workspace, path: object) -> str | None:
    """An absolute path as one of the workspace; None if it is elsewhere."""
    if not isinstance(path, str) or not path.startswith("/"):
        return None
    parts = workspace.inside(path)
    return None if parts is None else "/".join(parts) or "."


def in_words(call: schema.ToolCallUpdate) -> str:
    """All that the agent says of a call, for the user to judge it."""
    fields = call.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude={"tool_call_id"}
    )
    return json.dumps(fields, indent=2, ensure_ascii=False)
