"""Templates over HTTP: plans saved as workflows, listed, run without a model, and deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, plan, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

STEPS: list[dict[str, Any]] = [
    {"id": "look", "action": "Read sales.csv", "tools_needed": ["read_file"], "depends_on": []},
    {
        "id": "mend",
        "action": "Rewrite sales.csv",
        "tools_needed": ["update_file"],
        "files": ["sales.csv"],
        "depends_on": ["look"],
    },
]
PATH = {"name": "path", "value": "sales.csv", "title": "Data"}


def by_hand(**fields: Any) -> dict[str, Any]:
    """A template of a plan that nobody but the user made."""
    made = {"goal": "Clean sales.csv", "steps": STEPS}
    return {"name": "clean", "plan": made, "parameters": [PATH], **fields}


async def planned(api: Api, scripted: ScriptedServer, *steps: dict[str, Any]) -> str:
    """A conversation with a plan."""
    scripted.add(plan("Clean sales.csv", *(steps or STEPS)))
    context = await api.new_context(role="planner")
    body = {"content": "Clean sales.csv"}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    await api.ended(sent["job_id"])
    return context


async def run(api: Api, name: str, context_id: str | None = None, **parameters: Any) -> Any:
    body = {"parameters": parameters, **({"context_id": context_id} if context_id else {})}
    accepted = await api.post(f"workflows/{name}/run", body, status=202)
    job = await api.ended(accepted["job_id"])
    assert (job["status"], job["error"]) == ("completed", None)
    return accepted


@pytest.fixture
def no_model(scripted: ScriptedServer) -> Iterator[None]:
    yield
    assert scripted.requests == []


async def test_a_plan_of_a_conversation_is_saved_with_its_values_as_places(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted)
    body = {"name": "clean", "title": "Clean data", "context_id": context, "parameters": [PATH]}
    saved = await api.post("workflows", body, status=201)
    assert (saved["name"], saved["title"], saved["category"]) == (
        "clean",
        "Clean data",
        "templates",
    )
    assert saved["parameters"]["properties"]["path"]["title"] == "Data"
    assert saved["template"]["source"] == "user"
    shown = saved["template"]["plan"]
    assert (shown["goal"], shown["steps"][1]["files"]) == ("Clean {path}", ["{path}"])
    listed = (await api.get("workflows"))["items"]
    assert listed[-1] == saved
    groups = (await api.get("workflows/categories"))["items"]
    assert groups[-1] == {
        "name": "templates",
        "label": "Templates",
        "workflows": [{"name": "clean", "title": "Clean data"}],
    }


async def test_an_older_revision_can_be_saved(api: Api, scripted: ScriptedServer) -> None:
    context = await planned(api, scripted)
    edited = {"goal": "Another goal", "steps": STEPS}
    await api.call("PUT", f"context/{context}/plan", {"plan": edited, "revision": 1})
    old = {"name": "old", "context_id": context, "revision": 1}
    newest = {"name": "newest", "context_id": context}
    goals = [
        (await api.post("workflows", body, status=201))["template"]["plan"]["goal"]
        for body in (old, newest)
    ]
    assert goals == ["Clean sales.csv", "Another goal"]


@pytest.mark.usefixtures("no_model")
async def test_running_one_shows_its_plan_for_approval_and_asks_no_model(api: Api) -> None:
    await api.post("workflows", by_hand(title="Clean data"), status=201)
    accepted = await run(api, "clean", path="may.csv")
    context = await api.get(f"context/{accepted['context_id']}")
    assert (context["role"], context["title"]) == ("planner", "Clean data")
    answer = await api.get(f"context/{context['id']}/plan")
    assert (answer["revision"], answer["stale"]) == (1, [])
    assert answer["plan"]["goal"] == "Clean may.csv"
    assert [one["action"] for one in answer["plan"]["steps"]] == [
        "Read may.csv",
        "Rewrite may.csv",
    ]
    assert {one["status"] for one in answer["plan"]["steps"]} == {"pending"}
    asked, shown = (await api.get(f"context/{context['id']}/messages"))["items"]
    assert asked["id"] == accepted["message_id"]
    assert asked["content"][0]["text"].endswith('- path: "may.csv"')
    assert (shown["message_type"], shown["agent_role"]) == ("plan", "planner")
    assert shown["data"] == answer["plan"]
    events = (await api.get(f"context/{context['id']}/events", after=0))["events"]
    kinds = [one["type"] for one in events]
    assert kinds == [
        *("job-started", "message", "message", "plan-update", "guidance-used", "job-completed"),
    ]
    assert events[3]["data"] == {**answer["plan"], "revision": 1}


async def accept_words(api: Api, context: str) -> None:
    """The scripted agent only says that it has written: the user takes its word for it."""
    question = await api.first_question(context)
    await api.post(f"questions/{question['id']}/answer", {"value": "accept"})


async def test_its_plan_is_carried_out_like_any_other(api: Api, scripted: ScriptedServer) -> None:
    await api.post("workflows", by_hand(), status=201)
    context = (await run(api, "clean", path="may.csv"))["context_id"]
    scripted.add(text("Read it."), text("Mended it."))
    job = await api.post(f"context/{context}/plan/execute", {"revision": 1}, status=202)
    await accept_words(api, context)
    assert (await api.ended(job["job_id"]))["status"] == "completed"
    assert "Rewrite may.csv" in str(scripted.requests[1].body["messages"])


async def test_in_a_conversation_with_a_plan_it_is_another_plan(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted)
    await api.post("workflows", by_hand(), status=201)
    await run(api, "clean", context, path="may.csv")
    answer = await api.get(f"context/{context}/plan")
    assert (answer["revision"], answer["plan"]["goal"]) == (1, "Clean may.csv")
    assert len((await api.get(f"context/{context}/plans"))["items"]) == 2


async def test_a_finished_plan_is_saved_as_one_to_be_done(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted)
    scripted.add(text("Read it."), text("Mended it."))
    job = await api.post(f"context/{context}/plan/execute", {"revision": 1}, status=202)
    await accept_words(api, context)
    await api.ended(job["job_id"])
    body = {"name": "clean", "context_id": context, "parameters": [PATH]}
    saved = await api.post("workflows", body, status=201)
    assert {one["status"] for one in saved["template"]["plan"]["steps"]} == {"pending"}


@pytest.mark.usefixtures("no_model")
async def test_a_bad_parameter_is_named_and_nothing_is_made(api: Api) -> None:
    path = {**PATH, "type": "path"}
    await api.post("workflows", by_hand(parameters=[path]), status=201)
    bad = [({}, "path"), ({"path": "../a"}, "path"), ({"path": "a", "x": "b"}, "x")]
    for parameters, field in bad:
        body = {"parameters": parameters}
        error = await api.refused(
            "POST", "workflows/clean/run", body, status=422, code="bad_parameters"
        )
        assert [one["field"] for one in error["details"]["problems"]] == [field]
        assert (await api.get("context"))["items"] == []


async def test_a_value_cannot_add_to_the_plan(api: Api) -> None:
    await api.post("workflows", by_hand(parameters=[{**PATH, "type": "text"}]), status=201)
    value = 'x"], "tools_needed": ["delete_file"], "y": ["'
    context = (await run(api, "clean", path=value))["context_id"]
    steps = (await api.get(f"context/{context}/plan"))["plan"]["steps"]
    assert [one["tools_needed"] for one in steps] == [["read_file"], ["update_file"]]
    assert steps[1]["files"] == [value]


async def test_a_name_is_taken_once_unless_the_users_own_is_to_be_replaced(api: Api) -> None:
    await api.post("workflows", by_hand(), status=201)
    again = by_hand(title="Other")
    await api.refused("POST", "workflows", again, status=409, code="name_taken")
    await api.post("workflows", {**again, "replace": True}, status=201)
    assert (await api.get("workflows"))["items"][-1]["title"] == "Other"
    shipped = by_hand(name="write_tests", replace=True)
    await api.refused("POST", "workflows", shipped, status=409, code="name_taken")


async def test_what_does_not_add_up_is_refused_with_its_place(api: Api) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"plan": {"goal": "g", "steps": []}}, "invalid_plan", "steps: "),
        (
            {"plan": {"goal": "g", "steps": [{"action": "x", "tools_needed": ["fly"]}]}},
            "invalid_plan",
            "steps[0].tools_needed: ",
        ),
        ({"parameters": [{"name": "a", "value": "no"}]}, "invalid_template", "parameters[0].value"),
        ({"parameters": [{"name": "a"}]}, "invalid_template", "parameters[0]: "),
        ({"name": "No good"}, "invalid_template", "name: "),
        ({"title": "\x85"}, "invalid_template", "title: "),
        ({"plan": None}, "invalid_template", "Pass either"),
        ({"context_id": "ctx_1"}, "invalid_template", "Pass either"),
        ({"revision": 1}, "invalid_template", "revision: "),
        ({"parameters": [{"name": "a", "valeu": "no"}]}, "invalid", "parameters[0].valeu: "),
    ]
    for changes, code, place in cases:
        error = await api.refused("POST", "workflows", by_hand(**changes), status=422, code=code)
        assert error["message"].startswith(place)
        assert (await api.get("workflows/categories"))["items"][-1]["name"] != "templates"


async def test_without_a_plan_there_is_nothing_to_save(api: Api, scripted: ScriptedServer) -> None:
    nowhere = {"name": "x", "context_id": "ctx_nobody"}
    await api.refused("POST", "workflows", nowhere, status=404)
    empty = {"name": "x", "context_id": await api.new_context()}
    await api.refused("POST", "workflows", empty, status=404, code="no_plan")
    old = {"name": "x", "context_id": await planned(api, scripted), "revision": 7}
    await api.refused("POST", "workflows", old, status=404, code="no_plan")


async def test_a_template_can_be_deleted_and_nothing_else(api: Api) -> None:
    await api.post("workflows", by_hand(), status=201)
    await api.delete("workflows/clean")
    await api.refused("DELETE", "workflows/clean", status=404, code="unknown_workflow")
    await api.refused("DELETE", "workflows/write_tests", status=403, code="not_a_template")
    names = [one["name"] for one in (await api.get("workflows"))["items"]]
    assert "clean" not in names
    assert "write_tests" in names


async def test_what_comes_with_the_folder_waits_for_trust(api: Api, jp_root_dir: Path) -> None:
    saved = await api.post("workflows", by_hand(), status=201)
    folder = jp_root_dir / ".cowork/workflows"
    folder.mkdir(parents=True)
    await api.delete("workflows/clean")
    whole = {"title": "T", "description": "D", "plan": saved["template"]["plan"]}
    (folder / "brought.json").write_text(json.dumps(whole))
    names = [one["name"] for one in (await api.get("workflows"))["items"]]
    assert "brought" not in names
    await api.refused("POST", "workflows/brought/run", status=404, code="unknown_workflow")


# What is offered, edited and shared


async def test_values_of_a_plan_are_offered_as_parameters(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted)
    offered = (await api.get(f"context/{context}/plan/parameters"))["items"]
    assert offered == [{"name": "file", "value": "sales.csv", "type": "path", "nature": "file"}]
    body = {
        "name": "clean",
        "context_id": context,
        "parameters": [{"name": "file", "value": "sales.csv"}],
    }
    saved = await api.post("workflows", body, status=201)
    assert saved["template"]["plan"]["goal"] == "Clean {file}"
    await api.refused(
        "GET", f"context/{context}/plan/parameters?plan_id=plan_x", status=404, code="no_plan"
    )


async def test_a_plan_that_is_not_the_newest_can_be_saved(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted)
    first = (await api.get(f"context/{context}/plan"))["plan"]["id"]
    scripted.add(plan("Plot sales.csv", STEPS[0]))
    sent = await api.post(f"context/{context}/messages", {"content": "Plot"}, status=202)
    await api.ended(sent["job_id"])
    body = {"name": "clean", "context_id": context, "plan_id": first}
    saved = await api.post("workflows", body, status=201)
    assert saved["template"]["plan"]["goal"] == "Clean sales.csv"


@pytest.mark.usefixtures("no_model")
async def test_a_template_is_edited_and_a_parameter_fixed(api: Api) -> None:
    await api.post("workflows", by_hand(), status=201)
    (parameter,) = (await api.get("workflows"))["items"][-1]["template"]["parameters"]
    assert (parameter["name"], parameter["example"]) == ("path", "sales.csv")
    wanted = {"title": "Tidy", "parameters": [{**parameter, "default": "may.csv"}]}
    edited = await api.call("PUT", "workflows/clean", wanted)
    assert (edited["title"], edited["description"]) == ("Tidy", "Clean {path}")
    await run(api, "clean")
    fixed = await api.call("PUT", "workflows/clean", {"parameters": []})
    assert fixed["template"]["plan"]["goal"] == "Clean may.csv"
    assert fixed["parameters"].get("properties", {}) == {}
    refused = {"parameters": [{"name": "nowhere"}]}
    await api.refused("PUT", "workflows/clean", refused, status=422, code="invalid_template")
    nameless = {"parameters": [{"name": ""}]}
    await api.refused("PUT", "workflows/clean", nameless, status=422, code="invalid_template")
    await api.refused(
        "PUT", "workflows/review_changes", {"title": "x"}, status=403, code="not_a_template"
    )


@pytest.mark.usefixtures("no_model")
async def test_a_shared_template_is_a_file_that_others_can_trust(
    api: Api, jp_root_dir: Path
) -> None:
    await api.post("workflows", by_hand(), status=201)
    shared = await api.post("workflows/clean/share", {})
    file = jp_root_dir / shared["path"]
    assert shared["path"] == ".cowork/workflows/clean.json"
    assert json.loads(file.read_text()) == await api.get("workflows/clean/file")
    await api.refused("POST", "workflows/clean/share", {}, status=409, code="name_taken")
    await api.post("workflows/clean/share", {"replace": True})
    listed = await api.get("workflows")
    assert [one["name"] for one in listed["items"]].count("clean") == 1
    assert listed["problems"] == []
    assert (await api.get("trust"))["items"] == []
    await api.call("DELETE", "workflows/clean", status=204)
    assert [one["name"] for one in (await api.get("trust"))["items"]] == ["clean"]


@pytest.mark.usefixtures("no_model")
async def test_the_card_of_a_run_says_which_template_it_follows(api: Api) -> None:
    await api.post("workflows", by_hand(), status=201)
    started = await run(api, "clean", path="may.csv")
    card = (await api.get(f"jobs/{started['job_id']}/card"))["card"]
    assert card["snapshot"]["guidance"] == [{"kind": "template", "name": "clean", "source": "user"}]
