"""Cards over HTTP: what a notebook keeps of a run, and who may read it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, plan, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

STEP = {"action": "Read a.txt", "files": ["a.txt"], "tools_needed": ["read_file"]}


async def planned(api: Api, scripted: ScriptedServer) -> dict[str, Any]:
    scripted.add(call("read_file", path="a.txt"), plan("Read it", STEP))
    context = await api.new_context(role="planner", notebook="sales.ipynb")
    sent = await api.post(f"context/{context}/messages", {"content": "Read a."}, status=202)
    return await api.ended(sent["job_id"])


async def test_a_card_holds_the_run_and_its_markdown(api: Api, scripted: ScriptedServer) -> None:
    job = await planned(api, scripted)
    found = await api.get(f"jobs/{job['id']}/card")
    assert set(found) == {"card", "markdown", "text"}
    card = found["card"]
    assert (card["version"], card["kind"], card["host"]) == (1, "run", "server")
    assert (card["context_id"], card["job_id"]) == (job["context_id"], job["id"])
    snapshot = card["snapshot"]
    assert [one["action"] for one in snapshot["plan"]["steps"]] == ["Read a.txt"]
    assert snapshot["revision"] == 1
    assert {one["message_type"] for one in snapshot["messages"]} >= {"text", "tool_call", "plan"}
    assert found["markdown"].startswith("**Planner** · Read a.")


async def test_a_card_can_be_followed_from_where_it_ends(
    api: Api, scripted: ScriptedServer
) -> None:
    job = await planned(api, scripted)
    seq = (await api.get(f"jobs/{job['id']}/card"))["card"]["snapshot"]["seq"]
    events = await api.get(f"context/{job['context_id']}/events", after=seq, timeout=0)
    assert all(one["seq"] > seq and one["type"] != "message" for one in events["events"])


async def test_reading_a_card_asks_no_model(api: Api, scripted: ScriptedServer) -> None:
    job = await planned(api, scripted)
    before = len(scripted.requests)
    for _ in range(3):
        await api.get(f"jobs/{job['id']}/card")
    assert len(scripted.requests) == before


async def test_an_unknown_job_has_no_card(api: Api) -> None:
    await api.refused("GET", "jobs/job_nobody/card", status=404, code="not_found")


async def test_models_are_listed_by_name(api: Api) -> None:
    found = await api.get("models")
    (model,) = found["items"]
    assert model == {"name": "scripted", "configured": True, "context_size": None}


async def test_a_message_can_choose_the_model_to_go_on_with(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text("Hello."))
    context = await api.new_context()
    body = {"content": "Hi", "role": "planner", "model": "other"}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    await api.ended(sent["job_id"])
    assert scripted.requests[-1].body["model"] == "other"
    assert (await api.get(f"context/{context}"))["model"] == "other"
