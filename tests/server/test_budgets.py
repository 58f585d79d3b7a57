"""A job's limit over HTTP: it asks, it ends, it is raised, and the job goes on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scripted import Scripted, ScriptedServer, text

from .api import Api, JobRecord
from .test_plans import planned

pytestmark = pytest.mark.usefixtures("connected")

SPENT = {"prompt_tokens": 400, "completion_tokens": 100, "total_tokens": 500}


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    prices = {"scripted": {"input": 1, "output": 2.5}}
    limits = {"max_job_tokens": 500, "prices": prices, "currency": "EUR"}
    return {**jp_server_config, "Cowork": limits}


async def stopped(api: Api, scripted: ScriptedServer) -> JobRecord:
    """A job that was stopped at its limit, after the first of two steps."""
    context = await planned(api, scripted, "look", "write")
    scripted.add(*(Scripted(text=said, usage=SPENT) for said in ("Looked.", "Wrote.")))
    started = await api.post(f"context/{context}/plan/execute", {"revision": 1}, status=202)
    question = await api.first_question(context)
    assert question["question"].startswith("The job's limit of 500 tokens (max_job_tokens)")
    await api.post(f"questions/{question['id']}/answer", {"value": "stop"})
    return await api.ended(started["job_id"])


async def test_a_job_that_was_stopped_at_its_limit_goes_on_with_a_higher_one(
    api: Api, scripted: ScriptedServer
) -> None:
    job = await stopped(api, scripted)
    assert (job["status"], job["usage"]["turns"]) == ("cancelled", 1)
    assert "max_job_tokens" in job["error"]
    body = {"limits": {"max_job_tokens": 2000, "max_iterations": 40, "max_cost": 1}}
    await api.post(f"jobs/{job['id']}/resume", body, status=202)
    job = await api.ended(job["id"])
    assert job["status"] == "completed"
    assert job["usage"]["limits"] == body["limits"]
    spent = {name: job["usage"][name] for name in ("total_tokens", "turns", "cost", "currency")}
    assert spent == {"total_tokens": 1000, "turns": 2, "cost": 0.0013, "currency": "EUR"}


async def test_resume_needs_no_body(api: Api, scripted: ScriptedServer) -> None:
    job = await stopped(api, scripted)
    answer = await api.fetch("POST", f"jobs/{job['id']}/resume", b"")
    assert answer.code == 202


async def test_limits_that_make_no_sense_are_refused(api: Api) -> None:
    for limits in [
        {"max_job_token": 1},
        {"max_iterations": 0},
        {"max_cost": -1},
        {"max_job_tokens": "all"},
        [],
    ]:
        await api.refused("POST", "jobs/any/resume", {"limits": limits}, status=422)


async def test_a_message_has_the_same_account(api: Api, scripted: ScriptedServer) -> None:
    context = await api.new_context()
    scripted.add(text("Hello."))
    accepted = await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    job = await api.ended(accepted["job_id"])
    assert job["usage"]["turns"] == 1
    assert job["usage"]["estimated"] is True
