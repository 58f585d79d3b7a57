"""Jobs: one at a time in each conversation, each with exactly one end."""

from __future__ import annotations

import asyncio
import gc

import pytest

from cowork_jupyter.domain.contexts import Job, JobStatus
from cowork_jupyter.domain.errors import Conflict, NotFound
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.store import Store, UserRequest
from tests.scripted import Scripted, ScriptedServer, call, stall, text

from .conftest import Bench
from .helpers import bench_with, ended, eventually
from .test_loop import QUESTION

pytestmark = pytest.mark.asyncio


async def test_a_second_message_while_a_job_runs_is_refused_and_leaves_nothing_behind(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    job_id = bench.start("first")
    await bench.until(EventType.TEXT_DELTA)
    before = bench.events()
    with pytest.raises(Conflict) as refused:
        bench.start("second")
    assert refused.value.code == "job_running"
    assert refused.value.details == {"job_id": job_id}
    assert bench.events() == before
    assert len(bench.messages()) == 1


async def test_a_job_that_waits_for_an_answer_counts_as_running(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION)
    bench.start("first")
    await bench.until(EventType.QUESTION_ASKED)
    with pytest.raises(Conflict, match="A job is running"):
        bench.start("second")


async def test_another_process_on_the_same_store_sees_the_job_too(
    settings: Settings, bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    bench.start("first")
    await bench.until(EventType.TEXT_DELTA)
    async with bench_with(settings) as other:
        with pytest.raises(Conflict, match="A job is running"):
            other.service.send_message(bench.context.id, "second")


async def test_conversations_work_side_by_side(bench: Bench, scripted: ScriptedServer) -> None:
    several = [
        Bench(bench.service, bench.service.conversations.create(), bench.workspace)
        for _ in range(5)
    ]
    scripted.add(*[QUESTION] * len(several), *[text("Here we are.")] * len(several))
    jobs = [one.start("go") for one in several]
    for one in several:
        await one.until(EventType.QUESTION_ASKED)
    assert [one.job_statuses() for one in several] == [[JobStatus.WAITING]] * len(several)
    for one, job_id in zip(several, jobs, strict=True):
        await one.answer("a")
        assert (await ended(one, job_id)).status is JobStatus.COMPLETED
        assert {event.job_id for event in one.events()} == {job_id}
        places = [event.seq for event in one.events()]
        assert places == sorted(set(places))


async def test_events_come_in_the_order_in_which_things_happen(
    bench: Bench, scripted: ScriptedServer
) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    scripted.add(
        Scripted(text="Let me look.\n" + call("read_file", path="a.py").text, usage=usage),
        Scripted(text="42.", usage=usage),
    )
    job = await bench.tell("go")
    kinds: list[EventType] = []
    for event in bench.events():
        if kinds[-1:] != [event.type]:
            kinds.append(event.type)
    assert kinds == [
        EventType.JOB_STARTED,
        EventType.MESSAGE,  # what the user said
        EventType.TEXT_DELTA,
        EventType.USAGE,
        EventType.MESSAGE,  # what the model said, and then its call
        EventType.TOOL_CALL,
        EventType.MESSAGE,
        EventType.TOOL_RESULT,
        EventType.TEXT_DELTA,
        EventType.USAGE,
        EventType.MESSAGE,
        EventType.JOB_COMPLETED,
    ]
    begin, end = (
        bench.events(kind)[0] for kind in (EventType.JOB_STARTED, EventType.JOB_COMPLETED)
    )
    begun = begin.data.model_dump()
    assert begun["job_id"] == job.id
    assert (begun["status"], begun["error"]) == ("running", None)
    facts = ("kind", "role", "request", "plan_id", "by", "card_id")
    assert [begun[one] for one in facts] == ["message", "actor", "go", None, "person", job.id]
    ended = {"job_id": job.id, "status": "completed", "error": None}
    assert end.data.model_dump() == {**ended, "worked_seconds": job.working_seconds}


async def test_a_final_status_comes_once_and_with_a_time(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("one"), Scripted(status=403), text("three"))
    jobs = [await bench.tell(word) for word in ("first", "second", "third")]
    completed = bench.events(EventType.JOB_COMPLETED)
    assert [event.job_id for event in completed] == [job.id for job in jobs]
    assert [event.data.model_dump()["status"] for event in completed] == [
        "completed",
        "failed",
        "completed",
    ]
    assert all(job.completed_at and job.completed_at >= job.created_at for job in jobs)


async def test_every_message_of_a_job_carries_its_id(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("read_file", path="a.py"), QUESTION, text("done"))
    job_id = bench.start("go")
    await bench.answer("a")
    await ended(bench, job_id)
    assert {message.job_id for message in bench.messages()} == {job_id}


async def test_waiting_for_a_job_that_has_ended_gives_it_at_once(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("done"))
    job = await bench.tell("go")
    assert await bench.service.jobs.wait(job.id) == job


async def test_an_unknown_job_cannot_be_waited_for_or_cancelled(bench: Bench) -> None:
    for ask in (bench.service.jobs.wait, bench.service.jobs.cancel):
        with pytest.raises(NotFound):
            await ask("job_nobody_knows")


async def test_a_message_to_an_unknown_conversation_starts_nothing(
    bench: Bench, scripted: ScriptedServer
) -> None:
    with pytest.raises(NotFound):
        bench.service.send_message("ctx_nobody_knows", "hello")
    assert scripted.requests == []


async def test_a_job_whose_conversation_is_deleted_ends_quietly(
    bench: Bench, scripted: ScriptedServer
) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
    scripted.add(text("word " * 10_000, delay=0.01))
    job_id = bench.start("go")
    await bench.until(EventType.TEXT_DELTA)
    bench.service.journal.store.delete_context(bench.context.id)
    with pytest.raises(NotFound):
        await ended(bench, job_id)
    gc.collect()
    assert complaints == []
    await eventually(scripted.requests[0].disconnected.is_set)


async def test_what_a_crash_left_behind_is_closed_when_the_service_opens(
    settings: Settings, scripted: ScriptedServer
) -> None:
    with Store(settings.database) as crashed:
        async with bench_with(settings) as first:
            context = first.context
        question = UserRequest(id="q_1", context_id=context.id, job_id="job_1")
        with crashed.transaction() as tx:
            tx.save_job(Job(id="job_1", context_id=context.id, status=JobStatus.WAITING))
            tx.save_request(question)
    scripted.add(text("Back again."))
    async with bench_with(settings) as second:
        bench = Bench(second.service, context, settings.workspace)
        assert bench.job_statuses() == [JobStatus.INTERRUPTED]
        assert bench.service.requests.pending(context.id, "question") == [question]
        assert (await bench.tell("go on")).status is JobStatus.COMPLETED
        assert (
            bench.service.requests.pending(context.id, "question") == []
        )  # the conversation went on
        with pytest.raises(Conflict, match="no longer open"):
            bench.service.requests.answer("q_1", "b")
        assert bench.job_statuses() == [JobStatus.INTERRUPTED, JobStatus.COMPLETED]


async def test_opening_a_second_service_leaves_running_jobs_alone(
    settings: Settings, bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, text("Thanks."))
    job_id = bench.start("go")
    await bench.until(EventType.QUESTION_ASKED)
    async with bench_with(settings):
        assert bench.job_statuses() == [JobStatus.WAITING]
    await bench.answer("a")
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED


async def test_an_error_is_stored_once_and_as_an_error(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(Scripted(status=403))
    await bench.tell("go")
    assert len(bench.messages(MessageType.ERROR)) == 1
    assert len(bench.events(EventType.ERROR)) == 1


async def test_a_completed_job_knows_its_last_words(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(call("read_file", path="a.py"), text("It is 42."))
    job = await bench.tell("go")
    assert (job.final_response, job.current_step_index) == ("It is 42.", None)
