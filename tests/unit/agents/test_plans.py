"""Assumptions of a plan while it is carried out."""

from __future__ import annotations

import pytest

from cowork_jupyter.agents.plan.assumptions import Settlement
from cowork_jupyter.domain.contexts import StepStatus
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.store import PlanRevision

from ...scripted import ScriptedServer, stall
from .conftest import Bench
from .helpers import eventually
from .test_coordinator import execute, statuses

pytestmark = pytest.mark.asyncio


async def test_what_is_confirmed_during_a_run_outlasts_it(
    bench: Bench, scripted: ScriptedServer
) -> None:
    """The execution stores the plan again with each change of a step, from its own copy."""
    raw = {"goal": "g", "steps": [{"id": "a", "action": "do a"}], "assumptions": ["In euros"]}
    made = PlanRevision(context_id=bench.context.id, plan=Plan.model_validate(raw))
    with bench.service.journal.transaction() as tx:
        tx.save_plan(made)
    scripted.add(stall(after=0))
    job_id = await execute(bench)
    await eventually(lambda: bool(scripted.requests))
    said = Settlement(index=0, status="confirmed", plan_id=made.plan_id)
    (settled,), started = bench.service.settle_assumption(bench.context.id, said)
    assert (settled.status, started) == ("confirmed", None)
    await bench.service.jobs.cancel(job_id)
    kept = bench.service.plans.find(bench.context.id)
    assert kept
    assert kept.plan.assumptions == [settled]
    assert kept.revision == 1
    assert statuses(bench) == {"a": StepStatus.CANCELLED}
