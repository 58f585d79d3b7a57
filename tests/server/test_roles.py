"""Roles that a workspace declares: over HTTP, and what becomes of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, plan, result, text

from .api import Api
from .test_plans import planned

pytestmark = pytest.mark.usefixtures("connected")

STATISTICIAN = """
name = "statistician"
label = "Statistician"
description = "Tests hypotheses."
icon = "chart"
colour = "brown"
based_on = "designer"
permissions = ["read_files", "create_files"]
prompt = "You doubt every number."
"""


@pytest.fixture
def declared(jp_root_dir: Path) -> Path:
    file = jp_root_dir / ".cowork/roles/statistician.toml"
    file.parent.mkdir(parents=True)
    file.write_text(STATISTICIAN)
    return file


def rewrite(declared: Path, old: str, new: str) -> None:
    declared.write_text(STATISTICIAN.replace(old, new))


async def names(api: Api) -> list[str]:
    return [role["name"] for role in (await api.get("roles"))["items"]]


async def trust(api: Api, *, trusted: bool = True) -> None:
    shown = await api.get("trust")
    await api.post("trust", {"fingerprint": shown["fingerprint"], "trusted": trusted})


async def test_it_is_there_once_it_is_trusted_and_gone_when_not(api: Api, declared: Path) -> None:
    assert "statistician" not in await names(api)
    await api.refused("POST", "context", {"role": "statistician"}, status=422)
    (offer,) = (await api.get("trust"))["items"]
    assert (offer["kind"], offer["detail"]) == ("role", STATISTICIAN)
    await trust(api)
    shown = (await api.get("roles"))["items"][-1]
    assert (shown["name"], shown["label"]) == ("statistician", "Statistician")
    assert (shown["icon"], shown["colour"]) == ("chart", "brown")
    assert shown["permissions"] == ["read_files", "create_files"]
    assert "create_file" in shown["tools"]
    assert "update_file" not in shown["tools"]
    context = await api.new_context(role="statistician")
    assert (await api.get(f"context/{context}"))["role"] == "statistician"
    offered = (await api.get(f"context/{context}/mentions", q="/stat"))["items"]
    assert [one["text"] for one in offered] == ["/statistician"]
    prompt = (await api.get("v1/system-prompts/statistician/enhanced"))["prompt"]
    assert "You are operating in STATISTICIAN role. You doubt every number." in prompt
    await trust(api, trusted=False)
    assert "statistician" not in await names(api)
    change = {"role": "statistician"}
    error = await api.refused(
        "POST", f"context/{context}/role", change, status=422, code="unknown_role"
    )
    assert "there is no 'statistician'. Choose one of: planner," in error["message"]
    assert (await api.get(f"context/{context}"))["role"] == "statistician"
    await api.refused("GET", "v1/system-prompts/statistician/enhanced", status=404)


async def said(api: Api, context: str, **fields: Any) -> list[str | None]:
    """How the calls of one message ended."""
    body = {"content": "Go", **fields}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    assert (await api.ended(sent["job_id"]))["status"] == "completed"
    messages = (await api.get(f"context/{context}/messages"))["items"]
    results = [
        one["data"]
        for one in messages
        if one["job_id"] == sent["job_id"] and one["message_type"] == "tool_result"
    ]
    return [one["error"] and one["error"]["code"] for one in results]


async def test_a_message_in_that_role_is_held_to_its_permissions(
    api: Api, scripted: ScriptedServer, declared: Path, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.txt").write_text("mine\n")
    await trust(api)
    for tool in ("create_file", "update_file", "execute_command"):
        await api.post("rules", {"effect": "allow", "rule": tool, "scope": "session"}, status=201)
    scripted.add(
        call("create_file", path="new.txt", content="new"),
        call("update_file", path="a.txt", content="theirs"),
        call("execute_command", command="touch b.txt"),
        text("Done."),
    )
    context = await api.new_context()
    ended = await said(api, context, role="statistician")
    assert ended == [None, "not_permitted", "not_permitted"]
    assert (jp_root_dir / "new.txt").read_text() == "new"
    assert (jp_root_dir / "a.txt").read_text() == "mine\n"
    assert not (jp_root_dir / "b.txt").exists()
    assert "You doubt every number." in str(scripted.requests[0].body)

    scripted.add(call("create_file", path="second.txt", content="new"), text("Done."))
    assert await said(api, context, content="/statistician again") == [None]


async def test_without_trust_a_stored_role_reads_and_says_so(
    api: Api, scripted: ScriptedServer, declared: Path, jp_root_dir: Path
) -> None:
    await trust(api)
    await api.post(
        "rules", {"effect": "allow", "rule": "create_file", "scope": "session"}, status=201
    )
    context = await api.new_context(role="statistician")
    rewrite(declared, "doubt", "believe")
    scripted.add(call("create_file", path="new.txt", content="new"), text("I may not."))
    assert await said(api, context) == ["not_permitted"]
    assert not (jp_root_dir / "new.txt").exists()
    assert "believe every number" not in str(scripted.requests[0].body)
    events = (await api.get(f"context/{context}/events", after=0))["events"]
    notices = [one["data"] for one in events if one["type"] == "notice"]
    assert "role_unknown" in [one.get("code") for one in notices]


async def test_a_card_says_how_its_role_looks(
    api: Api, scripted: ScriptedServer, declared: Path
) -> None:
    await trust(api)
    scripted.add(text("p = 0.04"))
    context = await api.new_context(role="statistician")
    body = {"content": "Is it?"}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    await api.ended(sent["job_id"])
    answer = await api.get(f"jobs/{sent['job_id']}/card")
    (look,) = answer["card"]["roles"]
    assert (look["name"], look["icon"], look["colour"]) == ("statistician", "chart", "brown")
    assert answer["markdown"].startswith("**Statistician** · Is it?")


async def test_what_is_wrong_with_a_declaration_is_said(api: Api, declared: Path) -> None:
    rewrite(declared, '"create_files"', '"delete_files"')
    await trust(api)
    assert "statistician" not in await names(api)
    told = [one["message"] for one in (await api.get("health"))["problems"]]
    assert any("delete_files is more than the designer may have" in one for one in told)


# In plans and teams

COUNT = {
    "id": "1",
    "action": "Count",
    "role": "statistician",
    "tools_needed": ["create_file"],
    "files": ["n.txt"],
}


def systems(scripted: ScriptedServer) -> list[str]:
    """Whose prompt each request had."""
    prompts = [str(one.body["messages"][0]["content"]) for one in scripted.requests]
    return [prompt.partition(" role.")[0].rpartition(" ")[2] for prompt in prompts]


async def test_a_step_that_a_person_gives_it_runs_in_that_role(
    api: Api, scripted: ScriptedServer, declared: Path, jp_root_dir: Path
) -> None:
    await trust(api)
    context = await planned(api, scripted, "look")
    edit = {"plan": {"goal": "Count", "steps": [COUNT]}, "revision": 1}
    edited = await api.call("PUT", f"context/{context}/plan", edit)
    assert edited["rights"] == "Roles: statistician may create."
    scripted.add(call("create_file", path="n.txt", content="4"), result("done", "Counted."))
    sent = await api.post(f"context/{context}/plan/execute", {"revision": 2}, status=202)
    job = await api.ended(sent["job_id"])
    assert (job["status"], [task["role"] for task in job["tasks"]]) == (
        "completed",
        ["statistician"],
    )
    assert systems(scripted)[1:] == ["STATISTICIAN"] * 2
    prompt = str(scripted.requests[-1].body["messages"][0]["content"])
    assert "create_file(" in prompt
    assert "update_file" not in prompt
    assert (jp_root_dir / "n.txt").read_text() == "4"


async def test_a_step_that_the_planner_gives_it_keeps_its_role(
    api: Api, scripted: ScriptedServer, declared: Path
) -> None:
    await trust(api)
    context = await planned(api, scripted, COUNT)
    (step,) = (await api.get(f"context/{context}/plan"))["plan"]["steps"]
    assert (step["role"], step["tools_needed"]) == ("statistician", ["create_file"])
    (shown,) = [
        one["data"]
        for one in (await api.get(f"context/{context}/messages"))["items"]
        if one["message_type"] == "plan"
    ]
    assert not shown.get("order_notes")


async def test_a_step_for_an_unknown_role_goes_back_to_the_planner(
    api: Api, scripted: ScriptedServer, declared: Path
) -> None:
    """It is not trusted here, so it is unknown."""
    scripted.add(plan("Count", COUNT))
    context = await planned(api, scripted, "look")
    told = str(scripted.requests[-1].body["messages"][-1]["content"])
    assert "steps[0].role: there is no role 'statistician'; choose one of: planner, actor" in told
    assert len((await api.get(f"context/{context}/plans"))["items"]) == 1


async def test_a_step_for_an_unknown_role_is_refused(
    api: Api, scripted: ScriptedServer, declared: Path
) -> None:
    await trust(api)
    context = await planned(api, scripted, COUNT)
    await trust(api, trusted=False)
    edit = {"plan": {"goal": "Count", "steps": [COUNT]}, "revision": 1}
    approval = {"revision": 1}
    for method, address, body in (
        ("PUT", f"context/{context}/plan", edit),
        ("POST", f"context/{context}/plan/execute", approval),
    ):
        error = await api.refused(method, address, body, status=422, code="invalid_plan")
        assert error["message"].startswith("steps[0].role: there is no role 'statistician'")
    jobs = (await api.get(f"context/{context}/jobs"))["items"]
    assert [job["kind"] for job in jobs] == ["message"]


async def test_the_commander_delegates_to_it(
    api: Api, scripted: ScriptedServer, declared: Path
) -> None:
    await trust(api)
    (leader,) = [one for one in (await api.get("roles"))["items"] if one["name"] == "commander"]
    assert leader["delegates_to"][-1] == "statistician"
    check = {"role": "commander", "tool": "delegate", "parameters": {"role": "statistician"}}
    assert (await api.post("rules/check", check))["decision"] == "ask"
    scripted.add(
        call("delegate", role="statistician", task="Count"), text("It is 4."), text("Four.")
    )
    context = await api.new_context(role="commander")
    sent = await api.post(f"context/{context}/messages", {"content": "Count"}, status=202)
    question = await api.first_question(context)
    await api.post(f"questions/{question['id']}/answer", {"value": "allow"})
    job = await api.ended(sent["job_id"])
    assert [(task["role"], task["status"]) for task in job["tasks"]] == [
        ("statistician", "completed")
    ]
    assert systems(scripted) == ["COMMANDER", "STATISTICIAN", "COMMANDER"]
    prompt = str(scripted.requests[0].body["messages"][0]["content"])
    assert "You may delegate to: planner, actor, designer, reviewer, tester, statistician" in prompt
    assert "role: planner|actor|designer|reviewer|tester|statistician" in prompt


async def test_a_declared_leader_delegates_to_those_of_its_declaration(
    api: Api, scripted: ScriptedServer, declared: Path
) -> None:
    """Declared roles among them; nobody else."""
    lead = STATISTICIAN.replace("statistician", "lead").replace("Statistician", "Lead")
    lead = lead.replace('"designer"', '"commander"').replace(', "create_files"', "")
    declared.with_name("lead.toml").write_text(f'{lead}delegates_to = ["statistician", "tester"]')
    await trust(api)
    shown = {one["name"]: one["delegates_to"] for one in (await api.get("roles"))["items"]}
    assert shown["lead"] == ["tester", "statistician"]
    assert "lead" not in shown["commander"]
    decisions = [
        (await api.post("rules/check", {"role": "lead", "tool": "delegate", "parameters": to}))
        for to in ({"role": "statistician"}, {"role": "actor"}, {"role": "lead"})
    ]
    assert [one["decision"] for one in decisions] == ["ask", "deny", "deny"]


async def test_a_declared_reviewer_sends_work_back(
    api: Api, scripted: ScriptedServer, declared: Path
) -> None:
    critic = STATISTICIAN.replace("statistician", "critic").replace("Statistician", "Critic")
    critic = critic.replace('"designer"', '"reviewer"').replace(', "create_files"', "")
    declared.with_name("critic.toml").write_text(critic)
    await trust(api)
    finding = {"file": "a.txt", "line": 1, "severity": "major", "comment": "No"}
    review: dict[str, Any] = {
        "type": "review",
        "format_version": "1.0",
        "summary": "Again",
        "verdict": "request_changes",
        "findings": [finding],
    }
    work = {"id": "1", "action": "Write"}
    judge = {"id": "2", "action": "Judge", "role": "critic", "rounds": 1, "depends_on": ["1"]}
    context = await planned(api, scripted, work, judge)
    approved = {**review, "verdict": "approve", "findings": []}
    scripted.add(
        result("done", "Written."),
        text(json.dumps(review)),
        result("done", "Better."),
        text(json.dumps(approved)),
    )
    sent = await api.post(f"context/{context}/plan/execute", {"revision": 1}, status=202)
    job = await api.ended(sent["job_id"])
    assert job["status"] == "completed"
    assert systems(scripted)[1:] == ["ACTOR", "CRITIC", "ACTOR", "CRITIC"]
