"""A conversation has one current role: who gets its next message. Only a person sets it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.scripted import ScriptedServer, stall, text

from .api import PATIENCE, Api
from .test_callers import AsKernel
from .test_callers import as_kernel as as_kernel
from .test_callers import kernels as kernels
from .test_plans import planned

pytestmark = pytest.mark.usefixtures("connected")


async def role_of(api: Api, context: str) -> str:
    """Everything that says it says the same."""
    said = (await api.get(f"context/{context}"))["role"]
    assert (await api.get(f"context/{context}/role"))["role"] == said
    listed = (await api.get("context"))["items"]
    assert [one["role"] for one in listed if one["id"] == context] == [said]
    return str(said)


async def send(api: Api, context: str, **body: Any) -> dict[str, Any]:
    """The job of a message, once it is over."""
    message = {"content": "Go", **body}
    sent = await api.post(f"context/{context}/messages", message, status=202)
    return await api.ended(sent["job_id"])


async def role_events(api: Api, context: str) -> list[tuple[str, str]]:
    events = (await api.get(f"context/{context}/events", after=0))["events"]
    changed = [one["data"] for one in events if one["type"] == "role-changed"]
    return [(one["from"], one["to"]) for one in changed]


# Who sets it


async def test_a_persons_message_with_a_role_makes_it_current_while_it_still_runs(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    context = await api.new_context(role="planner")
    body = {"content": "Go", "role": "actor"}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    assert (await api.get(f"jobs/{sent['job_id']}"))["role"] == "actor"
    assert await role_of(api, context) == "actor"
    assert await role_events(api, context) == [("planner", "actor")]
    await api.post(f"jobs/{sent['job_id']}/cancel")


async def test_a_message_without_a_role_goes_to_the_current_one(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text("Read."), text("Read again."), text("Tested."))
    context = await api.new_context(role="planner")
    assert (await send(api, context, role="reviewer"))["role"] == "reviewer"
    assert (await send(api, context))["role"] == "reviewer"
    await api.post(f"context/{context}/role", {"role": "tester"})
    assert (await send(api, context))["role"] == "tester"
    assert await role_of(api, context) == "tester"


async def test_a_command_that_names_a_role_makes_it_current(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text("Read."))
    context = await api.new_context()
    await send(api, context, content="/reviewer Look")
    assert await role_of(api, context) == "reviewer"


async def test_a_message_that_is_refused_changes_nothing(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    context = await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": "Go"}, status=202)
    body = {"content": "Go", "role": "reviewer"}
    await api.refused("POST", f"context/{context}/messages", body, status=409, code="job_running")
    assert await role_of(api, context) == "actor"
    await api.post(f"jobs/{sent['job_id']}/cancel")


# What code may: each conversation but one is another kernel's


async def test_code_asks_a_role_with_less_and_the_current_one_stays(
    api: Api, as_kernel: AsKernel, scripted: ScriptedServer
) -> None:
    scripted.add(text("Read."), text("Done."))
    kernel = await as_kernel()
    context = await (await as_kernel()).new_context(role="actor")
    assert (await send(kernel, context, role="reviewer"))["role"] == "reviewer"
    assert await role_of(api, context) == "actor"
    assert (await send(kernel, context))["role"] == "actor"


async def test_code_raises_the_role_for_one_message_where_it_is_at_home(
    api: Api, as_kernel: AsKernel, scripted: ScriptedServer
) -> None:
    """As in a script that nobody watches, in a conversation of its own; not of another kernel's."""
    scripted.add(text("Done."))
    kernel, other = await as_kernel(), await as_kernel()
    context = await kernel.new_context(role="planner")
    assert (await send(kernel, context, role="actor"))["role"] == "actor"
    assert await role_of(api, context) == "planner"
    await kernel.refused("POST", f"context/{context}/role", {"role": "actor"}, status=403)
    body = {"content": "Go", "role": "actor"}
    await other.refused("POST", f"context/{context}/messages", body, status=403, code="role_raise")


@pytest.mark.parametrize("way", ["route", "command"])
async def test_code_runs_no_workflow_that_may_do_more_than_the_role(
    api: Api, as_kernel: AsKernel, way: str
) -> None:
    kernel = await as_kernel()
    context = await (await as_kernel()).new_context(role="planner")
    parameters = {"path": "a.csv"}
    address, body = (
        ("workflows/profile_dataset/run", {"parameters": parameters, "context_id": context})
        if way == "route"
        else (f"context/{context}/messages", {"content": "/profile_dataset path=a.csv"})
    )
    await kernel.refused("POST", address, body, status=403, code="role_raise")
    assert (await api.get(f"context/{context}/jobs"))["items"] == []


# Resuming


async def asked(scripted: ScriptedServer, times: int) -> None:
    """Until the model was: who is stopped before that leaves its answer to the next."""
    async with asyncio.timeout(PATIENCE):
        while len(scripted.requests) < times:
            await asyncio.sleep(0.01)


async def stopped(api: Api, scripted: ScriptedServer) -> tuple[str, str]:
    """A conversation, and its actor's job that a person stopped by switching to the reviewer."""
    scripted.add(stall())
    context = await api.new_context(role="actor")
    sent = await api.post(f"context/{context}/messages", {"content": "Go"}, status=202)
    await asked(scripted, 1)
    change = {"role": "reviewer", "confirm": True}
    await api.post(f"context/{context}/role", change)
    assert (await api.ended(sent["job_id"]))["status"] == "cancelled"
    return context, sent["job_id"]


async def test_a_job_does_not_go_on_in_a_role_that_was_switched_since(
    api: Api, scripted: ScriptedServer
) -> None:
    context, job = await stopped(api, scripted)
    error = await api.refused("POST", f"jobs/{job}/resume", {}, status=409, code="role_changed")
    assert error["details"] == {"job_role": "actor", "current_role": "reviewer"}
    assert (await api.get(f"jobs/{job}"))["status"] == "cancelled"
    await api.refused("POST", f"jobs/{job}/resume", {"role": "tester"}, status=422)
    assert await role_of(api, context) == "reviewer"


@pytest.mark.parametrize("role", ["reviewer", "actor"])
async def test_it_goes_on_in_the_role_that_the_request_names(
    api: Api, scripted: ScriptedServer, role: str
) -> None:
    context, job = await stopped(api, scripted)
    scripted.add(text("Done."))
    resumed = await api.post(f"jobs/{job}/resume", {"role": role}, status=202)
    assert resumed["role"] == role
    assert (await api.ended(job))["role"] == role
    assert f"{role.upper()} role" in str(scripted.requests[-1].body["messages"][0]["content"])
    assert await role_of(api, context) == role


async def test_in_an_unchanged_role_nothing_is_asked(api: Api, scripted: ScriptedServer) -> None:
    context, job = await stopped(api, scripted)
    await api.post(f"context/{context}/role", {"role": "actor"})
    scripted.add(text("Done."))
    await api.post(f"jobs/{job}/resume", {}, status=202)
    assert (await api.ended(job))["status"] == "completed"


async def test_a_plan_that_goes_on_as_the_reviewer_does_no_step_with_more_rights(
    api: Api, scripted: ScriptedServer
) -> None:
    tests = {"action": "test", "role": "tester", "tools_needed": ["execute_command"]}
    context = await planned(api, scripted, "look", tests)
    scripted.add(stall())
    execution = {"revision": 1}
    job = (await api.post(f"context/{context}/plan/execute", execution, status=202))["job_id"]
    await asked(scripted, 2)
    await api.post(f"context/{context}/role", {"role": "reviewer", "confirm": True})
    step = (await api.get(f"jobs/{job}"))["tasks"][0]["id"]
    for address in (f"jobs/{job}/resume", f"jobs/{job}/tasks/{step}/skip"):
        await api.refused("POST", address, {}, status=409, code="role_changed")
    scripted.add(text("Looked."))
    await api.post(f"jobs/{job}/resume", {"role": "reviewer"}, status=202)
    question = await api.first_question(context)
    assert "It is for the tester, which may do more than the reviewer" in question["context"]
    assert "REVIEWER role" in str(scripted.requests[-1].body["messages"][0]["content"])
    roles = [task["role"] for task in (await api.get(f"jobs/{job}"))["tasks"]]
    assert roles == ["reviewer", "tester"]
    await api.post(f"jobs/{job}/cancel")
