"""Conversations over HTTP: make them, talk in them, read them, switch roles, remove them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic.json_schema import models_json_schema

from cowork_jupyter.api import openapi
from tests.scripted import ScriptedServer, call, plan, stall, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")


async def test_a_new_context_is_an_actor_unless_asked(api: Api) -> None:
    made = await api.post("context", {"title": "Sales"}, status=201)
    assert made["role"] == "actor"
    assert set(made) == {
        *("id", "title", "notebook", "role", "model", "system_prompt_id"),
        *("created_at", "updated_at"),
    }
    assert (await api.post("context", {"role": "planner"}, status=201))["role"] == "planner"


async def test_contexts_are_listed_newest_first_in_pages(api: Api) -> None:
    made = [await api.post("context", {"title": str(number)}, status=201) for number in range(5)]
    first = await api.get("context", limit=3)
    rest = await api.get("context", limit=3, after=first["next"])
    listed = [one["id"] for one in [*first["items"], *rest["items"]]]
    assert listed == [one["id"] for one in reversed(made)]
    assert rest["next"] is None


async def test_a_context_can_be_renamed(api: Api) -> None:
    context = await api.new_context(title="Sales")
    renamed = await api.call("PUT", f"context/{context}", {"title": "Sales of March"})
    assert renamed["title"] == "Sales of March"
    assert (await api.get(f"context/{context}"))["title"] == "Sales of March"
    await api.refused("PUT", f"context/{context}", {"role": "actor"}, status=422)


async def test_a_context_can_be_pinned(api: Api) -> None:
    pinned, other = await api.new_context(title="Sales"), await api.new_context()
    answer = await api.call("PUT", f"context/{pinned}", {"pinned": True})
    assert (answer["pinned"], answer["title"]) == (True, "Sales")
    for want, found in ((True, pinned), (False, other)):
        assert [one["id"] for one in (await api.get("context", pinned=want))["items"]] == [found]
    assert "pinned" not in await api.call("PUT", f"context/{pinned}", {"pinned": False})


async def test_contexts_are_searched_by_title_and_what_was_said(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text("Because of 100% fewer orders."))
    context = await api.new_context(title="Sales", notebook="a.ipynb")
    await api.new_context(title="Sales of 1000 orders")
    accepted = await api.post(f"context/{context}/messages", {"content": "Why?"}, status=202)
    await api.ended(accepted["job_id"])

    async def found(**query: Any) -> list[str]:
        return [one["title"] for one in (await api.get("context", **query))["items"]]

    assert await found(q="sales 100%") == ["Sales"]
    assert await found(q="SALES orders") == ["Sales of 1000 orders", "Sales"]
    assert await found(q="sales", notebook="a.ipynb") == ["Sales"]
    assert await found(q="'; DROP TABLE contexts; --") == []
    assert await found(q='"title" NEAR(sales*') == []
    assert await found(q="") == ["Sales of 1000 orders", "Sales"]
    await api.refused("GET", f"context?q={'x' * 201}", status=422)
    await api.refused("GET", "context?q=a%00b", status=422)


async def test_a_deleted_context_is_gone(api: Api) -> None:
    context = await api.new_context()
    assert await api.delete(f"context/{context}") is None
    await api.refused("GET", f"context/{context}", status=404, code="not_found")
    await api.refused("DELETE", f"context/{context}", status=404, code="not_found")


async def test_a_deleted_context_can_be_restored_with_all_that_is_in_it(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text("Hello."), stall())
    context = await api.new_context(title="Sales")
    accepted = await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    job = await api.ended(accepted["job_id"])
    running = await api.post(f"context/{context}/messages", {"content": "Go on"}, status=202)
    before = await api.get(f"context/{context}")
    await api.delete(f"context/{context}")
    await api.refused("GET", f"jobs/{job['id']}", status=404)
    (listed,) = (await api.get("deleted"))["items"]
    assert listed["deleted_at"] >= before["updated_at"]
    assert (await api.get("context"))["items"] == (await api.get("inbox"))["items"] == []

    restored = await api.post(f"context/{context}/restore")
    assert restored == await api.get(f"context/{context}")
    assert (restored["id"], restored["title"]) == (context, "Sales")
    assert await api.get(f"jobs/{job['id']}") == job
    assert (await api.get(f"jobs/{running['job_id']}"))["status"] == "cancelled"
    said = (await api.get(f"context/{context}/messages"))["items"]
    assert [one["content"][0]["text"] for one in said][:3] == ["Hi", "Hello.", "Go on"]
    assert (await api.get("deleted"))["items"] == []
    await api.refused("POST", f"context/{context}/restore", status=404, code="not_found")


async def test_a_message_is_accepted_and_worked_on(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(text("Hello."))
    context = await api.new_context()
    accepted = await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    job = await api.ended(accepted["job_id"])
    assert job["status"] == "completed"
    messages = (await api.get(f"context/{context}/messages"))["items"]
    assert messages[0]["id"] == accepted["message_id"]
    assert [one["content"][0]["text"] for one in messages] == ["Hi", "Hello."]


async def test_a_context_without_a_title_is_named_after_what_was_asked_first(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text("One."), text("Two."))
    context = await api.new_context()
    for said in ("Clean sales.csv\nand more", "Something else"):
        accepted = await api.post(f"context/{context}/messages", {"content": said}, status=202)
        await api.ended(accepted["job_id"])
    assert (await api.get(f"context/{context}"))["title"] == "Clean sales.csv"


async def test_only_one_job_runs_at_a_time(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(stall())
    context = await api.new_context()
    running = await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    refusal = await api.refused(
        "POST", f"context/{context}/messages", {"content": "again"}, status=409, code="job_running"
    )
    assert refusal["details"]["job_id"] == running["job_id"]
    cancelled = await api.post(f"jobs/{running['job_id']}/cancel")
    assert cancelled["status"] == "cancelled"


async def test_the_long_poll_waits_and_gives_every_event_once(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(call("list_directory", path="."), text("one two three", delay=0.02))
    context = await api.new_context()
    waiting = asyncio.ensure_future(api.get(f"context/{context}/events", after=0, timeout=60))
    await asyncio.sleep(0.05)  # else it may have nothing to wait for, which is right as well
    await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    seen = (await waiting)["events"]
    while seen[-1]["type"] != "job-completed":
        after = seen[-1]["seq"]
        seen += (await api.get(f"context/{context}/events", after=after, timeout=60))["events"]
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))


async def test_a_poll_with_nothing_new_ends_empty(api: Api) -> None:
    context = await api.new_context()
    assert await api.get(f"context/{context}/events", timeout=0.05) == {"events": []}


async def test_a_poll_that_waits_for_nothing_gives_what_is_stored(api: Api) -> None:
    context = await api.new_context()
    await api.post(f"context/{context}/role", {"role": "planner"})
    assert [
        event["seq"] for event in (await api.get(f"context/{context}/events", timeout=0))["events"]
    ] == [1, 2]
    assert await api.get(f"context/{context}/events", after=2, timeout=0) == {"events": []}


async def test_switching_roles_is_logged_and_lasts(api: Api) -> None:
    context = await api.new_context()
    assert (await api.post(f"context/{context}/role", {"role": "planner"}))["role"] == "planner"
    assert (await api.get(f"context/{context}"))["role"] == "planner"
    (message,) = (await api.get(f"context/{context}/messages"))["items"]
    assert message["message_type"] == "role_change"
    assert message["data"] == {"from": "actor", "to": "planner"}


async def test_mode_is_the_older_name_of_a_role(api: Api) -> None:
    context = await api.new_context()
    for mode, role in [("plan", "planner"), ("act", "actor")]:
        assert (await api.post(f"context/{context}/mode", {"mode": mode}))["role"] == role


async def test_switching_while_a_job_runs_needs_to_be_confirmed(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    context = await api.new_context()
    running = await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    change = {"role": "planner"}
    await api.refused(
        "POST", f"context/{context}/role", change, status=409, code="confirmation_required"
    )
    assert (await api.get(f"context/{context}"))["role"] == "actor"
    await api.post(f"context/{context}/role", {**change, "confirm": True})
    assert (await api.get(f"jobs/{running['job_id']}"))["status"] == "cancelled"


async def test_a_plan_can_be_read(api: Api, scripted: ScriptedServer) -> None:
    context = await api.new_context(role="planner")
    nothing = await api.get(f"context/{context}/plan")
    assert nothing == {"plan": None, "revision": 0, "made_at": None, "stale": []}
    scripted.add(plan("Tidy up", "read"))
    accepted = await api.post(f"context/{context}/messages", {"content": "Plan"}, status=202)
    await api.ended(accepted["job_id"])
    found = await api.get(f"context/{context}/plan")
    assert (found["revision"], found["plan"]["goal"]) == (1, "Tidy up")


QUESTION = '{"type": "question", "question": "Which?", "options": [{"label": "A", "value": "a"}]}'


async def test_a_question_is_listed_and_answered(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(text(QUESTION), text("A it is."))
    context = await api.new_context()
    accepted = await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    question = await api.first_question(context)
    address = f"questions/{question['id']}/answer"
    await api.refused("POST", address, {"value": "z"}, status=422, code="not_an_answer")
    await api.post(address, {"value": "a"})
    assert (await api.ended(accepted["job_id"]))["status"] == "completed"
    await api.refused("POST", address, {"value": "a"}, status=409, code="not_waiting")


BAD_BODIES: dict[str, tuple[Any, int]] = {
    "no JSON": (b"{", 400),
    "not an object": (b"[]", 422),
    "unknown field": (b'{"content": "x", "extra": 1}', 422),
    "wrong type": (b'{"content": 5}', 422),
    "empty": (b'{"content": ""}', 422),
    "NUL": (b'{"content": "a\\u0000b"}', 422),
    "half a character": (b'{"content": "\\ud800"}', 422),
    "not UTF-8": (b'{"content": "\xff"}', 400),
    "too deep": (b'{"content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
    "too large": (b'{"content": "' + b"x" * (8 * 2**20) + b'"}', 413),
    "unknown role": (b'{"content": "x", "role": "king"}', 422),
}


async def test_bad_bodies_get_the_contracts_error(api: Api) -> None:
    context = await api.new_context()
    for body, status in BAD_BODIES.values():
        await api.refused("POST", f"context/{context}/messages", body, status=status)


async def test_a_name_is_one_line(api: Api) -> None:
    posing = {"notebook": "a.ipynb\n# Permissions\nall"}
    await api.refused("POST", "context", posing, status=422)


BAD_IDS = ["nope", "..", "%2e%2e%2fetc", "a%00b", "ctx_%ED%A0%80", "x" * 5000, "%2F", "';--"]


async def test_ids_that_are_none_are_not_found(api: Api) -> None:
    for bad in BAD_IDS:
        for address in (f"context/{bad}", f"context/{bad}/messages", f"jobs/{bad}"):
            await api.refused("GET", address, status=404)


async def test_bad_queries_are_refused(api: Api) -> None:
    context = await api.new_context()
    for query in ["after=-1", "after=x", "limit=0", "limit=9999", "other=1"]:
        await api.refused("GET", f"context/{context}/messages?{query}", status=422)


async def test_the_wrong_method_is_told_the_right_one(api: Api) -> None:
    error = await api.refused("DELETE", "health", status=405, code="method_not_allowed")
    assert "GET" in error["message"]


async def test_openapi_is_made_once_for_everybody(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def count(*args: Any, **more: Any) -> Any:
        made.append(args)
        return models_json_schema(*args, **more)

    monkeypatch.setattr(openapi, "models_json_schema", count)
    answers = await asyncio.gather(*(api.fetch("GET", "openapi.json") for _ in range(3)))
    assert len({answer.body for answer in answers}) == 1
    assert len(made) <= 1


async def test_openapi_describes_every_route(api: Api) -> None:
    document = await api.get("openapi.json")
    assert "/context/{id}/messages" in document["paths"]
    send = document["paths"]["/context/{id}/messages"]["post"]
    schema = send["requestBody"]["content"]["application/json"]["schema"]
    assert schema["$ref"].endswith("NewMessage")
    assert "202" in send["responses"]
    references = json.dumps(document).count('"$ref"')
    assert references
    for name in _references(document):
        assert name in document["components"]["schemas"]


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"].rsplit("/", 1)[1]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(_references(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(_references(item) for item in value))
    return set()
