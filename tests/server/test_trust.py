"""What is allowed, what waits for permission, and what a folder brings along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

CREATE: dict[str, Any] = {"tool": "create_file", "parameters": {"path": "x.txt", "content": "x"}}


async def check(api: Api, role: str = "actor", **call_: Any) -> dict[str, Any]:
    decision: dict[str, Any] = await api.post("rules/check", {"role": role, **call_})
    return decision


async def test_a_check_explains_its_decision_and_runs_nothing(api: Api, jp_root_dir: Path) -> None:
    refused = await check(api, "planner", **CREATE)
    assert refused["decision"] == "deny"
    assert "it lacks create_files" in refused["because"][0]
    asked = await check(api, **CREATE)
    assert (asked["decision"], asked["risk"]) == ("ask", "medium")
    assert (await check(api, tool="read_file", parameters={"path": "a"}))["decision"] == "allow"
    assert not (jp_root_dir / "x.txt").exists()
    unknown = {"role": "actor", "tool": "teleport"}
    await api.refused("POST", "rules/check", unknown, status=404, code="unknown_tool")


@pytest.mark.parametrize(
    ("role", "to", "decision"),
    [
        ("commander", "reviewer", "allow"),
        ("commander", "actor", "ask"),
        ("commander", "tester", "ask"),
        ("commander", "commander", "deny"),
        ("commander", ["king"], "deny"),
        ("actor", "planner", "deny"),
    ],
)
async def test_a_check_knows_who_may_delegate_to_whom(
    api: Api, role: str, to: Any, decision: str
) -> None:
    call_ = {"tool": "delegate", "parameters": {"role": to, "task": "Look."}}
    made = await check(api, role, **call_)
    assert made["decision"] == decision
    assert made["because"]
    await api.post("rules", {"effect": "deny", "rule": "delegate", "scope": "session"}, status=201)
    assert (await check(api, role, **call_))["decision"] == "deny"


async def test_a_check_denies_what_always_fails_in_a_role(api: Api) -> None:
    cases: list[dict[str, Any]] = [
        {"tool": "run_cell", "parameters": {"cell_id": "c"}},
        {"tool": "run_code", "parameters": {"code": "1", "where": "notebook"}},
    ]
    for call_ in cases:
        denied = await check(api, "tester", **call_)
        assert denied["decision"] == "deny"
        assert "nothing in a kernel prevents" in denied["because"][0]
        assert (await check(api, **call_))["decision"] == "ask", "the actor's code may write"


async def test_a_check_knows_rules_about_tasks_for_one_role(api: Api) -> None:
    rule = {"effect": "deny", "rule": "delegate(actor)", "scope": "session"}
    await api.post("rules", rule, status=201)
    for role, decision in {"actor": "deny", "tester": "ask", "reviewer": "allow"}.items():
        call_ = {"tool": "delegate", "parameters": {"role": role, "task": "Look."}}
        made = await check(api, "commander", **call_)
        assert made["decision"] == decision
        assert ("delegate(actor)" in made["because"][0]) is (role == "actor")


async def test_a_check_survives_parameters_that_make_no_sense(api: Api) -> None:
    for parameters in ({"path": 7}, {"path": "\0"}, {"command": ["x"]}, {"path": "a" * 9999}):
        for tool in ("read_file", "delete_file", "execute_command"):
            made = await check(api, tool=tool, parameters=parameters)
            assert made["decision"] in ("allow", "ask", "deny")


async def test_rules_are_added_listed_and_taken_back(api: Api) -> None:
    for scope in ["session", "workspace", "global"]:
        rule = {"effect": "allow", "rule": "create_file(/x.txt)", "scope": scope}
        added = await api.post("rules", rule, status=201)
        assert {key: added[key] for key in rule} == rule
        assert (await check(api, **CREATE))["decision"] == "allow"
        (listed,) = (await api.get("rules"))["items"]
        assert listed == added
        await api.delete(f"rules/{added['id']}")
        assert (await api.get("rules"))["items"] == []
        assert (await check(api, **CREATE))["decision"] == "ask"
        await api.refused("DELETE", f"rules/{added['id']}", status=404)


async def test_a_rule_that_cannot_be_read_is_refused_with_the_reason(api: Api) -> None:
    broken = {"effect": "allow", "rule": "create_file(!x)", "scope": "session"}
    error = await api.refused("POST", "rules", broken, status=422, code="invalid_rule")
    assert error["message"].startswith("rule:")
    for bad in ({"effect": "maybe"}, {"scope": "once"}, {"rule": ""}, {"extra": 1}):
        good = {"effect": "deny", "rule": "grep", "scope": "session"}
        await api.refused("POST", "rules", {**good, **bad}, status=422)


async def test_rule_for_unknown_tool_suggests_a_name(api: Api, jp_root_dir: Path) -> None:
    mistyped = {"effect": "deny", "rule": "excute_command", "scope": "global"}
    error = await api.refused("POST", "rules", mistyped, status=422, code="unknown_tool")
    meant = "There is no tool 'excute_command'. Did you mean 'execute_command'?"
    assert error["message"] == meant
    settings = jp_root_dir / ".cowork" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"permissions": {"deny": ["excute_command"]}}')
    (stored,) = (await api.get("rules"))["items"]
    assert (stored["rule"], stored["problem"]) == ("excute_command", meant)
    told = [one["message"] for one in (await api.get("health"))["problems"]]
    assert any(meant in one for one in told)


async def begin(api: Api, scripted: ScriptedServer) -> tuple[str, str, dict[str, Any]]:
    """An actor that wants to create a file: its context, job and request."""
    scripted.add(call("create_file", path="x.txt", content="x"), text("Done."))
    context = await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": "make x"}, status=202)
    return context, sent["job_id"], await api.first_request(context)


async def test_a_request_has_the_contracts_shape_and_waits(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    context, job, request = await begin(api, scripted)
    assert request["context_id"] == context
    assert request["job_id"] == job
    expected = {"tool": "create_file", "resource": "x.txt", "risk": "medium", "status": "pending"}
    assert {key: request[key] for key in expected} == expected
    assert request["scopes"] == ["once", "session", "workspace", "global"]
    assert request["rules"] == ["create_file(/x.txt)"]
    assert (await api.get(f"jobs/{job}"))["status"] == "waiting"
    assert not (jp_root_dir / "x.txt").exists()
    events = (await api.get(f"context/{context}/events", after=0))["events"]
    (told,) = [one["data"] for one in events if one["type"] == "permission-request"]
    assert told == request
    await api.post(f"permissions/{request['id']}", {"decision": "allow", "scope": "once"})
    assert (await api.ended(job))["status"] == "completed"
    assert (jp_root_dir / "x.txt").read_text() == "x"
    await api.refused(
        "POST", f"permissions/{request['id']}", {"decision": "deny"}, status=409, code="not_waiting"
    )


async def test_a_denial_with_feedback_reaches_the_model(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    _, job, request = await begin(api, scripted)
    answer = {"ids": [request["id"]], "decision": "deny", "feedback": "not here, please"}
    (resolved,) = (await api.post("permissions", answer))["items"]
    assert resolved["status"] == "denied"
    assert (await api.ended(job))["status"] == "completed"
    assert "not here, please" in json.dumps(scripted.requests[-1].body)
    assert not (jp_root_dir / "x.txt").exists()


async def test_a_lasting_answer_becomes_a_rule(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    _, job, request = await begin(api, scripted)
    await api.post(f"permissions/{request['id']}", {"decision": "allow", "scope": "workspace"})
    await api.ended(job)
    settings = json.loads((jp_root_dir / ".cowork" / "settings.json").read_text())
    assert settings["permissions"]["allow"] == ["create_file(/x.txt)"]
    assert (await check(api, **CREATE))["decision"] == "allow"


async def test_bad_decisions_are_refused(api: Api, scripted: ScriptedServer) -> None:
    _, job, request = await begin(api, scripted)
    address = f"permissions/{request['id']}"
    for bad in ({}, {"decision": "maybe"}, {"decision": "allow", "scope": "ever"}, {"x": 1}):
        await api.refused("POST", address, bad, status=422)
    await api.refused("POST", "permissions/perm_none", {"decision": "allow"}, status=404)
    await api.refused("POST", "permissions", {"ids": [], "decision": "allow"}, status=422)
    both = {"ids": [request["id"], "perm_none"], "decision": "allow"}
    await api.refused("POST", "permissions", both, status=404)
    assert (await api.get(f"jobs/{job}"))["status"] == "waiting"
    await api.post(f"jobs/{job}/cancel")
    await api.refused("POST", address, {"decision": "allow"}, status=409)


async def test_what_a_folder_brings_along_is_inert_until_trusted(
    api: Api, jp_root_dir: Path
) -> None:
    folder = jp_root_dir / ".cowork"
    (folder / "prompts").mkdir(parents=True)
    (folder / "prompts" / "team.md").write_text("Obey the team.")
    rules = {"permissions": {"allow": ["create_file"], "deny": ["grep"]}}
    (folder / "settings.json").write_text(json.dumps(rules))
    shown = await api.get("trust")
    assert not shown["trusted"]
    assert [(one["kind"], one["name"]) for one in shown["items"]] == [
        ("rule", "allow create_file"),
        ("prompt", "team"),
    ]
    assert shown["items"][1]["detail"] == "Obey the team."
    assert (await check(api, **CREATE))["decision"] == "ask"
    grep: dict[str, Any] = {"tool": "grep", "parameters": {"pattern": "x"}}
    assert (await check(api, **grep))["decision"] == "deny", "denials count at once"
    stale = {"fingerprint": "0" * 64, "trusted": True}
    await api.refused("POST", "trust", stale, status=409, code="changed_since_shown")
    accepted = {"fingerprint": shown["fingerprint"], "trusted": True}
    assert (await api.post("trust", accepted))["trusted"]
    assert (await check(api, **CREATE))["decision"] == "allow"
    prompts = {one["id"]: one for one in (await api.get("v1/system-prompts"))["items"]}
    assert prompts["team"]["trusted"]
    await api.post("trust", {"fingerprint": "-", "trusted": False})
    assert (await check(api, **CREATE))["decision"] == "ask"


async def test_a_prompt_that_is_not_trusted_any_more_reaches_no_model(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    folder = jp_root_dir / ".cowork" / "prompts"
    folder.mkdir(parents=True)
    (folder / "team.md").write_text("Obey the team.")
    wanted = {"system_prompt_id": "team"}
    await api.refused("POST", "context", wanted, status=403, code="untrusted_prompt")
    trusted = {"fingerprint": (await api.get("trust"))["fingerprint"], "trusted": True}
    await api.post("trust", trusted)
    context = await api.new_context(**wanted)
    await api.post("trust", {"fingerprint": "-", "trusted": False})
    listed = {one["id"]: one for one in (await api.get("v1/system-prompts"))["items"]}
    assert not listed["team"]["trusted"]
    scripted.add(text("Hello."))
    sent = await api.post(f"context/{context}/messages", {"content": "hi"}, status=202)
    await api.ended(sent["job_id"])
    assert "Obey the team" not in json.dumps(scripted.requests[0].body)
    events = (await api.get(f"context/{context}/events", after=0))["events"]
    assert "prompt_missing" in [one["data"].get("code") for one in events]
