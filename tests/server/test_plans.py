"""Plans over HTTP: edit, approve, run, answer, resume."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.scripted import ScriptedServer, plan, result, stall, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")


WHICH = {
    "type": "question",
    "format_version": "1.0",
    "question": "Which?",
    "context": "",
    "severity": "major",
    "options": [{"label": one, "value": one, "description": ""} for one in "ab"],
    "default": "a",
}


async def planned(api: Api, scripted: ScriptedServer, *actions: Any) -> str:
    """A context with a plan at revision 1."""
    scripted.add(plan("Tidy up", *actions))
    context = await api.new_context(role="planner")
    accepted = await api.post(f"context/{context}/messages", {"content": "Plan"}, status=202)
    await api.ended(accepted["job_id"])
    return context


async def test_an_approved_plan_runs_and_makes_the_role_actor(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted, "look", "write")
    scripted.add(text("Looked."), text("Wrote."))
    started = await api.post(f"context/{context}/plan/execute", {"revision": 1}, status=202)
    job = await api.ended(started["job_id"])
    assert job["status"] == "completed"
    assert [task["status"] for task in job["tasks"]] == ["completed", "completed"]
    assert (await api.get(f"context/{context}"))["role"] == "actor"
    shown = await api.get(f"context/{context}/plan")
    assert [step["status"] for step in shown["plan"]["steps"]] == ["completed", "completed"]


async def test_a_job_tells_where_it_is_how_long_it_worked_and_its_last_words(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted, "look", "write")
    scripted.add(text("Looked."), text(json.dumps(WHICH)), text("Wrote a."))
    started = await api.post(f"context/{context}/plan/execute", {"revision": 1}, status=202)
    address = f"jobs/{started['job_id']}"
    asked = await api.first_question(context)
    waiting = await api.get(address)
    await asyncio.sleep(0.3)
    later = await api.get(address)
    assert (later["status"], later["current_step_index"]) == ("waiting", 1)
    assert later["final_response"] is None
    assert later["working_seconds"] == waiting["working_seconds"] > 0
    await api.post(f"questions/{asked['id']}/answer", {"value": "a"})
    job = await api.ended(started["job_id"])
    assert (job["final_response"], job["current_step_index"]) == ("Wrote a.", 1)
    assert waiting["working_seconds"] < job["working_seconds"] < later["working_seconds"] + 30
    spans = [task["working_seconds"] for task in job["tasks"]]
    assert 0 < sum(spans) <= job["working_seconds"] + 0.01
    card = (await api.get(f"{address}/card"))["card"]["snapshot"]["jobs"][-1]
    assert card["worked_seconds"] == job["working_seconds"]
    audit = await api.get(f"context/{context}/audit")
    assert [step["actual"]["seconds"] for step in audit["steps"]] == pytest.approx(spans, abs=0.02)


async def test_an_edit_is_a_new_revision_and_guards_against_two_editors(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted, "look")
    found = (await api.get(f"context/{context}/plan"))["plan"]
    found["steps"][0]["action"] = "look closely"
    edit = {"plan": found, "revision": 1}
    edited = await api.call("PUT", f"context/{context}/plan", edit)
    assert (edited["revision"], edited["plan"]["steps"][0]["action"]) == (2, "look closely")
    for method, address, body in (
        ("PUT", f"context/{context}/plan", edit),
        ("POST", f"context/{context}/plan/execute", {"revision": 1}),
    ):
        await api.refused(method, address, body, status=409, code="stale_revision")


async def test_a_plan_made_by_hand_is_the_first_revision(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context()
    address = f"context/{context}/plan"
    made = {"goal": "Look", "steps": [{"id": "look", "action": "look"}]}
    first = {"plan": made, "revision": (await api.get(address))["revision"]}
    too_new = {"plan": made, "revision": 1}
    await api.refused("PUT", address, too_new, status=409, code="stale_revision")
    assert (await api.call("PUT", address, first))["revision"] == 1
    await api.refused("PUT", address, first, status=409, code="stale_revision")
    scripted.add(text("Looked."))
    started = await api.post(f"{address}/execute", {"revision": 1}, status=202)
    assert (await api.ended(started["job_id"]))["status"] == "completed"


async def test_a_plan_that_cannot_run_is_refused(api: Api, scripted: ScriptedServer) -> None:
    for needed in [["1"], ["nope"]]:
        context = await planned(api, scripted, "look")
        steps = [{"id": "1", "action": "x", "depends_on": needed}]
        edit = {"plan": {"goal": "g", "steps": steps}, "revision": 1}
        await api.refused("PUT", f"context/{context}/plan", edit, status=422)


EXPECTED = {"id": "e", "of": "df", "check": "rows", "value": 3}


async def test_a_misspelt_plan_is_refused_with_its_place(api: Api) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"steps": [{"action": "x", "depend_on": []}]}, "steps[0].depend_on: is unknown"),
        ({"steps": [{"action": "x", "depend_on": None}]}, "steps[0].depend_on: is unknown"),
        ({"risk": ["none"]}, "risk: is unknown; choose from: type, format_version, id, goal"),
        (
            {"steps": [{"action": "x", "expects": [{**EXPECTED, "tol": 1}]}]},
            "steps[0].expects[0].tol: is unknown",
        ),
        ({"assumptions": [{"text": "t", "state": "open"}]}, "assumptions[0].state: is unknown"),
        (
            {"assumptions": [{"text": "t", "status": "maybe"}]},
            "assumptions[0].status: input should be 'open', 'confirmed' or 'corrected'",
        ),
    ]
    for plan_, says in cases:
        address = f"context/{await api.new_context()}/plan"
        sent = {"goal": "g", "steps": [{"action": "x"}], **plan_}
        edit = {"plan": sent, "revision": 0}
        refused = await api.refused("PUT", address, edit, status=422, code="invalid_plan")
        assert refused["message"].startswith(says)
        kept = {"name": "kept", "plan": sent}
        refused = await api.refused("POST", "workflows", kept, status=422, code="invalid_plan")
        assert refused["message"].startswith(says)
        assert (await api.get(address))["plan"] is None


async def test_a_plan_that_was_read_can_be_put_back_unchanged(api: Api) -> None:
    address = f"context/{await api.new_context()}/plan"
    assumed = [
        {"text": "Prices are net"},
        {"text": "t", "status": "corrected", "correction": "no", "alternatives": ["a"]},
    ]
    steps = [
        {"id": "do", "action": "x", "expects": [EXPECTED]},
        {"id": "see", "action": "y", "role": "reviewer", "rounds": 1, "depends_on": ["do"]},
    ]
    edit = {"plan": {"goal": "g", "steps": steps, "assumptions": assumed}, "revision": 0}
    made = await api.call("PUT", address, edit)
    read = await api.get(address)
    assert read["plan"] == made["plan"]
    again = await api.call("PUT", address, {"plan": read["plan"], "revision": 1})
    assert (again["revision"], again["plan"]) == (2, read["plan"])


async def test_a_model_may_misspell_what_is_left_out_then(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted, {"action": "look", "depend_on": []})
    (step,) = (await api.get(f"context/{context}/plan"))["plan"]["steps"]
    assert step["action"] == "look"


async def test_a_plan_that_expects_nonsense_is_refused(api: Api, scripted: ScriptedServer) -> None:
    context = await planned(api, scripted, "look")
    steps = [{"id": "1", "action": "x", "expects": [{"of": "t", "check": "sum", "value": 3}]}]
    edit = {"plan": {"goal": "g", "steps": steps}, "revision": 1}
    error = await api.refused("PUT", f"context/{context}/plan", edit, status=422)
    assert error["message"] == "steps[0].expects[0].column: the check 'sum' needs a column"
    steps[0]["expects"] = [{"of": "t", "check": "sum", "column": "x", "value": 3}]
    await api.call("PUT", f"context/{context}/plan", edit)
    kept = (await api.get(f"context/{context}/plan"))["plan"]["steps"][0]["expects"]
    assert [(one["of"], one["column"]) for one in kept] == [("t", "x")]


async def test_a_failed_task_is_retried_over_http(api: Api, scripted: ScriptedServer) -> None:
    context = await planned(api, scripted, "look")
    scripted.add(result("failed", "no luck"), text("Looked."))
    started = await api.post(f"context/{context}/plan/execute", {"revision": 1}, status=202)
    question = await api.first_question(context)
    address = f"jobs/{started['job_id']}/tasks/{question['task_id']}/retry"
    await api.post(address, status=202)
    assert (await api.ended(started["job_id"]))["status"] == "completed"
    await api.refused("POST", address, status=409)
    await api.refused("POST", f"jobs/{started['job_id']}/resume", status=409)


async def test_two_goals_are_two_plans_and_run_in_any_order(
    api: Api, scripted: ScriptedServer
) -> None:
    """Their steps have the same ids, as models number from 1."""
    context = await planned(api, scripted, "look")
    scripted.add(plan("Plot it", "draw"))
    accepted = await api.post(f"context/{context}/messages", {"content": "Plot"}, status=202)
    await api.ended(accepted["job_id"])
    first, second = (await api.get(f"context/{context}/plans"))["items"]
    assert [(one["goal"], one["revision"]) for one in (first, second)] == [
        ("Tidy up", 1),
        ("Plot it", 1),
    ]
    assert (await api.get(f"context/{context}/plan"))["plan"]["id"] == second["id"]
    execute = f"context/{context}/plan/execute"
    scripted.add(text("Looked."))
    started = await api.post(execute, {"revision": 1, "plan_id": first["id"]}, status=202)
    job = await api.ended(started["job_id"])
    facts = ("kind", "role", "request", "plan_id", "plan_revision", "by")
    assert [job[one] for one in facts] == ["plan", "actor", "Plan", first["id"], 1, "person"]
    assert [(task["role"], task["result"]) for task in job["tasks"]] == [("actor", "Looked.")]
    cards = [
        (await api.get(f"jobs/{one['job_id']}/card"))["card"]["snapshot"] for one in (first, second)
    ]
    assert [card["plan_id"] for card in cards] == [first["id"], second["id"]]
    assert [card["role"] for card in cards] == ["actor", "planner"]
    assert [[task["result"] for task in card["tasks"]] for card in cards] == [["Looked."], []]
    assert [card["plan"]["steps"][0]["status"] for card in cards] == ["completed", "pending"]
    scripted.add(text("Drawn."))
    await api.ended((await api.post(execute, {"revision": 1}, status=202))["job_id"])
    audits = [
        await api.get(f"context/{context}/audit?job_id={one['job_id']}") for one in (first, second)
    ]
    assert [one["goal"] for one in audits] == ["Tidy up", "Plot it"]
    await api.refused(
        "POST", execute, {"revision": 1, "plan_id": "plan_x"}, status=404, code="no_plan"
    )


async def test_the_plan_that_runs_can_be_had_while_a_newer_one_waits(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted, "look")
    scripted.add(plan("Plot it", "draw"), stall())
    accepted = await api.post(f"context/{context}/messages", {"content": "Plot"}, status=202)
    await api.ended(accepted["job_id"])
    address = f"context/{context}/plan"
    first, _ = (await api.get(f"{address}s"))["items"]
    body = {"revision": 1, "plan_id": first["id"]}
    job = await api.post(f"{address}/execute", body, status=202)
    goals = [(await api.get(address, **query))["plan"]["goal"] for query in ({}, RUNNING)]
    assert goals == ["Plot it", "Tidy up"]
    await api.post(f"jobs/{job['job_id']}/cancel")
    await api.ended(job["job_id"])
    assert (await api.get(address, **RUNNING))["plan"]["goal"] == "Plot it"


RUNNING = {"running": "true"}


async def test_revisions_are_listed_and_restored(api: Api, scripted: ScriptedServer) -> None:
    context = await planned(api, scripted, "look", "write")
    address = f"context/{context}/plan"
    found = (await api.get(address))["plan"]
    edited = {**found, "steps": found["steps"][:1]}
    await api.call("PUT", address, {"plan": edited, "revision": 1, "plan_id": found["id"]})
    listed = (await api.get(f"{address}/revisions"))["items"]
    assert [(one["revision"], one["by"], one["change"]) for one in listed] == [
        (1, "planner", ""),
        (2, "person", "1 step removed"),
    ]
    assert len((await api.get(f"{address}?revision=1"))["plan"]["steps"]) == 2
    restored = await api.post(f"{address}/restore", {"revision": 1})
    assert (restored["revision"], len(restored["plan"]["steps"])) == (3, 2)
    await api.refused("POST", f"{address}/restore", {"revision": 9}, status=404)


async def test_any_two_revisions_are_compared(api: Api, scripted: ScriptedServer) -> None:
    context = await planned(api, scripted, "look", "write")
    address = f"context/{context}/plan"
    found = (await api.get(address))["plan"]
    look, write = found["steps"]
    changed = {**found, "steps": [{**look, "files": ["a.csv"]}, write]}
    await api.call("PUT", address, {"plan": changed, "revision": 1})
    shorter = {**found, "goal": "Look only", "steps": [{**look, "files": ["a.csv"]}]}
    await api.call("PUT", address, {"plan": shorter, "revision": 2})

    newest = await api.get(f"{address}/compare")
    assert (newest["from_revision"], newest["to_revision"]) == (2, 3)
    assert newest["summary"] == "1 step removed"
    assert newest["fields"] == [
        {"field": "goal", "before": found["goal"], "after": "Look only"},
    ]
    assert [(one["id"], one["change"]) for one in newest["steps"]] == [(write["id"], "removed")]
    whole = await api.get(f"{address}/compare?from=1&to=3")
    assert [(one["id"], one["change"], one["fields"]) for one in whole["steps"]] == [
        (look["id"], "changed", [{"field": "files", "before": "", "after": "a.csv"}]),
        (write["id"], "removed", []),
    ]
    same = await api.get(f"{address}/compare?from=2&to=2")
    assert (same["summary"], same["fields"], same["steps"]) == ("no difference", [], [])
    await api.refused("GET", f"{address}/compare?from=9", status=404, code="no_revision")
