"""Cancel: at once, anywhere, and everything is in order afterwards.

The promise is 200 ms. What is cancelled here would take minutes, and a test waits for none of
them, because machines that run tests are busy.
"""

from __future__ import annotations

import asyncio

import psutil
import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.tools.base import Tool, ToolContext, ToolParameters, ToolResult
from tests.scripted import ScriptedServer, call, calls, forbidden, rate_limited, stall, text

from .conftest import Bench
from .helpers import PATIENCE, add_tools, check_ended_well, ended, eventually
from .test_loop import QUESTION

pytestmark = pytest.mark.asyncio


async def cancel(bench: Bench, job_id: str) -> None:
    """Cancel, and check all that holds after it in every case."""
    async with asyncio.timeout(PATIENCE):
        job = await bench.service.jobs.cancel(job_id)
    assert job.status is JobStatus.CANCELLED
    assert job.error is None
    assert job.completed_at
    check_ended_well(bench, JobStatus.CANCELLED)


async def check_goes_on(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(text("Here I am again."))
    job = await bench.tell("Still there?")
    assert job.status is JobStatus.COMPLETED
    assert bench.messages()[-1].text == "Here I am again."


async def asked(scripted: ScriptedServer) -> None:
    await eventually(lambda: bool(scripted.requests))


async def test_while_the_answer_streams(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(text("word " * 30_000, delay=0.01))
    job_id = bench.start("go")
    await bench.until(EventType.TEXT_DELTA)
    await cancel(bench, job_id)
    await eventually(scripted.requests[0].disconnected.is_set)
    await check_goes_on(bench, scripted)


async def test_while_the_stream_is_silent(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(stall())
    job_id = bench.start("go")
    await bench.until(EventType.TEXT_DELTA)
    await cancel(bench, job_id)
    await eventually(scripted.requests[0].disconnected.is_set)
    await check_goes_on(bench, scripted)


async def test_before_the_first_byte(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(stall(after=0))
    job_id = bench.start("go")
    await asked(scripted)
    await cancel(bench, job_id)
    await eventually(scripted.requests[0].disconnected.is_set)
    await check_goes_on(bench, scripted)


async def test_before_the_job_has_done_anything(bench: Bench, scripted: ScriptedServer) -> None:
    await cancel(bench, bench.start("go"))
    assert scripted.requests == []
    await check_goes_on(bench, scripted)


async def test_in_a_delay_before_the_next_try(bench: Bench, scripted: ScriptedServer) -> None:
    bench.connect()
    scripted.add(rate_limited("3600"))
    job_id = bench.start("go")
    waits = await bench.until(EventType.NOTICE)
    assert waits.data.model_dump()["delay"] == 60, "the longest that is waited"
    await cancel(bench, job_id)
    assert len(scripted.requests) == 1
    await check_goes_on(bench, scripted)


def sleepers() -> list[psutil.Process]:
    return [one for one in psutil.Process().children(recursive=True) if sleeps(one)]


def sleeps(process: psutil.Process) -> bool:
    try:
        return bool(process.name() == "sleep") and lives(process)
    except psutil.NoSuchProcess:
        return False


@pytest.mark.process
async def test_in_a_command_no_process_is_left(bench: Bench, scripted: ScriptedServer) -> None:
    command = "sleep 361 & (sleep 362 & echo started; wait); wait"
    scripted.add(call("execute_command", command=command))
    job_id = bench.start("go")
    await bench.until(EventType.NOTICE)  # its output
    await eventually(lambda: len(sleepers()) == 2)
    begun = sleepers()
    await cancel(bench, job_id)
    await eventually(lambda: not any(map(lives, begun)))
    (result,) = bench.results()
    assert result["error"]["code"] == "cancelled"
    await check_goes_on(bench, scripted)


def lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.mark.process
async def test_calls_that_had_no_turn_yet_get_a_result_too(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(
        calls(
            ("create_file", {"path": "first.txt", "content": "1"}),
            ("execute_command", {"command": "echo started; sleep 363"}),
            ("create_file", {"path": "last.txt", "content": "2"}),
        )
    )
    job_id = bench.start("go")
    await bench.until(EventType.NOTICE)
    await cancel(bench, job_id)
    assert [result["ok"] for result in bench.results()] == [True, False, False]
    assert (bench.workspace / "first.txt").exists()
    assert not (bench.workspace / "last.txt").exists()


async def test_in_a_wait_for_an_answer_the_question_is_withdrawn(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION)
    job_id = bench.start("go")
    question = await bench.until(EventType.QUESTION_ASKED)
    await cancel(bench, job_id)
    question_id = question.data.model_dump()["id"]
    stored = bench.service.journal.store.user_request(question_id, "question")
    assert stored.status == "withdrawn"
    assert bench.events(EventType.QUESTION_ANSWERED)[0].data.model_dump()["status"] == "withdrawn"
    await check_goes_on(bench, scripted)


async def test_an_answer_given_just_before_is_kept(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(QUESTION)
    job_id = bench.start("go")
    question = await bench.until(EventType.QUESTION_ASKED)
    bench.service.requests.answer(question.data.model_dump()["id"], "b")
    await cancel(bench, job_id)
    stored = bench.service.journal.store.user_request(question.data.model_dump()["id"], "question")
    assert (stored.status, stored.answer) == ("answered", {"value": "b"})
    assert len(bench.events(EventType.QUESTION_ANSWERED)) == 1


@pytest.mark.process
async def test_twice_is_as_good_as_once(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(call("execute_command", command="echo started; sleep 364"))
    job_id = bench.start("go")
    await bench.until(EventType.NOTICE)
    async with asyncio.timeout(PATIENCE):
        first, second = await asyncio.gather(
            bench.service.jobs.cancel(job_id), bench.service.jobs.cancel(job_id)
        )
    assert first == second
    check_ended_well(bench, JobStatus.CANCELLED)
    assert len(bench.events(EventType.JOB_COMPLETED)) == 1


async def test_a_second_time_does_not_cut_short_how_the_job_ends(
    bench: Bench, scripted: ScriptedServer
) -> None:
    begun, ending, may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def linger(_parameters: ToolParameters, _context: ToolContext) -> ToolResult:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            await may_end.wait()
        raise AssertionError("nothing ends it but the user")

    add_tools(bench, Tool("linger", "test", "For tests.", frozenset(), ToolParameters, linger))
    scripted.add(call("linger"))
    job_id = bench.start("go")
    async with asyncio.timeout(PATIENCE):
        await begun.wait()
        first = asyncio.create_task(bench.service.jobs.cancel(job_id))
        await ending.wait()
        second = asyncio.create_task(bench.service.jobs.cancel(job_id))
        done, _ = await asyncio.wait([first, second], timeout=0.1)
        assert not done, "there is something that has not ended"
        may_end.set()
        assert await first == await second
    check_ended_well(bench, JobStatus.CANCELLED)


async def test_a_job_that_has_ended_stays_as_it_ended(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("done"))
    job = await bench.tell("go")
    before = bench.events()
    assert await bench.service.jobs.cancel(job.id) == job
    assert bench.events() == before


async def test_a_job_that_was_resumed_by_whoever_saw_it_end(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(forbidden(), stall())
    job_id = bench.start("go")
    await bench.until(EventType.JOB_COMPLETED)
    bench.service.plans.resume(job_id)
    await bench.until(EventType.TEXT_DELTA)
    await cancel(bench, job_id)


async def test_only_the_job_that_is_meant_is_cancelled(
    bench: Bench, scripted: ScriptedServer
) -> None:
    other = Bench(bench.service, bench.service.conversations.create(), bench.workspace)
    scripted.add(stall(), text("I go on."))
    job_id = bench.start("go")
    await bench.until(EventType.TEXT_DELTA)
    other_id = other.start("go")
    await cancel(bench, job_id)
    assert (await ended(other, other_id)).status is JobStatus.COMPLETED


@pytest.mark.process
async def test_closing_the_service_interrupts_what_runs(
    bench: Bench, scripted: ScriptedServer
) -> None:
    waiting = Bench(bench.service, bench.service.conversations.create(), bench.workspace)
    starting = Bench(bench.service, bench.service.conversations.create(), bench.workspace)
    scripted.add(call("execute_command", command="echo started; sleep 365"))
    bench.start("go")
    await bench.until(EventType.NOTICE)
    scripted.add(QUESTION)
    waiting.start("go")
    await waiting.until(EventType.QUESTION_ASKED)
    starting.start("go")
    async with asyncio.timeout(PATIENCE):
        await bench.service.close()
    again = build_service(bench.service.settings)
    for one in (bench, waiting, starting):
        reopened = Bench(again, one.context, one.workspace)
        check_ended_well(reopened, JobStatus.INTERRUPTED)
        assert len(reopened.events(EventType.JOB_COMPLETED)) == 1
        scripted.add(text("Where were we?"))
        assert (await reopened.tell("go on")).status is JobStatus.COMPLETED
    await again.close()


async def test_what_was_shown_of_a_stopped_reply_is_a_message(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(
        call("create_file", path="b.txt", content="hi"), text("half a " * 15_000, delay=0.01)
    )
    job_id = bench.start("go")
    await bench.until(EventType.TEXT_DELTA)
    await cancel(bench, job_id)
    assert [one.message_type for one in bench.messages()] == [
        MessageType.TEXT,
        MessageType.TOOL_CALL,
        MessageType.TOOL_RESULT,
        MessageType.TEXT,
    ]
    last = bench.messages()[-1]
    assert last.text == bench.shown().strip()
    assert last.data.model_dump() == {"cut": "stopped"}
    await check_goes_on(bench, scripted)
    sent = scripted.requests[-1].body["messages"]
    assert any("[Stopped here.]" in str(one["content"]) for one in sent)
    assert last in bench.service.journal.store.job_messages(job_id)
    assert (bench.workspace / "b.txt").read_text() == "hi"
