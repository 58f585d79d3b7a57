"""A reply ends when it is complete, and one that was cut off is not taken for complete."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator

import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.llm.chunks import Chunk, ModelRequest, TextChunk
from tests.scripted import Scripted, ScriptedServer, text

from .conftest import Bench
from .helpers import PATIENCE, ended

pytestmark = pytest.mark.asyncio
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
    assert bench.messages()[-1].text == "So.\nIt is 42."


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
    is_guide = False

    async def aclose(self) -> None:
        pass

    async def stream(self, _request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        yield TextChunk("The mean is")
        raise TimeoutError


async def test_a_time_limit_of_somebody_else_makes_no_reply_whole(bench: Bench) -> None:
    bench.service.factory.llm.model = BreaksOff()
    job = await ended(bench, bench.start("go"))
    assert job.status is JobStatus.FAILED
