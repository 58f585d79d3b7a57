"""Limits: counted fairly, named when hit, and the user decides whether to go on."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.agents.ask.user import Nobody
from cowork_jupyter.agents.run.limits import (
    MAX_REPLY_TOKENS,
    LimitReached,
    LoopDetector,
    RunLimits,
    find_loop,
)
from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.replies import ToolCall
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.tools.base import ToolContext, ToolParameters, ToolResult, tool

from ...scripted import Scripted, ScriptedServer, call, text
from .conftest import Bench
from .helpers import PATIENCE, Clock, add_tools, bench_with, check_ended_well, ended, eventually
from .test_loop import QUESTION
from .test_pending_requests import save_plan

SPENT = {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60}


def made(clock: Clock, **limits: float) -> RunLimits:
    settings = Settings(workspace=Path(), data_dir=Path(), **limits)  # type: ignore[arg-type]
    return RunLimits(settings, clock)


def reached(limits: RunLimits) -> str:
    """Which limit is reached, if any."""
    try:
        limits.check()
    except LimitReached as limit:
        return str(limit)
    return ""


def test_below_every_limit_nothing_is_reached() -> None:
    clock = Clock()
    limits = made(clock, max_iterations=2, max_seconds=10, max_tokens=100)
    limits.turns, limits.tokens = 1, 99
    clock.now += 9.9
    assert not reached(limits)


def test_each_limit_names_itself_its_size_and_its_setting() -> None:
    clock = Clock()
    limits = made(clock, max_iterations=2, max_seconds=10, max_tokens=100)
    limits.turns = 2
    assert reached(limits) == "2 model turns (max_iterations)"
    limits.extend()
    clock.now += 10
    assert reached(limits) == "10 seconds (max_seconds)"
    limits.extend()
    limits.tokens = 100
    assert reached(limits) == "100 tokens (max_tokens)"


def test_tokens_are_not_limited_unless_configured() -> None:
    limits = made(Clock())
    limits.tokens = 10**9
    assert not reached(limits)


def test_going_on_gives_the_same_amount_again() -> None:
    clock = Clock()
    limits = made(clock, max_iterations=2, max_seconds=10, max_tokens=100)
    limits.turns, limits.tokens = 2, 100
    clock.now += 10
    limits.extend()
    limits.turns, limits.tokens = 1, 99
    clock.now += 9.9
    assert not reached(limits)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 10**6))))
def test_only_time_outside_of_waits_counts(spans: list[tuple[bool, int]]) -> None:
    clock = Clock()
    limits = made(clock)
    for waits, seconds in spans:
        if waits:
            with limits.waiting():
                clock.now += seconds
        else:
            clock.now += seconds
    assert limits.seconds == sum(seconds for waits, seconds in spans if not waits)


def test_waits_that_overlap_are_left_out_once() -> None:
    clock = Clock()
    limits = made(clock)
    one, two = limits.waiting(), limits.waiting()
    clock.now += 1
    with one:
        clock.now += 10
        two.__enter__()
        clock.now += 10
    clock.now += 10
    assert limits.seconds == 1
    two.__exit__(None, None, None)
    clock.now += 1
    assert limits.seconds == 2


def test_each_lap_tells_the_work_since_the_last_also_after_going_on() -> None:
    clock = Clock()
    limits = made(clock)
    clock.now += 5
    assert limits.lap() == 5
    limits.extend()
    with limits.waiting():
        clock.now += 100
    clock.now += 2
    assert (limits.lap(), limits.lap()) == (2, 0)


def test_time_in_which_the_model_writes_does_not_count() -> None:
    clock = Clock()
    limits = made(clock, max_seconds=10)
    limits.begin_reply()
    clock.now += 3  # until it begins
    for piece in range(1_000):
        limits.add_progress(piece)
        clock.now += 0.5
    assert (limits.seconds, limits.seconds_left) == (3.5, 6.5)
    assert limits.lap() == 503, "the job's account still has it"


def test_a_trickle_is_waiting() -> None:
    clock = Clock()
    limits = made(clock, max_seconds=10)
    limits.begin_reply()
    limits.add_progress(1)
    clock.now += 6
    limits.add_progress(2)
    clock.now += 6
    with pytest.raises(LimitReached, match="max_seconds"):
        limits.add_progress(3)


def test_a_reply_has_an_end_also_where_nothing_else_limits_it() -> None:
    clock = Clock()
    limits = made(clock, max_seconds=10)
    limits.begin_reply()
    for written in range(0, MAX_REPLY_TOKENS, 1_000):
        clock.now += 4
        limits.add_progress(written)
    clock.now += 4
    limits.add_progress(MAX_REPLY_TOKENS)
    clock.now += 4
    with pytest.raises(LimitReached, match="max_seconds"):
        limits.add_progress(MAX_REPLY_TOKENS + 1)


def test_the_tokens_of_a_reply_count_while_it_is_written() -> None:
    limits = made(Clock(), max_tokens=100)
    limits.tokens = 90
    limits.add_progress(9)
    with pytest.raises(LimitReached, match="max_tokens"):
        limits.add_progress(10)


def test_a_wait_that_is_cancelled_does_not_count_either() -> None:
    clock = Clock()
    limits = made(clock)
    with suppress(asyncio.CancelledError), limits.waiting():
        clock.now += 100
        raise asyncio.CancelledError
    assert limits.seconds == 0


# Through the whole service


CHANGES: dict[str, dict[str, float]] = {
    "max_iterations": {"max_iterations": 2},
    "max_seconds": {"max_seconds": 10.0},
    "max_tokens": {"max_tokens": 100},
    "max_job_iterations": {"max_job_iterations": 2},
    "max_job_seconds": {"max_job_seconds": 10.0},
    "max_job_tokens": {"max_job_tokens": 100},
}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which the service's limits run."""
    clock = Clock()
    monkeypatch.setattr("cowork_jupyter.agents.agent.RunLimits", partial(RunLimits, clock=clock))
    return clock


def turns(bench: Bench, clock: Clock, number: int) -> list[Scripted]:
    """Turns of six seconds and sixty tokens each: the second one is too much for any limit."""

    @tool(category="test", permissions=[], idempotent=True)
    async def work(parameters: Work, context: ToolContext) -> ToolResult:
        """Take six seconds."""
        clock.now += 6
        return ToolResult(f"done {parameters.part}", "worked")

    add_tools(bench, work)
    spent = [call("work", part=part) for part in range(number)]
    return [Scripted(text=one.text, usage=SPENT) for one in spent]


class Work(ToolParameters):
    part: int


@pytest.mark.asyncio
@pytest.mark.parametrize("name", CHANGES)
async def test_at_a_limit_the_job_waits_and_asks_and_going_on_goes_on(
    settings: Settings, scripted: ScriptedServer, clock: Clock, name: str
) -> None:
    async with bench_with(settings, **CHANGES[name]) as bench:
        scripted.add(*turns(bench, clock, 4))
        job_id = bench.start("go")
        asked = await bench.until(EventType.QUESTION_ASKED)
        assert f"({name}) was reached" in asked.data.model_dump()["question"]
        assert [option["value"] for option in asked.data.model_dump()["options"]] == [
            "go_on",
            "stop",
        ]
        assert bench.job_statuses() == [JobStatus.WAITING]
        assert len(scripted.requests) == 2
        await bench.answer("go_on")
        second = await next_question(bench, asked.seq)
        assert f"({name}) was reached" in second
        assert len(scripted.requests) == 4, "going on must give the same amount again"
        bench.service.requests.answer(pending(bench), "stop")
        await ended(bench, job_id)
        check_ended_well(bench, JobStatus.CANCELLED)


@pytest.mark.asyncio
@pytest.mark.parametrize("name", CHANGES)
async def test_stopping_at_a_limit_stops_the_job_and_names_the_limit(
    settings: Settings, scripted: ScriptedServer, clock: Clock, name: str
) -> None:
    async with bench_with(settings, **CHANGES[name]) as bench:
        scripted.add(*turns(bench, clock, 3))
        job_id = bench.start("go")
        await bench.answer("stop")
        job = await ended(bench, job_id)
        assert name in (job.error or "")
        check_ended_well(bench, JobStatus.CANCELLED)


@pytest.mark.asyncio
async def test_stopping_a_step_at_its_limit_stops_the_plan_and_asks_nothing_more(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, max_iterations=1) as bench:
        save_plan(bench.service, bench.context.id, {"id": "a", "action": "do a"})
        scripted.add(call("read_file", path="a.py"))
        job_id = (await bench.service.execute_plan(bench.context.id, 1)).id
        await bench.answer("stop")
        job = await ended(bench, job_id)
        assert "(max_iterations)" in (job.error or "")
        assert [task.status for task in job.tasks] == [StepStatus.CANCELLED]
        assert len(bench.events(EventType.QUESTION_ASKED)) == 1
        check_ended_well(bench, JobStatus.CANCELLED)


@pytest.mark.asyncio
@pytest.mark.parametrize("name", CHANGES)
async def test_headless_a_limit_ends_the_job_naming_it_and_nothing_hangs(
    settings: Settings, scripted: ScriptedServer, clock: Clock, name: str
) -> None:
    async with bench_with(settings, **CHANGES[name]) as bench:
        bench.service.factory.tools.user = Nobody()
        scripted.add(*turns(bench, clock, 3))
        job = await ended(bench, bench.start("go"))
        assert name in (job.error or "")
        assert name in bench.messages(MessageType.QUESTION)[0].text
        check_ended_well(bench, JobStatus.FAILED)


@pytest.mark.asyncio
async def test_headless_a_question_of_the_model_ends_the_job(
    bench: Bench, scripted: ScriptedServer
) -> None:
    bench.service.factory.tools.user = Nobody()
    scripted.add(QUESTION)
    job = await ended(bench, bench.start("go"))
    assert job.error == "Nobody could answer: Which?"
    check_ended_well(bench, JobStatus.FAILED)


@pytest.mark.asyncio
async def test_time_in_which_the_user_thinks_does_not_count(
    settings: Settings, scripted: ScriptedServer, clock: Clock
) -> None:
    async with bench_with(settings, max_seconds=10.0) as bench:
        scripted.add(QUESTION, text("B it is."))
        job_id = bench.start("go")
        await bench.until(EventType.QUESTION_ASKED)
        clock.now += 10_000
        await bench.answer("b")
        await ended(bench, job_id)
        check_ended_well(bench, JobStatus.COMPLETED)


@pytest.mark.asyncio
async def test_the_token_limit_holds_with_servers_that_report_no_usage(
    settings: Settings, scripted: ScriptedServer, clock: Clock
) -> None:
    async with bench_with(settings, max_tokens=100) as bench:
        bench.service.factory.tools.user = Nobody()
        scripted.add(call("read_file", path="a.py"), text("more"))
        job = await ended(bench, bench.start("go"))
        assert "max_tokens" in (job.error or "")


@pytest.mark.asyncio
async def test_a_model_that_writes_for_ever_meets_the_time_limit_and_its_words_are_kept(
    settings: Settings, scripted: ScriptedServer, clock: Clock
) -> None:
    async with bench_with(settings) as bench:
        bench.service.factory.tools.user = Nobody()
        scripted.add(text("and so on " * 1000, delay=0.01))
        job_id = bench.start("go")
        await bench.until(EventType.TEXT_DELTA)
        clock.now += 10_000
        job = await ended(bench, job_id)
        assert "max_seconds" in (job.error or "")
        (kept,) = (one for one in bench.messages() if "problem" in one.data.model_dump())
        assert kept.text.startswith("and")
        await eventually(scripted.requests[0].disconnected.is_set)
        check_ended_well(bench, JobStatus.FAILED)


class Ticking(Clock):
    """A second passes whenever somebody looks."""

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.mark.asyncio
async def test_a_slow_model_that_writes_is_not_stuck_and_its_pace_is_told(
    settings: Settings, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = partial(RunLimits, clock=Ticking())
    monkeypatch.setattr("cowork_jupyter.agents.agent.RunLimits", slow)
    words = " ".join(f"word{number}" for number in range(40))
    async with bench_with(settings, max_seconds=60.0) as bench:
        scripted.add(Scripted(text=words, delay=0.02))  # what comes together would be read together
        assert (await bench.tell("go")).status is JobStatus.COMPLETED
        assert bench.messages()[-1].text == words
        told = [one.data.model_dump() for one in bench.events(EventType.NOTICE)]
    assert {one["code"] for one in told} == {"reply_progress"}
    assert [one["tokens"] for one in told] == sorted(one["tokens"] for one in told)
    assert 0 < told[-1]["rate"] <= told[-1]["tokens"] / 2, "two seconds pass before each report"
    assert (told[-1]["turns_left"], told[-1]["seconds_left"] > 0) == (29, True)


@pytest.mark.asyncio
async def test_after_going_on_the_last_words_the_model_reads_are_the_users(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, max_iterations=1) as bench:
        scripted.add(call("read_file", path="a.py"), text("done"))
        job_id = bench.start("go")
        await bench.answer("go_on")
        await ended(bench, job_id)
        last = scripted.requests[1].body["messages"][-1]
        assert last["role"] == "user"
        assert last["content"].endswith("go_on")


@pytest.mark.asyncio
async def test_a_new_message_has_the_whole_amount_again(
    settings: Settings, scripted: ScriptedServer, clock: Clock
) -> None:
    async with bench_with(settings, max_iterations=2) as bench:
        look = call("read_file", path="a.py")
        scripted.add(look, text("one"), look, text("two"))
        assert (await bench.tell("first")).status is JobStatus.COMPLETED
        assert (await bench.tell("second")).status is JobStatus.COMPLETED


def pending(bench: Bench) -> str:
    (question,) = bench.service.journal.store.pending_requests(bench.context.id, "question")
    return question.id


async def next_question(bench: Bench, after: int) -> str:
    async with asyncio.timeout(PATIENCE):
        async for event in bench.service.journal.bus.subscribe(bench.context.id, after):
            if event.type is EventType.QUESTION_ASKED:
                return str(event.data.model_dump()["question"])
    raise AssertionError("the bus was closed")


SAME, TWO, NONE = (
    "the same call three times",
    "the same two calls in turn",
    "three replies without a call",
)


def a_call(tool: str, **parameters: Any) -> ToolCall:
    return ToolCall(tool=tool, parameters=parameters)


@pytest.mark.parametrize(
    ("turns", "circle"),
    [
        ("", None),
        ("AA", None),
        ("AAA", SAME),
        ("BAAA", SAME),
        ("AABA", None),
        ("ABAB", TWO),
        ("ABA", None),
        ("ABBA", None),
        ("ABCABC", None),
        ("CABAB", TWO),
        ("---", NONE),
        ("--", None),
        ("A---", NONE),
        ("A-A-", None),
        ("-A-A", None),
    ],
)
def test_circles_are_three_alike_or_two_in_turn(turns: str, circle: str | None) -> None:
    assert find_loop(["" if turn == "-" else turn for turn in turns]) == circle


def told(guard: LoopDetector, *turns: list[ToolCall]) -> list[str | None]:
    return [guard.observe(turn) for turn in turns]


def test_parameters_count_and_their_order_does_not() -> None:
    one, same = a_call("grep", pattern="x", path="."), a_call("grep", path=".", pattern="x")
    other = a_call("grep", pattern="y", path=".")
    assert told(LoopDetector(), [one], [same], [other]) == [None] * 3
    assert told(LoopDetector(), [one], [same], [one]) == [None, None, SAME]


def test_all_calls_of_a_turn_count_together() -> None:
    a, b = a_call("read_file", path="a"), a_call("read_file", path="b")
    assert told(LoopDetector(), [a], [a, b], [a]) == [None] * 3
    assert told(LoopDetector(), [a, b], [a, b], [a, b]) == [None, None, SAME]


def test_a_circle_is_told_once_and_then_must_close_again() -> None:
    turns = [[a_call("read_file", path="a")]] * 6
    assert told(LoopDetector(), *turns) == [None, None, SAME, None, None, SAME]


@given(st.lists(st.integers(), unique=True, max_size=30))
def test_who_always_does_something_new_is_never_in_a_circle(paths: list[int]) -> None:
    turns = [[a_call("read_file", path=path)] for path in paths]
    assert told(LoopDetector(), *turns) == [None] * len(paths)


@given(st.lists(st.sampled_from(["A", "B", ""]), max_size=40))
def test_a_circle_is_told_within_the_turns_that_close_it(turns: list[str]) -> None:
    guard, seen = LoopDetector(), list[str]()
    for turn in turns:
        seen.append(turn)
        circle = guard.observe([a_call(turn)] if turn else [])
        assert bool(circle) == bool(find_loop(seen))
        if circle:
            seen.clear()


@given(st.recursive(st.none() | st.text() | st.floats(), st.lists, max_leaves=5))
def test_any_parameters_can_be_compared(value: Any) -> None:
    turn = [a_call("run", value=value)]
    assert told(LoopDetector(), turn, turn, turn) == [None, None, SAME]


def test_different_code_that_fails_alike_is_a_circle() -> None:
    guard = LoopDetector()
    calls = [ToolCall(tool="run_code", parameters={"code": f"f({n})"}) for n in range(4)]
    assert guard.observe(calls[:1], "KeyError: 'a'") is None
    assert guard.observe(calls[1:2], "KeyError: 'b'") is None
    assert guard.observe(calls[2:3], "KeyError: 'b'") is None
    assert guard.observe(calls[3:], "KeyError: 'b'") == "the same error three times, KeyError: 'b'"


def test_success_between_errors_is_no_circle() -> None:
    guard = LoopDetector()
    errors = ["KeyError: 'a'", "KeyError: 'a'", "", "KeyError: 'a'"]
    turns = [[ToolCall(tool="run_code", parameters={"code": str(n)})] for n in range(4)]
    assert [guard.observe(*turn) for turn in zip(turns, errors, strict=True)] == [None] * 4
