"""What models and their servers do wrong, through the whole service: nothing of it breaks a job
without one clear sentence, and what may pass is tried again."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import Job, JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.client import Model
from cowork_jupyter.llm.failures import RetryPolicy
from tests import scripted as play
from tests.scripted import Rule, Scripted, ScriptedServer, call, text
from tests.unit.stalling import Stalling

from .conftest import Bench
from .helpers import bench_with, check_ended_well, ended

pytestmark = [pytest.mark.asyncio, pytest.mark.process]

KEY = "sk-very-secret-1234"
SUMMARISE = "memory of an agent"
"""In the prompt of who summarises what no longer fits."""
GOOD = text("Grüße aus Köln.")
ATTEMPTS = 4


@pytest_asyncio.fixture
async def bench(settings: Settings, caplog: pytest.LogCaptureFixture) -> AsyncIterator[Bench]:
    """A bench whose model has a key, which must never be seen again."""
    caplog.set_level(logging.DEBUG)
    async with bench_with(settings, api_key=KEY) as bench:
        yield bench
        written = [event.model_dump_json() for event in bench.events()]
        written += [message.model_dump_json() for message in bench.messages()]
        written += [job.model_dump_json() for job in store_jobs(bench)]
        assert KEY not in "\n".join(written)
        assert KEY not in caplog.text


def store_jobs(bench: Bench) -> list[Job]:
    return bench.service.journal.store.jobs(bench.context.id)


async def failing(bench: Bench) -> str:
    """Ask, expecting failure; gives the error, which is the same wherever one looks."""
    job = await ended(bench, bench.start("go"))
    check_ended_well(bench, JobStatus.FAILED)
    error = job.error or ""
    assert bench.messages()[-1].message_type is MessageType.ERROR
    assert bench.messages()[-1].text == error
    assert bench.events(EventType.ERROR)[-1].data.model_dump()["message"] == error
    assert bench.events()[-1].data.model_dump()["error"] == error
    check_is_one_clear_sentence(error)
    return error


def check_is_one_clear_sentence(error: str) -> None:
    assert error[0].isupper()
    assert "\n" not in error
    assert len(error) < 450
    assert not re.search(r"Traceback|Exception|<html|\bError\(|object at 0x", error)


async def succeeding(bench: Bench) -> None:
    """Ask, expecting the good answer, whole, in one message."""
    await ended(bench, bench.start("go"))
    check_ended_well(bench, JobStatus.COMPLETED)
    said = [one.text for one in bench.messages() if one.role == "assistant"]
    assert said == [GOOD.text]
    assert bench.events(EventType.ERROR) == []


def shown(bench: Bench) -> str:
    """The text on the screen of somebody who watched: void where it was announced so."""
    words = ""
    for event in bench.events():
        if event.type is EventType.TEXT_DELTA:
            words += event.data.model_dump()["text"]
        elif event.type is EventType.NOTICE and event.data.model_dump()["code"] == "restarted":
            words = ""
    return words


HOPELESS = {
    "a wrong key": (play.wrong_key(KEY), "does not accept the key"),
    "a web page": (play.web_page(), "did not answer with a chat completion"),
}
"""All kinds are in `tests/unit/llm/test_client.py`; here it is what becomes of the job."""


@pytest.mark.parametrize(("reply", "words"), HOPELESS.values(), ids=HOPELESS.keys())
async def test_what_cannot_succeed_is_not_tried_again(
    bench: Bench, scripted: ScriptedServer, reply: Scripted, words: str
) -> None:
    scripted.add(reply, GOOD)
    assert words in await failing(bench)
    assert len(scripted.requests) == 1


CUT = replace(GOOD, tokens=["Grüße", " aus", " Köln."])
PASSING = {
    "a server error": play.server_error(500),
    "a stall in the middle": play.stall(),
    "a cut in a token": play.cut_inside(CUT, "aus"),
}


def add_faults(bench: Bench, scripted: ScriptedServer, fault: Scripted, times: int) -> None:
    """As the next answers. Stalls are noticed soon; what is good has all the time it needs."""
    if fault.stall_after is None:
        scripted.add(*[fault] * times)
        return
    tries = 0

    async def next_try(_delay: float) -> None:
        nonlocal tries
        tries += 1
        if tries == times:
            model = bench.service.factory.llm.model
            assert isinstance(model, Model)
            model._retries = RetryPolicy()

    patient = RetryPolicy(idle=0.2, first=0.2, patience=3.5, sleep=next_try, random=lambda: 1.0)
    bench.connect(retries=patient)
    scripted.add(Stalling(fault, lambda: tries < times))


def asked(scripted: ScriptedServer) -> list[dict[str, Any]]:
    """What the agent itself asked."""
    bodies = [one.body for one in scripted.requests]
    return [body for body in bodies if SUMMARISE not in str(body["messages"][0])]


def check_asked(scripted: ScriptedServer, fault: Scripted, times: int) -> None:
    """So often, and of requests that were soon given up some may never have come."""
    asked = len(scripted.requests)
    assert asked <= times if fault.stall_after is not None else asked == times


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
async def test_what_may_pass_is_tried_again_and_only_the_good_answer_stays(
    bench: Bench, scripted: ScriptedServer, fault: Scripted
) -> None:
    add_faults(bench, scripted, fault, 2)
    scripted.add(Rule(GOOD))
    await succeeding(bench)
    notices = bench.events(EventType.NOTICE)
    assert [one.data.model_dump()["code"] for one in notices] == ["restarted"] * 2
    assert [one.data.model_dump()["attempt"] for one in notices] == [2, 3]
    assert all(one.data.model_dump()["message"] for one in notices)
    assert shown(bench) == GOOD.text
    check_asked(scripted, fault, 3)


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
async def test_what_never_passes_is_given_up(
    bench: Bench, scripted: ScriptedServer, fault: Scripted
) -> None:
    add_faults(bench, scripted, fault, ATTEMPTS)
    scripted.add(Rule(GOOD))
    assert scripted.base_url in await failing(bench)
    check_asked(scripted, fault, ATTEMPTS)


async def test_text_shown_before_a_cut_is_announced_void(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(play.cut_inside(text("Never mind this."), "this"), GOOD)
    await succeeding(bench)
    streamed = "".join(
        event.data.model_dump()["text"] for event in bench.events(EventType.TEXT_DELTA)
    )
    assert streamed.startswith("Never mind")
    assert shown(bench) == GOOD.text


async def test_a_tool_call_that_was_cut_does_not_run(
    bench: Bench, scripted: ScriptedServer
) -> None:
    dangerous = call("create_file", path="b.txt", content="never")
    scripted.add(play.cut_inside(dangerous, "never"), GOOD)
    await succeeding(bench)
    assert not (bench.workspace / "b.txt").exists()


async def test_reasoning_is_shown_and_kept_but_is_no_answer(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(replace(GOOD, reasoning="Where am I?"))
    await succeeding(bench)
    thought = "".join(
        event.data.model_dump()["text"] for event in bench.events(EventType.REASONING_DELTA)
    )
    assert thought == bench.messages()[-1].data.model_dump()["reasoning"] == "Where am I?"


async def test_thoughts_before_a_call_are_kept_but_not_sent_back(
    bench: Bench, scripted: ScriptedServer
) -> None:
    look = call("read_file", path="a.py")
    scripted.add(replace(look, reasoning="I wonder."), text("42"))
    await ended(bench, bench.start("go"))
    assert any(one.data.model_dump().get("reasoning") == "I wonder." for one in bench.messages())
    sent = scripted.requests[1].body["messages"]
    assert sent[-2]["content"] == look.text
    assert "I wonder" not in str(sent)


async def test_empty_replies_are_fed_back_and_then_given_up(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(*[play.empty()] * 3, GOOD)
    assert "The reply was empty." in await failing(bench)
    sent = scripted.requests[1].body["messages"]
    assert [one["role"] for one in sent] == ["system", "user"]


# A conversation that is too long


async def test_a_conversation_that_is_too_long_is_shortened_and_sent_once_more(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(play.overflow(), GOOD)
    await succeeding(bench)
    (notice,) = bench.events(EventType.NOTICE)
    assert notice.data.model_dump()["code"] == "context_overflow"
    assert len(scripted.requests) == 2


async def test_the_second_try_really_is_shorter(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(Rule(text("Parts were read."), system=SUMMARISE))
    for part in range(8):
        (bench.workspace / f"{part}.txt").write_text(f"part {part} " * 2_000)
        scripted.add(call("read_file", path=f"{part}.txt"))
    scripted.add(play.overflow(), text("I see."))
    await ended(bench, bench.start("read it all"))
    check_ended_well(bench, JobStatus.COMPLETED)
    long, short = (str(one["messages"][1:]) for one in asked(scripted)[-2:])
    assert len(short) < 0.7 * len(long)
    assert "read it all" in short
    assert "part 7" in short


async def test_a_conversation_is_shortened_until_it_fits(
    bench: Bench, scripted: ScriptedServer
) -> None:
    replies = [call("read_file", path=f"{part}.txt") for part in range(8)]
    for part in range(8):
        (bench.workspace / f"{part}.txt").write_text(f"part {part} " * 500)
    scripted.add(Rule(text("Parts were read."), system=SUMMARISE), *replies)
    scripted.add(*[play.overflow("bedrock")] * 2, text("I see."))
    await ended(bench, bench.start("read it all"))
    check_ended_well(bench, JobStatus.COMPLETED)
    sizes = [len(str(one["messages"][1:])) for one in asked(scripted)[-3:]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0] / 3


async def test_too_long_twice_is_the_end(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(play.overflow(), play.overflow(), GOOD)
    assert "too long for the model" in await failing(bench)
    assert len(scripted.requests) == 2


# Nobody there


async def test_without_a_server_the_job_says_where_nobody_answers(settings: Settings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        async with bench_with(settings, base_url=address) as bench:
            assert f"No model server answers at {address}" in await failing(bench)


async def test_a_model_without_a_server_makes_the_job_say_how_to_connect(
    settings: Settings,
) -> None:
    async with bench_with(settings, base_url="", model="m") as bench:
        assert "set Cowork.base_url" in await failing(bench)


async def test_without_a_model_the_only_one_served_is_taken(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(GOOD)
    async with bench_with(settings, model="") as bench:
        await succeeding(bench)
    assert scripted.requests[-1].body["model"] == "scripted"


async def test_a_failed_job_leaves_the_conversation_usable(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(play.forbidden(), GOOD)
    await failing(bench)
    job = await ended(bench, bench.start("And now?"))
    assert job.status is JobStatus.COMPLETED
    sent = scripted.requests[-1].body["messages"]
    assert "API key" not in str(sent), "errors are told to the user, not to the model"


async def test_a_mistake_of_ours_fails_the_job_and_its_log_says_more(
    bench: Bench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError("our mistake")

    monkeypatch.setattr(bench.service.factory, "run", broken)
    assert "See its log" in await failing(bench)
    assert "our mistake" in caplog.text
