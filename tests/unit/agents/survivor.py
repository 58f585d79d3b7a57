"""The process that is killed: a service at work, and somebody who watches it."""

from __future__ import annotations

import asyncio
from multiprocessing.connection import Connection
from pathlib import Path

# Loaded here although needed later, so that processes forked from this one start quickly.
import openai  # noqa: F401

import cowork_jupyter.agents.agent
import cowork_jupyter.agents.jobs
import cowork_jupyter.store.journal
import cowork_jupyter.tools.registry  # noqa: F401
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service

from .agreeable import Agreeable

QUESTION = "Are you there?"
TASK = "Work, until you are killed."


def settings_of(folder: Path, base_url: str) -> Settings:
    return Settings(
        workspace=folder / "workspace",
        data_dir=folder / "data",
        base_url=base_url,
        model="scripted",
    )


def work(settings: Settings, context_id: str, told: Connection) -> None:
    """Go on where the last one was killed, then work and be killed."""
    service = build_service(settings)
    service.factory.tools.gate.approver = Agreeable()
    asyncio.run(_work(service, context_id, told))


def ask(settings: Settings, context_id: str, told: Connection, plan_revision: int = 0) -> None:
    """Work until the user is asked, tell which job asks, and wait to be killed."""
    asyncio.run(_ask(build_service(settings), context_id, told, plan_revision))


async def _ask(
    service: CoworkService, context_id: str, told: Connection, plan_revision: int
) -> None:
    if plan_revision:
        job_id = (await service.execute_plan(context_id, plan_revision)).id
    else:
        job_id = service.send_message(context_id, TASK).job_id or ""
    async for event in service.journal.bus.subscribe(context_id):
        if event.type is EventType.QUESTION_ASKED:
            told.send(job_id)


async def _work(service: CoworkService, context_id: str, told: Connection) -> None:
    """First tell how a short job ended, then of each event once a subscriber has seen it."""
    short = service.send_message(context_id, QUESTION)
    told.send((await service.jobs.wait(short.job_id or "")).status.value)
    last = service.journal.store.last_seq(context_id)
    service.send_message(context_id, TASK)
    async for event in service.journal.bus.subscribe(context_id, last):
        told.send((event.seq, event.type.value, getattr(event.data, "text", "")))
        if event.type is EventType.JOB_COMPLETED:
            break
    await service.close()
