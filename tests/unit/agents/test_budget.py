"""A job's budget: one account for all its tasks, one question at its end, and a way to raise it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from cowork_jupyter.agents.ask.user import Nobody
from cowork_jupyter.domain.contexts import Job, JobStatus, StepStatus, Usage
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Price, Settings
from cowork_jupyter.tools.base import ToolContext, ToolParameters, ToolResult, tool
from tests.scripted import Scripted, ScriptedServer, call, plan, stall, text

from .conftest import Bench
from .helpers import Clock, add_tools, bench_with, check_ended_well, ended, eventually
from .test_coordinator import execute, make_plan, statuses
from .test_delegation import by_role
from .test_limits import SPENT, turns
from .test_limits import clock as clock

pytestmark = pytest.mark.asyncio

SIDE_BY_SIDE: dict[str, list[str]] = {name: [] for name in "abcd"}
FAN: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["a"]}
PRICES = {"scripted": Price(input=1.0, output=10.0)}


def spent(reply: Scripted) -> Scripted:
    """The same reply, for sixty tokens."""
    return replace(reply, usage=SPENT)


class Nothing(ToolParameters):
    pass


def two_turns(bench: Bench, tasks: int) -> Callable[[dict[str, Any]], Scripted]:
    """A model for that many tasks, none of which takes its second turn before all took one."""
    arrived, complete = list[str](), asyncio.Event()

    @tool(category="test", permissions=[], idempotent=True)
    async def meet(parameters: Nothing, context: ToolContext) -> ToolResult:
        """Wait for the others."""
        arrived.append("here")
        if len(arrived) == tasks:
            complete.set()
        await complete.wait()
        return ToolResult("All have met.", "met")

    def answer(body: dict[str, Any]) -> Scripted:
        met = "All have met." in str(body["messages"])
        return spent(text("Done.") if met else call("meet"))

    add_tools(bench, meet)
    return answer


@contextmanager
def asking(bench: Bench, script: Any) -> Iterator[ScriptedServer]:
    with ScriptedServer(script) as model:
        bench.connect(model.base_url)
        yield model


async def tell(bench: Bench, said: str, role: AgentRole = AgentRole.ACTOR) -> Job:
    """The job of a message, once it has ended, which must not take long."""
    return await ended(bench, bench.start(said, role))


def questions(bench: Bench) -> list[str]:
    return [
        str(one.data.model_dump()["question"]) for one in bench.events(EventType.QUESTION_ASKED)
    ]


def stored(bench: Bench) -> Usage:
    return bench.service.jobs.of(bench.context.id)[-1].usage


async def at_the_limit(bench: Bench) -> str:
    """Four tasks side by side that come to the job's limit after one turn each; gives the job."""
    make_plan(bench, SIDE_BY_SIDE)
    job_id = await execute(bench)
    await bench.until(EventType.QUESTION_ASKED)
    return job_id


async def test_tasks_side_by_side_come_to_the_limit_together_and_one_question_is_asked(
    settings: Settings,
) -> None:
    async with bench_with(settings, max_job_tokens=240) as bench:
        with asking(bench, two_turns(bench, 4)) as model:
            job_id = await at_the_limit(bench)
            (asked,) = bench.events(EventType.QUESTION_ASKED)
            words = "The job's limit of 240 tokens (max_job_tokens) was reached. Continue?"
            assert asked.data.model_dump()["question"] == words
            assert [one["value"] for one in asked.data.model_dump()["options"]] == ["go_on", "stop"]
            assert asked.task_id is None
            assert bench.job_statuses() == [JobStatus.WAITING]
            assert len(model.requests) == 4, "the other tasks wait"
            await bench.answer("go_on")
            job = await ended(bench, job_id)
        assert job.status is JobStatus.COMPLETED
        assert len(questions(bench)) == 1
        assert (job.usage.total_tokens, job.usage.turns) == (480, 8)


async def test_stopping_at_the_jobs_limit_ends_it_naming_the_limit_and_asks_nothing_more(
    settings: Settings,
) -> None:
    async with bench_with(settings, max_job_tokens=240) as bench:
        with asking(bench, two_turns(bench, 4)) as model:
            job_id = await at_the_limit(bench)
            await bench.answer("stop")
            job = await ended(bench, job_id)
            assert len(model.requests) == 4
        assert job.error == "The job's limit of 240 tokens (max_job_tokens) was reached."
        assert len(questions(bench)) == 1
        assert set(statuses(bench).values()) == {StepStatus.CANCELLED}
        check_ended_well(bench, JobStatus.CANCELLED)


async def test_headless_the_jobs_limit_ends_a_plan(settings: Settings) -> None:
    async with bench_with(settings, max_job_tokens=240) as bench:
        bench.service.factory.tools.user = Nobody()
        make_plan(bench, SIDE_BY_SIDE)
        with asking(bench, two_turns(bench, 4)):
            job = await ended(bench, await execute(bench))
        assert "(max_job_tokens)" in (job.error or "")
        assert len(bench.messages(MessageType.QUESTION)) == 1
        check_ended_well(bench, JobStatus.FAILED)


async def stopped_after_one_step(bench: Bench) -> str:
    """A job that the user has stopped at its limit, with one of three steps completed."""
    make_plan(bench, FAN)
    job_id = await execute(bench)
    await bench.answer("stop")
    job = await ended(bench, job_id)
    assert job.status is JobStatus.CANCELLED
    done = [task.step_id for task in job.tasks if task.status is StepStatus.COMPLETED]
    assert done == ["a"]
    return job_id


def started(bench: Bench) -> list[str]:
    return [str(one.data.model_dump()["step_id"]) for one in bench.events(EventType.TASK_STARTED)]


async def test_resumed_with_a_raised_limit_the_job_ends_without_repeating_what_is_done(
    settings: Settings,
) -> None:
    async with bench_with(settings, max_job_tokens=60) as bench:
        with asking(bench, lambda _: spent(text("Done."))):
            job_id = await stopped_after_one_step(bench)
            before = len(started(bench))
            bench.service.plans.resume(job_id, {"max_job_tokens": 180})
            job = await ended(bench, job_id)
        assert job.status is JobStatus.COMPLETED
        assert sorted(started(bench)[before:]) == ["b", "c"]
        assert len(questions(bench)) == 1
        assert job.usage.total_tokens == 180, "what was spent before the stop counts too"
        assert job.usage.limits == {"max_job_tokens": 180}


async def test_resumed_as_it_was_the_job_is_still_at_its_limit(settings: Settings) -> None:
    async with bench_with(settings, max_job_tokens=60) as bench:
        with asking(bench, lambda _: spent(text("Done."))) as model:
            job_id = await stopped_after_one_step(bench)
            bench.service.factory.tools.user = Nobody()
            bench.service.plans.resume(job_id)
            job = await ended(bench, job_id)
            assert job.status is JobStatus.FAILED
            assert len(model.requests) == 1


async def test_limits_of_tasks_can_be_raised_too(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, max_iterations=1) as bench:
        bench.service.factory.tools.user = Nobody()
        look = call("read_file", path="a.py")
        scripted.add(look, look, text("done"))
        job = await tell(bench, "go")
        assert "(max_iterations)" in (job.error or "")
        bench.service.plans.resume(job.id, {"max_iterations": 2})
        job = await ended(bench, job.id)
        assert job.status is JobStatus.COMPLETED


async def test_after_a_crash_the_count_goes_on_and_what_the_user_granted_still_holds(
    settings: Settings, scripted: ScriptedServer
) -> None:
    look = spent(call("read_file", path="a.py"))
    scripted.add(look, look, stall(after=0))
    settings = replace(settings, max_job_tokens=60)
    async with bench_with(settings) as bench:
        job_id = bench.start("go")
        await bench.answer("go_on")
        second = "The job's limit of 120 tokens (max_job_tokens) was reached. Continue?"
        await eventually(lambda: questions(bench)[1:] == [second])
        bench.service.requests.answer(
            bench.service.requests.pending(bench.context.id, "question")[0].id, "go_on"
        )
        await eventually(lambda: len(scripted.requests) == 3)
        seen = stored(bench)
        context = bench.context
    assert (seen.total_tokens, seen.turns) == (120, 2)
    scripted.add(look, text("never"))
    async with bench_with(settings) as bench:
        bench.context = context
        assert bench.service.jobs.get(job_id).status is JobStatus.INTERRUPTED
        bench.service.factory.tools.user = Nobody()
        bench.service.plans.resume(job_id)
        job = await ended(bench, job_id)
        assert job.error == "The job's limit of 180 tokens (max_job_tokens) was reached."
        assert job.usage.total_tokens == 180
        assert job.usage.turns == 4, "the turn that was cut off was one too"


# What is counted


async def test_what_a_job_costs_is_told_with_each_turn_and_in_all(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, prices=PRICES, currency="EUR") as bench:
        scripted.add(spent(call("read_file", path="a.py")), spent(text("done")))
        job = await tell(bench, "go")
        told = [
            (
                one.data.model_dump()["cost"],
                one.data.model_dump()["currency"],
                one.data.model_dump()["turns"],
                one.data.model_dump()["model"],
            )
            for one in bench.events(EventType.USAGE)
        ]
        assert told == [(0.00015, "EUR", 1, "scripted")] * 2
        assert (job.usage.cost, job.usage.currency) == (0.0003, "EUR")


async def test_without_a_price_the_cost_is_unknown_and_not_nothing(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings) as bench:
        scripted.add(spent(text("done")))
        job = await tell(bench, "go")
        assert job.usage.cost is None
        assert bench.events(EventType.USAGE)[0].data.model_dump()["cost"] is None


async def test_the_limit_of_money_is_named_with_its_currency(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, prices=PRICES, max_cost=0.0001) as bench:
        bench.service.factory.tools.user = Nobody()
        scripted.add(spent(call("read_file", path="a.py")), text("never"))
        job = await tell(bench, "go")
        assert job.error == "The job's limit of 0.0001 USD (max_cost) was reached."


async def test_that_a_limit_of_money_cannot_be_kept_is_said_once(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, max_cost=1.0) as bench:
        scripted.add(spent(call("read_file", path="a.py")), spent(text("done")))
        await tell(bench, "go")
        (notice,) = bench.events(EventType.NOTICE)
        assert notice.data.model_dump()["code"] == "no_price"
        assert "'scripted'" in notice.data.model_dump()["message"]


async def test_tokens_of_a_server_that_does_not_tell_are_estimated_and_marked_so(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, prices=PRICES) as bench:
        scripted.add(text("A short answer."))
        job = await tell(bench, "go")
        assert job.usage.estimated
        assert job.usage.total_tokens > job.usage.completion_tokens > 0
        assert (job.usage.cost or 0) > 0


async def test_a_request_that_failed_is_a_turn_but_no_tokens(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings) as bench:
        scripted.add(Scripted(status=400, error={"error": {"message": "No."}}))
        job = await tell(bench, "go")
        assert (job.usage.turns, job.usage.total_tokens) == (1, 0)
        assert bench.events(EventType.USAGE) == []


async def test_seconds_of_all_turns_and_tools_add_up_also_of_the_last_one(
    bench: Bench, scripted: ScriptedServer, clock: Clock
) -> None:
    *most, last = turns(bench, clock, 3)
    final = replace(last, text=last.text.replace('"terminate": false', '"terminate": true'))
    assert final != last
    scripted.add(*most, final)
    job = await tell(bench, "go")
    assert job.status is JobStatus.COMPLETED
    assert job.usage.seconds == 18


async def test_what_a_delegate_works_counts_once_and_not_for_who_waits_for_it(
    settings: Settings, clock: Clock
) -> None:
    async with bench_with(settings, max_seconds=10.0) as bench:
        script = by_role(
            commander=[call("delegate", role="reviewer", task=str(number)) for number in range(2)]
            + [text("All done.")],
            reviewer=[*turns(bench, clock, 1), text("Fine."), *turns(bench, clock, 1), text("Ok.")],
        )
        with asking(bench, script):
            job = await tell(bench, "lead", AgentRole.COMMANDER)
        assert (job.status, job.usage.seconds) == (JobStatus.COMPLETED, 12)


async def test_a_delegate_spends_from_the_same_budget_and_its_end_ends_the_job(
    settings: Settings,
) -> None:
    async with bench_with(settings, max_job_iterations=2) as bench:
        bench.service.factory.tools.user = Nobody()
        look = call("read_file", path="a.py")
        script = by_role(
            commander=[call("delegate", role="reviewer", task="Look"), text("never")],
            reviewer=[look, text("never")],
        )
        with asking(bench, script):
            job = await tell(bench, "lead", AgentRole.COMMANDER)
        assert job.error == "The job's limit of 2 model turns (max_job_iterations) was reached."
        assert len(bench.messages(MessageType.QUESTION)) == 1


async def test_time_in_which_the_user_thinks_about_handing_a_task_over_does_not_count(
    settings: Settings, clock: Clock
) -> None:
    async with bench_with(settings, max_seconds=10.0, max_job_seconds=10.0) as bench:
        script = by_role(
            commander=[call("delegate", role="actor", task="Do it"), text("Done.")],
            actor=[text("I did it.")],
        )
        with asking(bench, script):
            job_id = bench.start("lead", AgentRole.COMMANDER)
            await bench.until(EventType.QUESTION_ASKED)
            clock.now += 10_000
            await bench.answer("allow")
            job = await ended(bench, job_id)
        assert (job.status, job.usage.seconds) == (JobStatus.COMPLETED, 0)


# What is resumed


async def test_a_message_is_resumed_in_the_role_that_it_was_sent_to(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(Scripted(status=400, error={"error": {"message": "No."}}))
    job = await tell(bench, "Plan it", AgentRole.PLANNER)
    assert bench.service.conversations.get(bench.context.id).role is AgentRole.PLANNER
    scripted.add(call("create_file", path="b.txt", content="x"), text("I may not."))
    assert (await resumed(bench, job)).status is JobStatus.COMPLETED
    assert not (bench.workspace / "b.txt").exists()
    assert bench.results()[0]["error"]["code"] == "not_permitted"


async def test_a_job_that_delegated_is_not_resumed_as_a_plan_that_nobody_approved(
    bench: Bench,
) -> None:
    make_plan(bench, {"a": []})
    failing = Scripted(status=400, error={"error": {"message": "No."}})
    script = by_role(
        commander=[call("delegate", role="reviewer", task="Look"), failing, text("All is well.")],
        reviewer=[text("Fine.")],
    )
    with asking(bench, script):
        job = await tell(bench, "lead", AgentRole.COMMANDER)
        assert job.status is JobStatus.FAILED
        assert job.tasks
        job = await resumed(bench, job)
    assert job.status is JobStatus.COMPLETED
    assert statuses(bench) == {"a": StepStatus.PENDING}


async def resumed(bench: Bench, job: Job) -> Job:
    bench.service.plans.resume(job.id)
    return await ended(bench, job.id)


async def test_planning_is_limited_like_all_work(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, max_job_iterations=1) as bench:
        scripted.add(call("read_file", path="a.py"), plan("Tidy up", "Look"))
        job_id = bench.start("Plan it", AgentRole.PLANNER)
        await bench.answer("go_on")
        assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
        assert bench.service.plans.find(bench.context.id)
