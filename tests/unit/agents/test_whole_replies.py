"""A reply ends when it is complete, and one that was cut off is not taken for complete."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator

import pytest

from cowork_jupyter.agents.ask.user import Nobody
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.llm.chunks import Chunk, ModelRequest, TextChunk
from cowork_jupyter.llm.client import ModelTraits
from cowork_jupyter.llm.failures import ModelError
from tests.scripted import Scripted, ScriptedServer, text

from .conftest import Bench
from .helpers import PATIENCE, ended

pytestmark = pytest.mark.asyncio
REGIONS = [
    "north",
    "northwest",
    "west",
    "south",
    "southwest",
    "east",
    "northeast",
    "southeast",
    "centre",
    "abroad",
]
CALL = json.dumps({"tool": "create_file", "parameters": {"path": "b.txt", "content": "hi"}})


class Endless(list[str]):
    """Tokens of a model that does not stop by itself before the test is over."""

    def __init__(self, first: list[str], then: str, over: threading.Event) -> None:
        super().__init__([*first, then])
        self._over = over

    def __iter__(self) -> Iterator[str]:
        *first, then = super().__iter__()
        yield from first
        while not self._over.wait(0.005):
            yield then


@pytest.mark.parametrize("then", ["\n" + CALL, " and so on", "\nResult of create_file: done"])
async def test_the_stream_is_closed_after_the_first_whole_call(
    bench: Bench, scripted: ScriptedServer, then: str
) -> None:
    over = threading.Event()
    try:
        scripted.add(Scripted(tokens=Endless([CALL], then, over)), text("Done."))
        job = await ended(bench, bench.start("go"))
    finally:
        over.set()
    assert job.status is JobStatus.COMPLETED
    assert len(bench.messages(MessageType.TOOL_CALL)) == 1
    words = [one.text for one in bench.messages(MessageType.TEXT) if one.role == "assistant"]
    assert words == ["Done."]


async def test_copies_of_a_call_run_once(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(text("\n".join([CALL] * 5)), text("Done."))
    await bench.tell("go")
    assert [result["ok"] for result in bench.results()] == [True]


async def test_an_answer_that_runs_on_is_cut(bench: Bench, scripted: ScriptedServer) -> None:
    over = threading.Event()
    try:
        scripted.add(Scripted(tokens=Endless(["So.\n"], "It is 42.\n", over)))
        async with asyncio.timeout(PATIENCE):
            job = await ended(bench, bench.start("go"))
    finally:
        over.set()
    assert job.status is JobStatus.COMPLETED
    last = bench.messages()[-1]
    assert last.data.model_dump()["cut"] == "repetition"
    assert last.text == bench.shown().strip(), "what was shown stays"
    assert bench.service.jobs.get(job.id).final_response == "So.\nIt is 42."


PARAGRAPH = "".join(f"Region {name} sold {len(name) * 7} units in May. " for name in REGIONS)


@pytest.mark.parametrize("piece", [50, 300_000])
async def test_an_answer_that_repeats_whole_paragraphs_is_cut_and_stored_bounded(
    bench: Bench, scripted: ScriptedServer, piece: int
) -> None:
    whole = f"So.\n{PARAGRAPH}\n" + f"{PARAGRAPH}\n" * (300_000 // len(PARAGRAPH))
    tokens = [whole[start : start + piece] for start in range(0, len(whole), piece)]
    scripted.add(Scripted(tokens=tokens))
    assert (await ended(bench, bench.start("go"))).status is JobStatus.COMPLETED
    last = bench.messages()[-1]
    assert last.data.model_dump()["cut"] == "repetition"
    assert last.text.startswith(f"So.\n{PARAGRAPH.strip()}")
    assert last.text == bench.shown().strip(), "what was shown stays"
    assert len(last.text) < 12_000


async def test_an_answer_without_end_is_ended_at_a_limit_and_stored_bounded(
    bench: Bench, scripted: ScriptedServer
) -> None:
    bench.service.factory.tools.user = Nobody()
    scripted.add(Scripted(tokens=[f"{number} " for number in range(60_000)]))
    job = await ended(bench, bench.start("go"))
    assert (job.status, "100,000 characters" in (job.error or "")) == (JobStatus.FAILED, True)
    (cut,) = [one for one in bench.messages(MessageType.TEXT) if one.role == "assistant"]
    assert cut.data.model_dump()["cut"] == "length"
    assert 99_000 < len(cut.text) < 102_000


async def test_an_answer_cut_off_by_the_server_says_so(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(Scripted(text="It is ", finish="length"), text("42."))
    await bench.tell("go")
    said = [one for one in bench.messages(MessageType.TEXT) if one.role == "assistant"]
    assert [one.data.model_dump().get("cut") for one in said] == ["length", None]


async def test_a_call_that_the_servers_limit_cut_off_does_not_run(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(Scripted(text=CALL[:-1], finish="length"), text("Then not."))
    await bench.tell("go")
    assert bench.messages(MessageType.TOOL_CALL) == []
    assert "cut off at the server's limit" in scripted.requests[1].body["messages"][-1]["content"]


async def test_an_answer_that_the_servers_limit_cut_off_is_continued(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(Scripted(text="There are three", finish="length"), text("files."))
    assert (await bench.tell("go")).status is JobStatus.COMPLETED
    words = [one.text for one in bench.messages(MessageType.TEXT) if one.role == "assistant"]
    assert words == ["There are three", "files."]
    assert "Go on exactly where" in scripted.requests[1].body["messages"][-1]["content"]


async def test_an_answer_without_end_is_continued_a_few_times_only(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(*(Scripted(text=f"Part {part}", finish="length") for part in range(9)))
    assert (await bench.tell("go")).status is JobStatus.COMPLETED
    assert len(scripted.requests) == 4
    assert "cut the answer off" in bench.messages()[-1].text


class BreaksOff:
    """A model whose own time limit ends it in the middle of an answer."""

    name = "breaks-off"
    traits = ModelTraits()

    async def aclose(self) -> None:
        pass

    async def stream(self, _request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        yield TextChunk("The mean is")
        raise TimeoutError


async def test_a_time_limit_of_somebody_else_makes_no_reply_whole(bench: Bench) -> None:
    bench.service.factory.llm.model = BreaksOff()
    job = await ended(bench, bench.start("go"))
    assert job.status is JobStatus.FAILED


class Fails(BreaksOff):
    """A model whose server is gone in the middle of a reply."""

    async def stream(self, _request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        yield TextChunk("The mean is")
        raise ModelError("Its server is gone.")


@pytest.mark.parametrize("model", [Fails, BreaksOff])
async def test_what_a_model_said_before_it_failed_stays(
    bench: Bench, model: type[BreaksOff]
) -> None:
    bench.service.factory.llm.model = model()
    job = await ended(bench, bench.start("go"))
    assert job.status is JobStatus.FAILED
    (said,) = [one for one in bench.messages(MessageType.TEXT) if one.role == "assistant"]
    assert (said.text, said.data.model_dump()) == ("The mean is", {"cut": "killed"})
