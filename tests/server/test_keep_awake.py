"""A job that works counts as activity; one that waits for its user does not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cowork_jupyter.hosts.server import housekeeping
from tests.scripted import ScriptedServer, call, text

from .api import PATIENCE, Api

pytestmark = pytest.mark.usefixtures("connected")


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "CHECK_SECONDS", 0.01)


async def test_a_working_job_counts_as_activity(
    api: Api, jp_serverapp: Any, scripted: ScriptedServer
) -> None:
    times = jp_serverapp.web_app.settings["last_activity_times"]
    scripted.add(text("One two three", stall_after=2))
    context = await api.new_context()
    accepted = await api.post(f"context/{context}/messages", {"content": "Go"}, status=202)
    async with asyncio.timeout(PATIENCE):
        while housekeeping.ACTIVITY_NAME not in times:
            await asyncio.sleep(0.01)
        first = times[housekeeping.ACTIVITY_NAME]
        while times[housekeeping.ACTIVITY_NAME] == first:
            await asyncio.sleep(0.01)
    assert jp_serverapp.web_app.last_activity() >= first
    await api.post(f"jobs/{accepted['job_id']}/cancel")


async def test_a_job_that_waits_for_its_user_is_idle(
    api: Api, jp_serverapp: Any, scripted: ScriptedServer
) -> None:
    scripted.add(call("create_file", path="a.txt", content="a"))
    context = await api.new_context(role="actor")
    await api.post(f"context/{context}/messages", {"content": "Go"}, status=202)
    await api.first_request(context)
    service = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"].pop().service
    assert service.jobs.working() == []
