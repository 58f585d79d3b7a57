"""The commander hands tasks to the other roles, with their rights and the user's leave."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from cowork_jupyter.agents.ask.user import Nobody
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.policy.rules import Effect, Scope
from tests.scripted import Scripted, ScriptedServer, call, calls, stall, text

from .conftest import Bench
from .helpers import bench_with, check_ended_well, ended, eventually

pytestmark = pytest.mark.asyncio


def by_role(**replies: list[Scripted]) -> Any:
    """A model that answers by the role it is asked in."""
    queues = {role: iter(several) for role, several in replies.items()}

    def answer(body: dict[str, Any]) -> Scripted:
        system = body["messages"][0]["content"]
        for role, queue in queues.items():
            if f"operating in {role.upper()} role" in system:
                return next(queue)
        raise AssertionError("no such role was expected")

    return answer


async def lead(bench: Bench, *answers: str, **replies: list[Scripted]) -> JobStatus:
    """Run the commander against such a model, answering what is asked."""
    with ScriptedServer(by_role(**replies)) as model:
        bench.connect(model.base_url)
        job_id = bench.start("lead", AgentRole.COMMANDER)
        for answer in answers:
            await bench.answer(answer)
        job = await bench.service.jobs.wait(job_id)
        bench.requests = [one.body for one in model.requests]  # type: ignore[attr-defined]
    return job.status


async def test_a_reader_is_handed_a_task_without_asking_and_its_result_comes_back(
    bench: Bench,
) -> None:
    status = await lead(
        bench,
        commander=[call("delegate", role="reviewer", task="Look at a.py"), text("All is well.")],
        reviewer=[call("read_file", path="a.py"), text("It is fine.")],
    )
    assert status is JobStatus.COMPLETED
    assert bench.events(EventType.QUESTION_ASKED) == []
    last = bench.requests[-1]["messages"][-1]["content"]  # type: ignore[attr-defined]
    assert "It is fine." in last
    said = [one["content"] for one in bench.requests[-1]["messages"][1:]]  # type: ignore[attr-defined]
    assert len(said) == 3, "how the reviewer went about it is not the commander's talk"
    assert str(said).count("It is fine.") == 1
    (result,) = bench.messages(MessageType.TASK_RESULT)
    assert result.agent_role is AgentRole.REVIEWER
    kinds = [one.type for one in bench.events(EventType.TASK_STARTED, EventType.TASK_COMPLETED)]
    assert kinds == [EventType.TASK_STARTED, EventType.TASK_COMPLETED]


async def test_a_plan_and_a_review_come_back_in_words(bench: Bench) -> None:
    steps = [{"action": "Look", "files": ["a.py"]}, {"action": "Write"}]
    finding = {"file": "a.py", "line": 3, "severity": "major", "comment": "Slow.", "suggestion": ""}
    review = {"type": "review", "summary": "Not yet.", "verdict": "request_changes"}
    await lead(
        bench,
        commander=[
            call("delegate", role="planner", task="Plan it"),
            call("delegate", role="reviewer", task="Review it"),
            text("Done."),
        ],
        planner=[text("So:\n" + json.dumps({"type": "plan", "goal": "Be fast", "steps": steps}))],
        reviewer=[text(json.dumps({**review, "findings": [finding]}))],
    )
    plan, found = (one.text for one in bench.messages(MessageType.TASK_RESULT))
    assert plan == "So:\n\nBe fast\n1. Look (a.py)\n2. Write"
    assert found == "Review: request changes. Not yet.\n- a.py:3 (major): Slow."
    tasks = bench.service.jobs.of(bench.context.id)[0].tasks
    assert [task.result for task in tasks] == [plan, found]
    last = bench.requests[-1]["messages"][-1]["content"]  # type: ignore[attr-defined]
    frame = bench.service.factory.prompts.frames.of(bench.context.id)
    assert last == f"Result of delegate:\n{frame.around(found)}"


async def test_who_may_change_things_is_handed_a_task_only_with_the_users_leave(
    bench: Bench,
) -> None:
    create = call("create_file", terminate=True, path="new.txt", content="x")
    status = await lead(
        bench,
        "allow",
        commander=[call("delegate", role="actor", task="Write new.txt"), text("Done.")],
        actor=[create],
    )
    assert status is JobStatus.COMPLETED
    assert (bench.workspace / "new.txt").exists()


async def test_what_the_user_refuses_is_not_handed_over(bench: Bench) -> None:
    await lead(
        bench,
        "deny",
        commander=[call("delegate", role="actor", task="Write new.txt"), text("I may not.")],
    )
    assert bench.results()[0]["error"]["code"] == "delegation_denied"
    assert bench.messages(MessageType.TASK_ASSIGNMENT) == []


async def test_the_delegate_keeps_its_own_ceiling(bench: Bench) -> None:
    await lead(
        bench,
        commander=[call("delegate", role="planner", task="Write new.txt"), text("Hm.")],
        planner=[call("create_file", path="new.txt", content="x"), text("I cannot.")],
    )
    assert not (bench.workspace / "new.txt").exists()
    assert any(one["error"] and one["error"]["code"] == "not_permitted" for one in bench.results())


@pytest.mark.parametrize("role", [role for role in AgentRole if role is not AgentRole.COMMANDER])
async def test_nobody_else_can_delegate(bench: Bench, role: AgentRole) -> None:
    with ScriptedServer([call("delegate", role="actor", task="x"), text("ok")]) as model:
        bench.connect(model.base_url)
        await bench.tell("go", role)
    assert bench.results()[0]["error"]["code"] == "unknown_tool"
    assert "delegate(" not in bench.service.factory.prompt(role, bench.context)


async def test_the_commander_cannot_delegate_to_a_commander(bench: Bench) -> None:
    await lead(
        bench,
        commander=[call("delegate", role="commander", task="Lead"), text("I see.")],
    )
    assert bench.results()[0]["error"]["code"] == "not_delegable"
    assert "delegate(" in bench.service.factory.prompt(AgentRole.COMMANDER, bench.context)


async def test_a_delegate_sees_only_its_task(bench: Bench) -> None:
    await lead(
        bench,
        commander=[call("delegate", role="reviewer", task="Look at a.py"), text("ok")],
        reviewer=[text("Fine.")],
    )
    asked = json.dumps(bench.requests[1]["messages"][1:])  # type: ignore[attr-defined]
    assert "Look at a.py" in asked
    assert "delegate" not in asked


SLOW = Scripted(text="Done.", first_delay=0.3)


def tasks(*several: tuple[str, str], **more: Any) -> Scripted:
    """One reply that delegates each of these tasks."""
    return calls(*(("delegate", {"role": role, "task": task} | more) for role, task in several))


async def lead_at_once(bench: Bench, *several: tuple[str, str], **more: Any) -> int:
    """Delegate these in one reply, with the user's leave; gives how many ran at the same time."""
    queues = {role: [SLOW] * 5 for role, _ in several}
    queues["commander"] = [tasks(*several, **more), text("All done.")]
    with ScriptedServer(by_role(**queues)) as model:
        bench.connect(model.base_url)
        job_id = bench.start("lead", AgentRole.COMMANDER)
        ending = asyncio.ensure_future(bench.service.jobs.wait(job_id))
        while not ending.done():
            for question in bench.service.requests.pending(bench.context.id, "question"):
                bench.service.requests.answer(question.id, "allow")
            await asyncio.wait([ending], timeout=0.01)
    assert [result["ok"] for result in bench.results()] == [True] * len(several)
    assert len(bench.service.jobs.get(job_id).tasks) == len(several)
    assert len({task.step_id for task in bench.service.jobs.get(job_id).tasks}) == len(several)
    running = most = 0
    for event in bench.events(EventType.TASK_STARTED, EventType.TASK_COMPLETED):
        running += 1 if event.type is EventType.TASK_STARTED else -1
        most = max(most, running)
    return most


async def test_tasks_of_one_reply_run_at_the_same_time(settings: Settings) -> None:
    roles = ("planner", "reviewer", "tester", "designer", "actor")
    async with bench_with(settings, max_parallel=5) as bench:
        written = {"designer": "Write a.md", "actor": "Change b.py"}
        several = [(role, written.get(role, "Look at a.md")) for role in roles]
        assert await lead_at_once(bench, *several) == 5


async def test_only_so_many_tasks_run_at_the_same_time(settings: Settings) -> None:
    async with bench_with(settings, max_parallel=2) as bench:
        assert await lead_at_once(bench, *[("reviewer", "Look")] * 4) == 2


@pytest.mark.parametrize(
    ("several", "files", "together"),
    [
        ([("actor", "Change a.py"), ("actor", "Change b.py")], [], 2),
        ([("actor", "Change a.py"), ("designer", "Add a.py")], [], 1),
        ([("actor", "Change the rest"), ("designer", "Add b.py")], [], 1),
        ([("actor", "Change one thing"), ("actor", "Change another")], [], 1),
        ([("actor", "Change a.py"), ("actor", "Change b.py")], ["data"], 1),
        ([("reviewer", "Look at a.py"), ("actor", "Change a.py")], [], 2),
        ([("tester", "Test a.py"), ("actor", "Change the rest")], [], 2),
    ],
)
async def test_tasks_that_may_write_the_same_files_run_one_by_one(
    bench: Bench, several: list[tuple[str, str]], files: list[str], together: int
) -> None:
    assert await lead_at_once(bench, *several, files=files) == together


async def test_who_only_looks_does_not_wait_for_the_users_leave_to_others(bench: Bench) -> None:
    replies = by_role(
        commander=[tasks(("actor", "Write new.txt"), ("reviewer", "Look")), text("Done.")],
        reviewer=[text("Fine.")],
        actor=[CREATE],
    )
    with ScriptedServer(replies) as model:
        bench.connect(model.base_url)
        job_id = bench.start("lead", AgentRole.COMMANDER)
        await bench.until(EventType.TASK_COMPLETED)
        assert not (bench.workspace / "new.txt").exists()
        await bench.answer("allow")
        assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    assert (bench.workspace / "new.txt").exists()


async def test_stopping_stops_all_tasks_that_run_at_the_same_time(bench: Bench) -> None:
    replies = by_role(
        commander=[tasks(("reviewer", "Look"), ("planner", "Think"))],
        reviewer=[stall()],
        planner=[stall()],
    )
    with ScriptedServer(replies) as model:
        bench.connect(model.base_url)
        job_id = bench.start("lead", AgentRole.COMMANDER)
        await eventually(lambda: len(bench.events(EventType.TASK_STARTED)) == 2)
        await bench.service.jobs.cancel(job_id)
    check_ended_well(bench, JobStatus.CANCELLED)


WRITE = call("delegate", role="actor", task="Write new.txt")
CREATE = call("create_file", terminate=True, path="new.txt", content="x")


def leave(bench: Bench) -> None:
    tools = bench.service.factory.tools
    tools.user = tools.gate.approver = Nobody()


async def lead_alone(bench: Bench, *allowed: str) -> dict[str, Any]:
    """Nobody is there, only a policy; gives the result of delegating to the actor."""
    leave(bench)
    replies = by_role(commander=[WRITE, text("Done.")], actor=[CREATE])
    policy = {"permissions": {"allow": list(allowed)}}
    with ScriptedServer(replies) as model:
        bench.connect(model.base_url)
        sent = bench.service.send_message(
            bench.context.id, "Lead.", AgentRole.COMMANDER, policy=policy
        )
        await bench.service.jobs.wait(str(sent.job_id))
    return bench.results()[-1]


@pytest.mark.parametrize("rule", ["delegate", "delegate(actor)"])
async def test_where_nobody_can_be_asked_a_policy_allows_delegating(
    bench: Bench, rule: str
) -> None:
    assert (await lead_alone(bench, rule, "create_file"))["ok"]
    assert (bench.workspace / "new.txt").exists()
    assert bench.messages(MessageType.QUESTION) == [], "nothing is asked that is decided"


async def test_a_policy_that_allows_delegating_allows_nothing_else(bench: Bench) -> None:
    await lead_alone(bench, "delegate")
    assert not (bench.workspace / "new.txt").exists()


@pytest.mark.parametrize("rules", [[], ["delegate(tester)"]])
async def test_where_nobody_can_be_asked_the_reason_names_the_rule_that_would_allow_it(
    bench: Bench, rules: list[str]
) -> None:
    error = (await lead_alone(bench, *rules))["error"]
    assert error["code"] == "delegation_denied"
    assert error["message"] == (
        "Nobody can be asked: Delegating to the actor, which may do more than read, asks first. "
        "To allow it, use a policy file that allows delegate(actor)."
    )
    (notice,) = bench.events(EventType.NOTICE)
    assert notice.data.model_dump()["code"] == "denied_headless", "which scripts look for"


@pytest.mark.parametrize("effect", [Effect.DENY, Effect.ASK])
async def test_a_stricter_rule_wins_over_a_policy_that_allows_delegating(
    bench: Bench, effect: Effect
) -> None:
    bench.service.rules.add(effect, "delegate(actor)", Scope.GLOBAL)
    error = (await lead_alone(bench, "delegate"))["error"]
    assert f"The rule '{effect} delegate(actor) (global)'" in error["message"]


async def test_a_rule_that_denies_a_role_its_tasks_counts_without_asking(bench: Bench) -> None:
    bench.service.rules.add(Effect.DENY, "delegate(actor)", Scope.WORKSPACE)
    await lead(bench, commander=[WRITE, text("I may not.")])
    (result,) = bench.results()
    assert result["error"]["code"] == "denied"
    assert "denies delegating to the actor" in result["error"]["message"]
    assert bench.events(EventType.QUESTION_ASKED) == []


async def test_a_rule_that_allows_delegating_does_not_replace_a_user_who_is_there(
    bench: Bench,
) -> None:
    bench.service.rules.add(Effect.ALLOW, "delegate", Scope.SESSION)
    await lead(bench, "deny", commander=[WRITE, text("I may not.")])
    assert bench.results()[0]["error"]["code"] == "delegation_denied"
