"""Plans of several roles over HTTP: proposed, edited, approved, sent back, audited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import Scripted, ScriptedServer, call, plan, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

BUILD = {"id": "1", "action": "write it", "tools_needed": ["create"], "role": "actor"}
LOOK = {"id": "2", "action": "look at it", "role": "tester", "depends_on": ["1"]}
REVIEW = {"id": "3", "action": "judge it", "role": "reviewer", "rounds": 2, "depends_on": ["2"]}


def review(verdict: str, *findings: str) -> Scripted:
    found = [{"severity": "major", "comment": one} for one in findings]
    said = {"type": "review", "summary": "Read it.", "verdict": verdict, "findings": found}
    return text(json.dumps(said))


async def commanded(api: Api, scripted: ScriptedServer, *steps: dict[str, Any]) -> str:
    """A conversation with a commander's plan."""
    scripted.add(plan("Make a file", *steps))
    context = await api.new_context(role="commander")
    accepted = await api.post(f"context/{context}/messages", {"content": "Do it"}, status=202)
    await api.ended(accepted["job_id"])
    return context


async def executed(api: Api, context: str, revision: int) -> dict[str, Any]:
    address, body = f"context/{context}/plan/execute", {"revision": revision}
    started = await api.post(address, body, status=202)
    job: dict[str, Any] = await api.ended(started["job_id"])
    return job


async def test_a_commanders_plan_is_shown_edited_approved_and_audited(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await commanded(api, scripted, BUILD, {**LOOK, "role": None}, REVIEW)
    address = f"context/{context}/plan"
    shown = await api.get(address)
    assert [step.get("role") for step in shown["plan"]["steps"]] == ["actor", None, "reviewer"]
    assert shown["rights"].startswith("Roles: actor may write, create, delete and run; reviewer")
    made = (await api.get(f"context/{context}/jobs"))["items"][0]["id"]
    card = await api.get(f"jobs/{made}/card")
    assert "3. *Reviewer:* judge it" in card["markdown"]
    assert shown["rights"][:60] in card["markdown"]
    assert card["card"]["snapshot"]["rights"] == shown["rights"]
    shown["plan"]["steps"][1]["role"] = "tester"
    edited = await api.call("PUT", address, {"plan": shown["plan"], "revision": 1})
    assert "tester may run commands with the workspace read-only" in edited["rights"]
    assert "twice at most" in edited["rights"]
    listed = await api.get(f"{address}/revisions")
    assert listed["items"][-1]["change"] == "1 step changed"

    make = call("create_file", terminate=True, path="new.txt", content="1")
    change = call("create_file", terminate=True, path="better.txt", content="2")
    scripted.add(make, text("Looked."), review("request_changes", "Too short."))
    scripted.add(change, text("Looked."), review("approve"))
    job = await executed(api, context, 2)
    assert job["status"] == "completed"
    assert [(one["step_id"], one["role"], one["round"]) for one in job["tasks"]] == [
        ("1", "actor", 0),
        ("2", "tester", 0),
        ("3", "reviewer", 0),
        ("1", "actor", 1),
        ("2", "tester", 1),
        ("3", "reviewer", 1),
    ]
    audit = await api.get(f"context/{context}/audit")
    assert [step["planned"]["role"] for step in audit["steps"]] == ["actor", "tester", "reviewer"]
    assert [step["actual"]["rounds"] for step in audit["steps"]] == [1, 1, 1]
    assert [step["deviations"] for step in audit["steps"]] == [[], [], []]
    events = (await api.get(f"context/{context}/events?after=0"))["events"]
    started = [one["data"] for one in events if one["type"] == "task-started"]
    assert [one["role"] for one in started] == ["actor", "tester", "reviewer"] * 2


async def test_a_plan_for_the_wrong_people_is_refused_with_the_place(
    api: Api, scripted: ScriptedServer
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"role": "wizard"}, "steps[2].role"),
        ({"agent": "nobody"}, "steps[2].agent"),
        ({"tools_needed": ["update_file"]}, "the reviewer has no tool 'update_file'"),
        ({"rounds": 5}, "steps[2].rounds"),
    ]
    for change, place in cases:
        context = await commanded(api, scripted, BUILD)
        made = {"goal": "g", "steps": [BUILD, LOOK, {**REVIEW, **change}]}
        address, edit = f"context/{context}/plan", {"plan": made, "revision": 1}
        error = await api.refused("PUT", address, edit, status=422, code="invalid_plan")
        assert place in error["message"]


async def test_build_test_review_is_a_plan_to_approve(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    address = "workflows/build_test_review/run"
    given = {"parameters": {"task": "Write new.txt", "files": ["new.txt"]}}
    begun = await api.post(address, given, status=202)
    assert (await api.ended(begun["job_id"]))["status"] == "completed"
    context = begun["context_id"]
    shown = await api.get(f"context/{context}/plan")
    steps = shown["plan"]["steps"]
    assert [step["role"] for step in steps] == ["actor", "tester", "reviewer"]
    assert steps[2]["rounds"] == 2
    assert "steps 1 and 2 run again" in shown["rights"]
    assert not (jp_root_dir / "new.txt").exists()
    scripted.add(call("create_file", terminate=True, path="new.txt", content="1"))
    scripted.add(call("execute_command", terminate=True, command="cat new.txt"), review("approve"))
    job = await executed(api, context, 1)
    assert job["status"] == "completed"
    assert (jp_root_dir / "new.txt").exists()
