"""What agents assume, confirmed and corrected over HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.scripted import ScriptedServer, stall, text
from tests.scripted.server import last_words

from .api import PATIENCE, Api

pytestmark = pytest.mark.usefixtures("connected")

ASSUMED = ["`ordered_at` is the date", "Refunds are left out"]
PLAN = {"type": "plan", "goal": "Count orders", "steps": [{"action": "count"}]}


async def told(api: Api, context: str, words: str) -> None:
    accepted = await api.post(f"context/{context}/messages", {"content": words}, status=202)
    await api.ended(accepted["job_id"])


async def planned(api: Api, scripted: ScriptedServer) -> str:
    """A context with a plan that assumes two things."""
    scripted.add(text(json.dumps({**PLAN, "assumptions": ASSUMED})))
    context = await api.new_context(role="planner")
    await told(api, context, "Plan")
    return context


async def assumptions(api: Api, context: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.get(f"context/{context}/plan"))["plan"]["assumptions"]
    return found


async def test_an_assumption_of_a_plan_is_confirmed_beside_its_revision(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted)
    assert [one["status"] for one in await assumptions(api, context)] == ["open", "open"]
    plan = await api.get(f"context/{context}/plan")
    said = {"plan_id": plan["plan"]["id"], "index": 0, "status": "confirmed"}
    answer = await api.post(f"context/{context}/assumptions", said)
    assert answer["items"] == await assumptions(api, context)
    assert [one["status"] for one in answer["items"]] == ["confirmed", "open"]
    assert answer["job_id"] is None
    assert (await api.get(f"context/{context}/plan"))["revision"] == plan["revision"]
    events = (await api.get(f"context/{context}/events", timeout=0))["events"]
    assert events[-1]["type"] == "plan-update"
    assert events[-1]["data"]["assumptions"] == answer["items"]


async def test_a_correction_goes_to_the_planner_who_revises_the_plan(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted)
    await api.post(f"context/{context}/assumptions", {"index": 0, "status": "confirmed"})
    again = [ASSUMED[0], "Refunds are counted"]
    scripted.add(text(json.dumps({**PLAN, "assumptions": again})))
    said = {"index": 1, "status": "corrected", "correction": "Refunds count"}
    answer = await api.post(f"context/{context}/assumptions", said)
    assert answer["items"][1] == {
        "text": ASSUMED[1],
        "status": "corrected",
        "correction": "Refunds count",
    }
    job = await api.ended(answer["job_id"])
    assert (job["role"], job["status"]) == ("planner", "completed")
    words = last_words(scripted.requests[-1].body, "user")
    assert ASSUMED[1] in words
    assert "Refunds count" in words
    plan = await api.get(f"context/{context}/plan")
    assert plan["revision"] == 2
    assert [one["status"] for one in plan["plan"]["assumptions"]] == ["confirmed", "open"]


async def test_an_assumption_of_an_answer_is_kept_with_its_message(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text(f"Done.\n\n## Assumptions\n- {ASSUMED[0]}\n- {ASSUMED[1]}"))
    context = await api.new_context()
    await told(api, context, "Count")
    address = f"context/{context}/messages"
    message = (await api.get(address))["items"][-1]
    assert [one["text"] for one in message["data"]["assumptions"]] == ASSUMED
    said = {"message_id": message["id"], "index": 1, "status": "confirmed"}
    answer = await api.post(f"context/{context}/assumptions", said)
    (_asked, kept) = (await api.get(address))["items"]
    assert kept["data"]["assumptions"] == answer["items"]
    assert {**kept, "data": None} == {**message, "data": None}
    events = (await api.get(f"context/{context}/events", timeout=0))["events"]
    assert (events[-1]["type"], events[-1]["data"]) == ("message", kept)
    audit = await api.get(f"context/{context}/audit")
    assert [one["status"] for one in audit["assumptions"]] == ["open", "confirmed"]


async def test_while_a_job_runs_a_correction_waits_for_its_next_turn(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await planned(api, scripted)
    scripted.add(stall(after=0))
    address = f"context/{context}"
    sent = await api.post(f"{address}/messages", {"content": "Go on"}, status=202)
    async with asyncio.timeout(PATIENCE):
        while len(scripted.requests) < 2:
            await asyncio.sleep(0.01)
    said = {"index": 0, "status": "corrected", "correction": "It is paid_at"}
    assert (await api.post(f"{address}/assumptions", said))["job_id"] is None
    (queued,) = (await api.get(f"{address}/queue"))["items"]
    assert "It is paid_at" in queued["content"]
    await api.post(f"{address}/assumptions", said)
    assert len((await api.get(f"{address}/queue"))["items"]) == 1, "it is said once"
    await api.delete(f"{address}/queue/{queued['id']}")
    await api.post(f"jobs/{sent['job_id']}/cancel")


async def test_what_makes_no_sense_is_refused(api: Api, scripted: ScriptedServer) -> None:
    context = await planned(api, scripted)
    address = f"context/{context}/assumptions"
    confirmed = {"index": 0, "status": "confirmed"}
    await api.refused("POST", address, {**confirmed, "index": 2}, status=404, code="no_assumption")
    asked = (await api.get(f"context/{context}/messages"))["items"][0]["id"]
    of_user = {**confirmed, "message_id": asked}
    await api.refused("POST", address, of_user, status=404, code="no_assumption")
    nowhere = {**confirmed, "message_id": "nope"}
    await api.refused("POST", address, nowhere, status=404, code="not_found")
    empty = {"index": 0, "status": "corrected", "correction": " "}
    await api.refused("POST", address, empty, status=422, code="no_correction")
    await api.refused("POST", address, {**confirmed, "status": "open"}, status=422)


async def test_the_description_says_that_alternatives_may_be_left_out(api: Api) -> None:
    schemas = (await api.get("openapi.json"))["components"]["schemas"]
    assert "text" in schemas["Assumption"]["required"]
    assert "alternatives" not in schemas["Assumption"]["required"]
