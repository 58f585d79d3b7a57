"""The main road through the whole service, which needs no part: plan, approve, act, roll back."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.roles import AgentRole
from tests.scripted import ScriptedServer, call, plan, text

from ..agents.conftest import Bench
from ..agents.conftest import bench as bench
from ..agents.conftest import settings as settings


@pytest.mark.asyncio
async def test_a_plan_is_made_approved_carried_out_and_taken_back(
    bench: Bench, scripted: ScriptedServer
) -> None:
    step = {"action": "Write b.py", "tools_needed": ["create_file"], "files_touched": ["b.py"]}
    scripted.add(plan("Write a file", step))
    assert (await bench.tell("Write b.py", AgentRole.PLANNER)).status is JobStatus.COMPLETED
    made = bench.workspace / "b.py"
    assert not made.exists()

    scripted.add(call("create_file", path="b.py", content="x = 1\n"), text("Wrote it."))
    job = await bench.service.execute_plan(bench.context.id, 1)
    assert (await bench.service.jobs.wait(job.id)).status is JobStatus.COMPLETED
    assert made.read_text() == "x = 1\n"

    checkpoints = await bench.service.checkpoints.listing(bench.context.id)
    result = await bench.service.checkpoints.undo.rollback(checkpoints[-1].id)
    assert result.skipped == []
    assert not made.exists()
