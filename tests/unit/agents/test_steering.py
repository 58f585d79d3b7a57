"""What the user says while the agent works is read before its next turn, or begins the next job."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
import pytest_asyncio

from cowork_jupyter.agents.run.steering import queue_message, take_back
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.errors import Conflict, NotFound
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.tools.base import ToolContext, ToolParameters, ToolResult, tool
from tests.scripted import ScriptedServer, call, text

from .conftest import Bench
from .helpers import add_tools, ended, eventually

pytestmark = pytest.mark.asyncio


@dataclass
class Work:
    """An agent that is in the middle of a call, until it is let go."""

    bench: Bench
    job_id: str = ""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, words: str) -> str:
        return queue_message(self.bench.service.journal, self.bench.context.id, words).id

    def queued(self) -> list[str]:
        queue = self.bench.service.queued_messages(self.bench.context.id)
        return [one.content for one in queue]

    def said(self) -> list[tuple[str | None, str]]:
        return [(one.job_id, one.text) for one in self.bench.messages() if one.role == "user"]


@pytest_asyncio.fixture
async def work(bench: Bench) -> AsyncIterator[Work]:
    made = Work(bench)

    @tool(category="files", permissions=[])
    async def linger(_parameters: ToolParameters, _context: ToolContext) -> ToolResult:
        """Take some time."""
        made.begun.set()
        await made.goes_on.wait()
        return ToolResult("Done.", "Done.")

    add_tools(bench, linger)
    made.job_id = bench.start("Count the birds")
    await asyncio.wait_for(made.begun.wait(), 60)
    yield made
    made.goes_on.set()


@pytest.fixture(autouse=True)
def _replies(scripted: ScriptedServer) -> None:
    scripted.add(call("linger"), text("Three."), text("And two owls."))


async def test_the_model_reads_it_in_its_next_turn(work: Work, scripted: ScriptedServer) -> None:
    work.say("Only owls")
    work.say("In the wood")
    assert work.queued() == ["Only owls", "In the wood"]
    work.goes_on.set()
    assert (await ended(work.bench, work.job_id)).status is JobStatus.COMPLETED
    sent = [str(one["content"]) for one in scripted.requests[1].body["messages"]]
    assert "Only owls" in "\n".join(sent[-2:])
    assert "In the wood" in sent[-1]
    words = ["Count the birds", "Only owls", "In the wood"]
    assert work.said() == [(work.job_id, one) for one in words]
    assert work.queued() == []
    waiting = [
        one.data.model_dump()["waiting"] for one in work.bench.events(EventType.QUEUE_CHANGED)
    ]
    assert waiting == [1, 2, 0]


async def test_it_can_be_taken_back_until_it_was_read(work: Work, scripted: ScriptedServer) -> None:
    service, context = work.bench.service, work.bench.context
    taken, read = work.say("Only owls"), work.say("In the wood")
    take_back(service.journal, context.id, taken)
    work.goes_on.set()
    await ended(work.bench, work.job_id)
    assert "Only owls" not in str(scripted.requests[1].body["messages"])
    with pytest.raises(NotFound):
        take_back(service.journal, context.id, read)
    with pytest.raises(Conflict, match="Send it as a message"):
        work.say("Nobody is there")


async def test_what_no_turn_has_read_begins_one_job_at_once(work: Work) -> None:
    work.say("Only owls")
    work.say("In the wood")
    await work.bench.service.jobs.cancel(work.job_id)
    await eventually(lambda: work.bench.job_statuses()[1:] == [JobStatus.COMPLETED])
    first, second = work.bench.service.jobs.of(work.bench.context.id)
    assert (first.status, second.request) == (JobStatus.CANCELLED, "Only owls\n\nIn the wood")
    assert work.said()[1:] == [(second.id, second.request)]
    assert work.queued() == []


async def test_it_is_there_after_a_restart_and_goes_with_its_conversation(work: Work) -> None:
    work.say("Only owls")
    await work.bench.service.close()
    again = build_service(work.bench.service.settings)
    context = work.bench.context
    assert [one.status for one in again.jobs.of(context.id)] == [JobStatus.INTERRUPTED]
    assert [one.content for one in again.queued_messages(context.id)] == ["Only owls"]
    await again.conversations.delete(context.id)
    assert again.journal.store.queued_messages(context.id) == []
    await again.close()
