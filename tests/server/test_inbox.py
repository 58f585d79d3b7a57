"""What waits for the user, over all conversations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, stall, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

QUESTION = json.dumps(
    {"type": "question", "question": "Which year?", "options": [{"label": "2025", "value": "2025"}]}
)


async def asked(api: Api, **fields: Any) -> str:
    """A conversation in which a question waits."""
    context = await api.new_context(**fields)
    await api.post(f"context/{context}/messages", {"content": "Sum up sales"}, status=202)
    await api.first_question(context)
    return context


async def test_the_inbox_holds_what_waits_in_all_conversations(
    api: Api, scripted: ScriptedServer
) -> None:
    assert await api.get("inbox") == {"items": [], "next": None}
    scripted.add(text(QUESTION), call("execute_command", command="pip install pyarrow"))
    first = await asked(api, title="Sales", notebook="a.ipynb", role="planner")
    second = await api.new_context(title="Parquet")
    await api.post(f"context/{second}/messages", {"content": "Install it"}, status=202)
    request = await api.first_request(second)

    permission, question = (await api.get("inbox"))["items"]
    assert (question["kind"], question["context_id"]) == ("question", first)
    assert (question["title"], question["notebook"]) == ("Sales", "a.ipynb")
    assert question["question"] == "Which year?"
    assert question["options"][0]["value"] == "2025"
    assert (permission["kind"], permission["title"]) == ("permission", "Parquet")
    assert {name: permission[name] for name in request} == request


async def test_the_most_urgent_comes_first_and_then_the_oldest(
    api: Api, scripted: ScriptedServer
) -> None:
    for severity in ("minor", "critical", "minor"):
        scripted.add(text(json.dumps({**json.loads(QUESTION), "severity": severity})))
        await asked(api, title=severity)
    calls = {
        "create_file": call("create_file", path="a.txt", content=""),
        "execute_command": call("execute_command", command="pip install pyarrow"),
    }
    for tool, reply in calls.items():
        scripted.add(reply)
        context = await api.new_context(title=tool)
        await api.post(f"context/{context}/messages", {"content": "Do it"}, status=202)
        await api.first_request(context)
    items = (await api.get("inbox"))["items"]
    assert [one["title"] for one in items] == [
        "execute_command",
        "create_file",
        "critical",
        "minor",
        "minor",
    ]
    ages = [one["created_at"] for one in items[-2:]]
    assert ages == sorted(ages)


async def test_what_is_answered_waits_no_more(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(text(QUESTION), text("Well."))
    await asked(api)
    (item,) = (await api.get("inbox"))["items"]
    await api.post(f"questions/{item['id']}/answer", {"value": "2025"})
    assert (await api.get("inbox"))["items"] == []


@pytest.mark.parametrize("question_first", [True, False])
async def test_a_job_waits_until_nothing_of_it_waits(
    api: Api, scripted: ScriptedServer, question_first: bool
) -> None:
    steps = [
        {"id": one, "action": f"do {one}", "files": [f"{one}.txt"], "depends_on": []}
        for one in ("a", "b")
    ]
    scripted.add(text(QUESTION), call("execute_command", command="pip install pyarrow"))
    scripted.add(stall(after=0), stall(after=0))
    context = await api.new_context()
    made = {"plan": {"type": "plan", "goal": "g", "steps": steps}, "revision": 0}
    await api.call("PUT", f"context/{context}/plan", made)
    job = (await api.post(f"context/{context}/plan/execute", {"revision": 1}, status=202))["job_id"]
    question, request = await api.first_question(context), await api.first_request(context)
    answers: list[tuple[str, dict[str, str]]] = [
        (f"questions/{question['id']}/answer", {"value": "2025"}),
        (f"permissions/{request['id']}", {"decision": "deny"}),
    ]
    seen = []
    for address, body in answers if question_first else reversed(answers):
        seen.append((await api.get(f"jobs/{job}"))["status"])
        await api.post(address, body)
    seen.append((await api.get(f"jobs/{job}"))["status"])
    assert seen == ["waiting", "waiting", "running"]
    await api.post(f"jobs/{job}/cancel")
