"""Random plans with random failures, cancels and crashes keep every promise of the coordinator."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.agents.agent import AgentFactory
from cowork_jupyter.agents.run.outcome import Outcome
from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.errors import Conflict
from cowork_jupyter.domain.events import Event, EventType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.store import PlanRevision
from tests.quick import each

pytestmark = [pytest.mark.asyncio, pytest.mark.process]

RUNS = 60
CHOICES = ["retry", "skip", "stop"]


async def throw_dice(chance: random.Random, *_args: Any, **_kwargs: Any) -> Outcome:
    """Agents that take a moment and fail now and then."""
    await asyncio.sleep(chance.random() * 0.004)
    if chance.random() < 0.2:
        return Outcome(JobStatus.FAILED, "bad luck")
    return Outcome(text="Done.")


def random_plan(chance: random.Random) -> Plan:
    count = chance.randint(1, 9)
    steps = [
        {
            "id": str(number),
            "action": f"do {number}",
            "depends_on": [str(other) for other in range(number) if chance.random() < 0.3],
            "files": [chance.choice("ab")] if chance.random() < 0.3 else [],
        }
        for number in range(count)
    ]
    return Plan.model_validate({"goal": "g", "steps": steps})


async def answer_questions(service: CoworkService, context_id: str, chance: random.Random) -> None:
    async for event in service.journal.bus.subscribe(context_id):
        if event.type is EventType.QUESTION_ASKED:
            # A job that is stopped meanwhile takes its question back; the next one is answered.
            with suppress(Conflict):
                service.requests.answer(event.data.model_dump()["id"], chance.choice(CHOICES))


def check_log(plan: Plan, events: list[Event]) -> None:
    """A task starts only after its dependencies are done, and never twice at once."""
    done: set[str] = set()
    running: set[str] = set()
    for event in events:
        step = str(event.data.model_dump().get("step_id"))
        if event.type is EventType.TASK_STARTED:
            assert set(plan.step(step).depends_on) <= done
            # A step that waits for the user and is tried again has not ended in between.
            running.add(step)
        elif event.type is EventType.TASK_COMPLETED:
            running.discard(step)
            if event.data.model_dump()["status"] in ("completed", "skipped"):
                assert step not in done, "it was carried out twice"
                done.add(step)
        elif event.type is EventType.JOB_COMPLETED:
            assert not running


@pytest.mark.parametrize("seed", each(5, range(RUNS)))
async def test_whatever_happens_every_promise_is_kept(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    plan = random_plan(chance)
    settings = Settings(workspace=tmp_path, data_dir=tmp_path / "data", model="dice")
    service = build_service(settings)
    monkeypatch.setattr(AgentFactory, "run", partial(throw_dice, chance))
    context_id = service.conversations.create().id
    with service.journal.transaction() as tx:
        tx.save_plan(PlanRevision(context_id=context_id, revision=1, plan=plan))
    user = asyncio.create_task(answer_questions(service, context_id, chance))
    job = await service.execute_plan(context_id, 1, chance.randint(1, 4))
    if chance.random() < 0.3:
        await asyncio.sleep(chance.random() * 0.01)
        await service.jobs.cancel(job.id)
    ended = await service.jobs.wait(job.id)
    if ended.status is not JobStatus.COMPLETED and chance.random() < 0.5:
        service.plans.resume(job.id)
        ended = await service.jobs.wait(job.id)
    user.cancel()
    await asyncio.wait([user])

    assert ended.status.is_final
    events = service.journal.store.events(context_id)
    check_log(plan, events)
    assert events[-1].type is EventType.JOB_COMPLETED
    revision = service.plans.find(context_id)
    assert revision
    by_step = {task.step_id: task.status for task in ended.tasks}
    for step in revision.plan.steps:
        assert by_step[step.id] == step.status
        assert step.status not in (StepStatus.RUNNING, StepStatus.WAITING)
    if ended.status is JobStatus.COMPLETED:
        finished = {StepStatus.COMPLETED, StepStatus.SKIPPED}
        assert {step.status for step in revision.plan.steps} <= finished
    await service.close()
