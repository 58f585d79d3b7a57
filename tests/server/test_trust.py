"""What is allowed, what waits for permission, what one can go back to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.store import CheckpointRecord, Inquiry

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")


async def test_a_check_explains_its_decision_and_runs_nothing(api: Api, jp_root_dir: Path) -> None:
    call = {"tool": "create_file", "parameters": {"path": "x.txt", "content": "x"}}
    refused = await api.post("rules/check", {"role": "planner", **call})
    assert refused["decision"] == "deny"
    assert "it lacks create_files" in refused["because"][0]
    assert (await api.post("rules/check", {"role": "actor", **call}))["decision"] == "allow"
    assert not (jp_root_dir / "x.txt").exists()
    unknown = {"role": "actor", "tool": "teleport"}
    await api.refused("POST", "rules/check", unknown, status=404, code="unknown_tool")


async def test_what_is_stored_is_listed_in_the_contracts_shape(api: Api, jp_serverapp: Any) -> None:
    context = await api.new_context()
    extension = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"].copy().pop()
    asked = {"tool": "execute_command", "parameters": {"command": "ls"}, "why": ["medium risk"]}
    kept = {"label": "before step 1", "files": ["a.py"]}
    with extension.service.journal.transaction() as tx:
        tx.save_permission(Inquiry(id="perm_1", context_id=context, data=asked))
        tx.save_checkpoint(CheckpointRecord(id="cp_1", context_id=context, data=kept))
    (permission,) = (await api.get(f"context/{context}/permissions"))["items"]
    assert set(permission) == {
        *("id", "context_id", "job_id", "task_id", "tool", "parameters", "resource"),
        *("risk", "why", "scopes", "status"),
    }
    (checkpoint,) = (await api.get(f"context/{context}/checkpoints"))["items"]
    assert set(checkpoint) == {
        *("id", "created_at", "label", "tool", "step_id", "files", "uncovered"),
    }
    await api.refused("GET", "context/nope/checkpoints", status=404)
