"""Workflows over HTTP: listed for menus and forms, run as jobs."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.health import Problem
from tests.scripted import ScriptedServer, stall, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

NAMES = [
    *("explain_notebook", "clean_notebook", "profile_dataset"),
    *("write_tests", "review_changes", "build_test_review", "set_up_project"),
]


async def run(api: Api, name: str, context_id: str | None = None, **parameters: Any) -> Any:
    body = {"parameters": parameters, **({"context_id": context_id} if context_id else {})}
    return await api.post(f"workflows/{name}/run", body, status=202)


async def test_they_are_listed_with_a_schema_for_the_form(api: Api) -> None:
    answer = await api.get("workflows")
    assert (answer["next"], answer["problems"]) == (None, [])
    assert [one["name"] for one in answer["items"]] == NAMES
    first = answer["items"][0]
    fields = {"name", "title", "description", "category", "role", "parameters", "template"}
    assert set(first) == fields
    assert (first["role"], first["template"]) == ("planner", None)
    assert first["parameters"]["required"] == ["notebook"]
    assert first["parameters"]["properties"]["notebook"]["title"] == "Notebook"


async def test_menus_get_them_by_category(api: Api) -> None:
    answer = await api.get("workflows/categories")
    assert answer["next"] is None
    labels = [(one["name"], one["label"]) for one in answer["items"]]
    assert labels == [
        ("notebooks", "Notebooks"),
        ("data", "Data"),
        ("code", "Code"),
        ("projects", "Projects"),
    ]
    assert answer["items"][2]["workflows"] == [
        {"name": "write_tests", "title": "Write tests for a module"},
        {"name": "review_changes", "title": "Review changes"},
        {"name": "build_test_review", "title": "Build, test, review"},
    ]


async def test_running_one_makes_a_context_and_a_job(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(text("It is about sales."))
    accepted = await run(api, "explain_notebook", notebook="sales.ipynb")
    assert set(accepted) == {"message_id", "job_id", "context_id"}
    assert (await api.ended(accepted["job_id"]))["status"] == "completed"
    context = await api.get(f"context/{accepted['context_id']}")
    assert (context["role"], context["title"]) == ("planner", "Explain this notebook")
    assert context["notebook"] == "sales.ipynb"
    first, second = (await api.get(f"context/{context['id']}/messages"))["items"]
    assert first["id"] == accepted["message_id"]
    assert 'Explain the notebook "sales.ipynb"' in first["content"][0]["text"]
    assert second["agent_role"] == "planner"


async def test_in_a_given_context_it_runs_in_its_own_role(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text("Nothing to say."))
    context = await api.new_context(role="actor")
    accepted = await run(api, "review_changes", context, paths=["a.py"])
    assert accepted["context_id"] == context
    await api.ended(accepted["job_id"])
    assert "REVIEWER role" in scripted.requests[0].body["messages"][0]["content"]
    assert (await api.get(f"context/{context}"))["role"] == "actor"


async def test_while_a_job_runs_in_the_context_it_is_refused(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    context = await api.new_context()
    running = await run(api, "review_changes", context)
    body = {"parameters": {}, "context_id": context}
    address = "workflows/review_changes/run"
    await api.refused("POST", address, body, status=409, code="job_running")
    await api.post(f"jobs/{running['job_id']}/cancel")


async def test_a_bad_parameter_is_named_and_nothing_is_made(api: Api) -> None:
    body = {"parameters": {"notebook": "../a.py", "reeder": "me"}}
    address = "workflows/explain_notebook/run"
    error = await api.refused("POST", address, body, status=422, code="bad_parameters")
    assert "notebook: must be a path inside the workspace" in error["message"]
    assert {one["field"] for one in error["details"]["problems"]} == {"notebook", "reeder"}
    assert (await api.get("context"))["items"] == []


async def test_an_unknown_workflow_is_not_found(api: Api) -> None:
    for name in ["nothing", "..%2Fcontext", "%00", "categories"]:
        await api.refused("POST", f"workflows/{name}/run", status=404, code="unknown_workflow")


async def test_an_unknown_context_is_not_found(api: Api) -> None:
    body = {"parameters": {}, "context_id": "ctx_nobody"}
    await api.refused("POST", "workflows/review_changes/run", body, status=404)


async def test_odd_bodies_are_refused(api: Api) -> None:
    for body in [
        {"parameters": []},
        {"parameters": {"notebook": "\ud800.ipynb"}},
        {"parameters": {"\ud800": 1, "notebook": "a.ipynb"}},
        {"parameters": {"notebook": "a\0.ipynb"}},
        {"parameters": {"notebook": ["a.ipynb"]}},
        {"parameters": {"notebook": "a.ipynb"}, "role": "actor"},
    ]:
        await api.refused("POST", "workflows/explain_notebook/run", body, status=422)


async def test_a_broken_plug_in_is_told_in_the_list_and_then_in_health(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cowork_jupyter.workflows import WorkflowRegistry

    registry = WorkflowRegistry()
    registry.problems.append(Problem(code="workflow_plugin", message="It is broken."))
    monkeypatch.setattr("cowork_jupyter.workflows.catalog.load_workflows", lambda: registry)
    assert (await api.get("health"))["problems"] == []
    told = {"code": "workflow_plugin", "message": "It is broken."}
    assert (await api.get("workflows"))["problems"] == [told]
    assert (await api.get("health"))["problems"] == [told]
