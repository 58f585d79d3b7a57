"""Pictures that tools give: stored whole, and shown to models that see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import ImagePart, MessageType
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.tools.base import ToolContext, ToolParameters, ToolResult, tool
from tests.scripted import Scripted, ScriptedServer, call, text

from .conftest import Bench
from .helpers import add_tools, bench_with

DATA = "QUJD" * 100_000
PICTURE = ImagePart.of("image/png", DATA, (640, 480))
NOTE = "[image 640×480 PNG, not shown to this model]"


class Nothing(ToolParameters):
    """No parameters."""


@tool(category="kernel", permissions=[], idempotent=True)
async def draw(_parameters: Nothing, _context: ToolContext) -> ToolResult:
    """Draw something."""
    return ToolResult("A figure.", "drew", images=(PICTURE,))


@pytest_asyncio.fixture
async def seeing(settings: Settings) -> AsyncIterator[Bench]:
    async with bench_with(settings, model="gpt-4o", tool_protocol="json") as bench:
        add_tools(bench, draw)
        yield bench


def refused() -> Scripted:
    said = {"error": {"message": "image_url is only supported by certain models.", "code": "bad"}}
    return Scripted(status=400, error=said)


def last_turn(scripted: ScriptedServer) -> Any:
    return scripted.requests[-1].body["messages"][-1]["content"]


def result_of_draw(bench: Bench, text: str) -> str:
    return (
        f"Result of draw:\n{bench.service.factory.prompts.frames.of(bench.context.id).around(text)}"
    )


@pytest.mark.asyncio
async def test_a_picture_is_stored_with_the_result_and_shown(
    seeing: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("draw"), text("Nice."))
    await seeing.tell("Draw")
    words, picture = last_turn(scripted)
    assert words == {"type": "text", "text": result_of_draw(seeing, "A figure.")}
    assert picture["image_url"]["url"] == f"data:image/png;base64,{DATA}"
    (stored,) = seeing.messages(MessageType.TOOL_RESULT)
    assert stored.content[1] == PICTURE


@pytest.mark.asyncio
async def test_a_model_that_does_not_see_reads_of_it(
    bench: Bench, scripted: ScriptedServer
) -> None:
    add_tools(bench, draw)
    scripted.add(call("draw"), text("Nice."))
    await bench.tell("Draw")
    assert last_turn(scripted) == result_of_draw(bench, f"A figure.\n{NOTE}")


@pytest.mark.asyncio
async def test_a_server_that_refuses_pictures_is_asked_without_from_then_on(
    seeing: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("draw"), refused(), text("I see nothing."), call("draw"), text("Again."))
    assert (await seeing.tell("Draw")).status is JobStatus.COMPLETED
    assert last_turn(scripted) == result_of_draw(seeing, f"A figure.\n{NOTE}")
    (notice,) = seeing.events(EventType.NOTICE)
    assert notice.data.model_dump()["code"] == "no_pictures"
    await seeing.tell("Again")
    assert last_turn(scripted) == result_of_draw(seeing, f"A figure.\n{NOTE}")
    assert len(scripted.requests) == 5


@pytest.mark.asyncio
async def test_a_request_without_pictures_is_refused_once(
    seeing: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(refused())
    assert (await seeing.tell("Draw")).status is JobStatus.FAILED
    assert len(scripted.requests) == 1


@pytest.mark.asyncio
async def test_a_picture_is_not_counted_by_its_characters(
    seeing: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("draw"), text("Nice."))
    job = await seeing.tell("Draw")
    assert job.usage.estimated
    assert 1_000 < job.usage.prompt_tokens < 10_000
    assert seeing.service.factory.llm.counter.ratio == 1.0
