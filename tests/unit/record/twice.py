"""A request that the guide carries out, once or again: what it asks, and its turns."""

from __future__ import annotations

import asyncio
from pathlib import Path

from cowork_jupyter.domain.contexts import Job
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from tests.unit.agents.agreeable import Agreeable

WISH = "Remove duplicate rows; remove rows with missing item"
CLEANED = "remove duplicate rows; remove rows with missing `item`"
ORDERS = "day,item,amount\n" + "".join(
    f"{n % 28 + 1:02d}.03.2026,{'' if n % 9 == 4 else 'Zwiebel'},{n}\n" for n in range(40)
)
ANSWERS = {"Which table do you mean?": "shop/orders.csv"}


def settings_in(folder: Path, **more: str) -> Settings:
    workspace = folder / "workspace"
    (workspace / "shop").mkdir(parents=True, exist_ok=True)
    (workspace / "old").mkdir(exist_ok=True)
    for name in ("shop", "old"):
        (workspace / name / "orders.csv").write_text(ORDERS)
    return Settings(workspace=workspace, data_dir=folder / "data", **more)  # type: ignore[arg-type]


def guide_in(settings: Settings) -> CoworkService:
    service = build_service(settings)
    service.factory.tools.gate.approver = Agreeable()
    return service


async def carry_out(service: CoworkService, wish: str = WISH) -> tuple[Job, list[str], str]:
    """Plan, answer what is asked, execute; gives the job, the questions and the conversation."""
    context = service.conversations.create()
    job_id = service.send_message(context.id, wish, AgentRole.PLANNER).job_id
    assert job_id
    asked = await answered(service, context.id, job_id)
    revision = service.plans.find(context.id)
    assert revision, service.jobs.get(job_id).error
    job = await service.execute_plan(context.id, revision.revision)
    asked += await answered(service, context.id, job.id)
    return service.jobs.get(job.id), asked, context.id


async def answered(service: CoworkService, context_id: str, job_id: str) -> list[str]:
    ended = asyncio.ensure_future(service.jobs.wait(job_id))
    asked: list[str] = []
    async with asyncio.timeout(120):
        while not ended.done():
            for question in service.requests.pending(context_id, "question"):
                asked.append(question.data["question"])
                service.requests.answer(question.id, ANSWERS[asked[-1]])
            await asyncio.wait([ended], timeout=0.02)
    return asked


def turns(service: CoworkService, context_id: str) -> int:
    """How often whoever answers was asked."""
    return sum(job.usage.turns for job in service.jobs.of(context_id))
