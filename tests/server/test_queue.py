"""What the user says while a job runs, over HTTP."""

from __future__ import annotations

import asyncio

import pytest

from tests.scripted import ScriptedServer, stall

from .api import PATIENCE, Api

pytestmark = pytest.mark.usefixtures("connected")


async def asked(scripted: ScriptedServer) -> None:
    """Until the model was asked: what is said before that goes with the question."""
    async with asyncio.timeout(PATIENCE):
        while not scripted.requests:
            await asyncio.sleep(0.01)


async def test_what_is_said_while_a_job_runs_is_queued_and_taken_back(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(stall(after=0))
    context = await api.new_context()
    queue = f"context/{context}/queue"
    words = {"content": "Only owls"}
    await api.refused("POST", queue, words, status=409, code="not_running")
    sent = await api.post(f"context/{context}/messages", {"content": "Count birds"}, status=202)
    await asked(scripted)
    queued = await api.post(queue, words, status=201)
    assert queued["content"] == "Only owls"
    assert (await api.get(queue))["items"] == [queued]
    await api.delete(f"{queue}/{queued['id']}")
    assert (await api.get(queue))["items"] == []
    await api.refused("DELETE", f"{queue}/{queued['id']}", status=404, code="not_found")
    await api.post(f"jobs/{sent['job_id']}/cancel")
