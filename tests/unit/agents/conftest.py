"""A whole service on a scripted model and a workspace of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import Context, Job, JobStatus, RequestOrigin
from cowork_jupyter.domain.events import Event, EventType
from cowork_jupyter.domain.messages import Message, MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.client import Model
from cowork_jupyter.llm.failures import RetryPolicy
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from tests.scripted import ScriptedServer

from .agreeable import Agreeable

QUICK = RetryPolicy(backoff=1 / 128, patience=7 / 128, random=lambda: 1.0)
"""Four attempts."""


class Bench:
    """A service, a context in it, and the questions that tests ask of them."""

    def __init__(self, service: CoworkService, context: Context, workspace: Path) -> None:
        self.service = service
        self.context = context
        self.workspace = workspace

    def connect(self, base_url: str = "", retries: RetryPolicy | None = None) -> None:
        """Let agents ask another server than the configured one, or with another patience."""
        settings = self.service.settings
        self.service.factory.llm.model = Model(
            base_url=base_url or settings.base_url,
            model=settings.model,
            api_key=settings.api_key,
            retries=retries,
            options=settings.request_options,
        )

    async def tell(
        self, text: str, role: AgentRole = AgentRole.ACTOR, card_id: str | None = None
    ) -> Job:
        """Send a message and wait until its job has ended."""
        return await self.service.jobs.wait(self.start(text, role, card_id))

    def start(
        self, text: str, role: AgentRole = AgentRole.ACTOR, card_id: str | None = None
    ) -> str:
        """Send a message, on another job's card if named; gives the job's id."""
        origin = RequestOrigin(card_id=card_id)
        job_id = self.service.send_message(self.context.id, text, role, origin=origin).job_id
        assert job_id
        return job_id

    async def until(self, kind: EventType) -> Event:
        """The first event of this kind."""
        async with asyncio.timeout(60):
            async for event in self.service.journal.bus.subscribe(self.context.id):
                if event.type is kind:
                    return event
        raise AssertionError("the bus was closed")

    def events(self, *kinds: EventType) -> list[Event]:
        found = self.service.journal.store.events(self.context.id)
        return [event for event in found if event.type in kinds or not kinds]

    def messages(self, kind: MessageType | None = None) -> list[Message]:
        found = self.service.journal.store.messages(self.context.id).items
        return [message for message in found if kind in (None, message.message_type)]

    def shown(self) -> str:
        """All text that was streamed."""
        events = self.events(EventType.TEXT_DELTA)
        return "".join(event.data.model_dump()["text"] for event in events)

    def results(self) -> list[dict[str, Any]]:
        return [message.data.model_dump() for message in self.messages(MessageType.TOOL_RESULT)]

    async def answer(self, value: str) -> None:
        """Answer the next question that comes up."""
        asked = await self.until(EventType.QUESTION_ASKED)
        self.service.requests.answer(asked.data.model_dump()["id"], value)

    def job_statuses(self) -> list[JobStatus]:
        return [job.status for job in self.service.journal.store.jobs(self.context.id)]


@pytest.fixture
def settings(tmp_path: Path, scripted: ScriptedServer) -> Settings:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.py").write_text("answer = 42\n")
    return Settings(
        workspace=workspace,
        data_dir=tmp_path / "data",
        base_url=scripted.base_url,
        model="scripted",
    )


@pytest_asyncio.fixture
async def bench(settings: Settings) -> AsyncIterator[Bench]:
    async for made in make_bench(settings):
        yield made


async def make_bench(settings: Settings, **changes: Any) -> AsyncIterator[Bench]:
    service = build_service(replace(settings, **changes))
    service.factory.tools.gate.approver = Agreeable()
    bench = Bench(service, service.conversations.create(), settings.workspace)
    bench.connect(retries=QUICK)
    yield bench
    await service.close()
