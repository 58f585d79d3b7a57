"""Cards over HTTP: what a notebook keeps of a run, and who may read it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.scripted import Rule, ScriptedServer, call, plan, stall, text

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
    assert set(found) == {"card", "markdown", "text", "state"}
    assert found["state"] is None  # nobody asked for it
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


async def test_a_page_gets_all_that_it_shows_in_one_answer(
    api: Api, scripted: ScriptedServer
) -> None:
    question = {"type": "question", "question": "Which?", "options": [{"label": "A", "value": "a"}]}
    job = await planned(api, scripted)
    context = f"context/{job['context_id']}"
    scripted.add(
        call("execute_command", command="pip install pyarrow"),
        call("create_file", path="b.txt", content="x"),
        text(json.dumps(question)),
    )
    body = {"revision": 1, "max_parallel": 1}
    execution = await api.post(f"{context}/plan/execute", body, status=202)
    request = await api.first_request(job["context_id"])

    answer = await api.get(f"jobs/{job['id']}/card", whole="true")
    state = answer["state"]
    assert state["busy"] == execution["job_id"]
    messages = (await api.get(f"{context}/messages"))["items"]
    assert state["messages"] == [one for one in messages if one["job_id"]]
    assert state["plan"] == await api.get(f"{context}/plan")
    assert state["permissions"] == [request]
    assert state["reproduction"] == await api.get(f"{context}/reproduce")
    assert state["audit"] is None  # it is not over

    decision = {"decision": "deny", "scope": "once"}
    await api.post(f"permissions/{request['id']}", decision)
    asked = await api.first_question(job["context_id"])
    state = (await api.get(f"jobs/{job['id']}/card", whole="true"))["state"]
    assert state["questions"] == [asked]
    assert state["checkpoints"] > 0

    await api.post(f"jobs/{execution['job_id']}/cancel")
    await api.ended(execution["job_id"])
    state = (await api.get(f"jobs/{job['id']}/card", whole="true"))["state"]
    assert state["busy"] is None
    assert state["audit"] == await api.get(f"{context}/audit", job_id=job["id"])
    events = await api.get(f"{context}/events", after=state["seq"], timeout=0)
    assert events["events"] == []


async def test_a_page_gets_whole_what_the_notebook_has_no_room_for(
    api: Api, scripted: ScriptedServer
) -> None:
    job = await planned(api, scripted)
    result = "Read it: " + " ".join(f"{number} is very" for number in range(100)) + " long."
    scripted.add(call("read_file", path="a.txt"), text(result))
    path = f"context/{job['context_id']}/plan/execute"
    execution = await api.post(path, {"revision": 1}, status=202)
    await api.ended(execution["job_id"])
    answer = await api.get(f"jobs/{job['id']}/card", whole="true")
    (saved,), (whole,) = answer["card"]["snapshot"]["tasks"], answer["state"]["tasks"]
    assert whole["result"] == result
    assert saved["result"].endswith("…")
    assert [one["id"] for one in answer["state"]["jobs"]] == [job["id"], execution["job_id"]]


async def test_a_page_gets_only_what_was_said_on_its_card_and_hears_who_else_runs(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text("One."), stall())
    context = await api.new_context()
    first = await api.post(f"context/{context}/messages", {"content": "a"}, status=202)
    await api.ended(first["job_id"])
    second = await api.post(f"context/{context}/messages", {"content": "b"}, status=202)
    state = (await api.get(f"jobs/{first['job_id']}/card", whole="true"))["state"]
    assert {one["job_id"] for one in state["messages"]} == {first["job_id"]}
    assert state["busy"] == second["job_id"]
    await api.post(f"jobs/{second['job_id']}/cancel")
    await api.ended(second["job_id"])


async def test_what_a_card_had_no_room_for_is_left_to_be_asked_for_when_it_is_too_much(
    api: Api, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [call("read_file", path=f"{number}.txt") for number in range(15)]
    scripted.add(*calls, text("Done."))
    context = await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": "a"}, status=202)
    await api.ended(sent["job_id"])
    card = f"jobs/{sent['job_id']}/card"
    answer = await api.get(card, whole="true")
    assert len(answer["state"]["messages"]) > len(answer["card"]["snapshot"]["messages"])
    monkeypatch.setattr("cowork_jupyter.api.api_record.MAX_LEFT_OUT", 5)
    assert (await api.get(card, whole="true"))["state"]["messages"] is None


async def test_a_kernel_is_not_told_what_it_may_not_decide(
    api: Api, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cowork_jupyter.hosts.server.handler import KERNEL_TOKEN_HEADER
    from cowork_jupyter.hosts.server.kernel_tokens import KernelTokens

    job = await planned(api, scripted)
    kernel = type("K", (), {"owner": "x", "id": "k"})()
    monkeypatch.setattr(KernelTokens, "kernel_of", lambda *_: kernel)
    monkeypatch.setattr("cowork_jupyter.api.calls.check_owner", lambda *_: None)
    api._headers[KERNEL_TOKEN_HEADER] = "token"
    state = (await api.get(f"jobs/{job['id']}/card", whole="true"))["state"]
    hidden = ("questions", "permissions", "reproduction")
    assert {name: state[name] for name in hidden} == dict.fromkeys(hidden)
    assert state["plan"]["revision"] == 1


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
    assert (model["name"], model["configured"], model["context_size"]) == ("scripted", True, None)


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


async def test_a_page_that_is_opened_later_shows_what_was_summarised(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.listed = {"max_model_len": 6_000}
    scripted.add(Rule(text("Many lines were read."), system="memory of an agent"))
    wrong = [call("grep", pattern=f"nothing {number} " * 200) for number in range(12)]
    scripted.add(*wrong, text("Done."))
    context = await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": "a"}, status=202)
    await api.ended(sent["job_id"])
    state = (await api.get(f"jobs/{sent['job_id']}/card", whole="true"))["state"]
    (first, *_) = state["summaries"]
    assert (first["job_id"], first["text"]) == (sent["job_id"], "Many lines were read.")
    assert "earlier messages" in first["message"]
