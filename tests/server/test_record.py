"""The record over HTTP: the audit as JSON, the export as a file."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest

from tests.scripted import ScriptedServer, call, plan, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

STEP = {"action": "Write a.txt", "tools_needed": ["read_file"], "files": ["a.txt"]}


async def carried_out(api: Api, scripted: ScriptedServer) -> str:
    """A conversation whose plan was carried out with one tool too many; gives its id."""
    scripted.add(plan("Write", STEP))
    scripted.add(call("create_file", path="a.txt", content="a\n"))
    scripted.add(text("Written."))
    context = await api.new_context(title='Say "hi"', role="planner")
    planned = await api.post(f"context/{context}/messages", {"content": "Write a."}, status=202)
    await api.ended(planned["job_id"])
    approved = await api.post(f"context/{context}/plan/execute", {"revision": 1}, status=202)
    assert (await api.ended(approved["job_id"]))["status"] == "completed"
    return context


async def test_the_audit_shows_planned_beside_actual(api: Api, scripted: ScriptedServer) -> None:
    context = await carried_out(api, scripted)
    found = await api.get(f"context/{context}/audit")
    (step,) = found["steps"]
    assert (step["id"], step["number"], step["status"]) == ("1", 1, "completed")
    assert step["planned"]["tools"] == ["read_file"]
    assert step["actual"]["tools"] == [{"tool": "create_file", "calls": 1, "failed": 0}]
    assert step["actual"]["files"] == ["a.txt"]
    (deviation,) = step["deviations"]
    assert deviation["kind"] == "extra_tool"
    messages = (await api.get(f"context/{context}/messages"))["items"]
    kinds = {one["id"]: one["message_type"] for one in messages}
    assert [kinds[one] for one in deviation["message_ids"]] == ["tool_call", "tool_result"]
    assert found["totals"]["completed"] == 1


async def test_without_a_plan_the_audit_has_no_steps(api: Api) -> None:
    found = await api.get(f"context/{await api.new_context()}/audit")
    assert (found["steps"], found["revision"], found["goal"]) == ([], 0, "")


async def test_a_plan_that_is_the_current_one_is_audited_before_it_is_executed(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context(role="planner")
    for goal in ("Old", "New"):
        scripted.add(plan(goal, STEP))
        sent = await api.post(f"context/{context}/messages", {"content": goal}, status=202)
        await api.ended(sent["job_id"])
    assert (await api.get(f"context/{context}/audit"))["goal"] == "New"


EXPORTS = {
    "jsonl": "application/jsonl",
    "md": "text/markdown; charset=utf-8",
    "ipynb": "application/x-ipynb+json",
}


async def download(api: Api, context: str, kind: str) -> Any:
    answer = await api.fetch("GET", f"context/{context}/export?format={kind}")
    assert answer.code == 200
    return answer


async def test_an_export_is_a_file_with_a_name(api: Api) -> None:
    for kind, content_type in EXPORTS.items():
        context = await api.new_context(title='Say "hi"')
        answer = await download(api, context, kind)
        assert answer.headers["Content-Type"] == content_type
        disposition = answer.headers["Content-Disposition"]
        assert disposition.startswith('attachment; filename="cowork-')
        assert disposition.endswith(f'-say-hi.{kind}"')
        assert answer.body


async def test_what_is_in_the_files(api: Api, scripted: ScriptedServer) -> None:
    context = await carried_out(api, scripted)
    lines = (await download(api, context, "jsonl")).body.decode().splitlines()
    first, *events = map(json.loads, lines)
    assert first["data"]["id"] == context
    assert events == (await api.get(f"context/{context}/events", timeout=0.1))["events"]
    report = (await download(api, context, "md")).body.decode()
    assert '# Say "hi"\n' in report
    assert "| ✓ 1 | Write a.txt | `read_file`, `a.txt` | `create_file`, changed `a.txt`" in report
    notebook = json.loads((await download(api, context, "ipynb")).body)
    nbformat.validate(notebook)
    assert "".join(notebook["cells"][0]["source"]).startswith('# Say "hi"\n')


async def test_jsonl_is_what_you_get_unless_you_ask(api: Api) -> None:
    context = await api.new_context()
    answer = await api.fetch("GET", f"context/{context}/export")
    assert answer.headers["Content-Type"] == "application/jsonl"


async def test_other_formats_are_refused(api: Api) -> None:
    for query in ["format=pdf", "format=", "form=md"]:
        context = await api.new_context()
        await api.refused("GET", f"context/{context}/export?{query}", status=422)


async def test_an_unknown_conversation_is_not_found(api: Api) -> None:
    for address in ("audit", "export", "export?format=md", "export?format=ipynb"):
        await api.refused("GET", f"context/ctx_nobody/{address}", status=404, code="not_found")


async def test_openapi_names_the_types_of_the_files(api: Api) -> None:
    paths = (await api.get("openapi.json"))["paths"]
    good = paths["/context/{id}/export"]["get"]["responses"]["200"]
    assert set(good["content"]) == {
        *("application/jsonl", "text/markdown", "application/x-ipynb+json")
    }
    audit = paths["/context/{id}/audit"]["get"]["responses"]["200"]["content"]
    assert audit["application/json"]["schema"]["$ref"].endswith("/Audit")
