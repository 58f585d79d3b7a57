"""Plans whose steps have roles, and reviews that send work back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import Job, JobStatus, StepStatus
from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType, TaskAssignmentData
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.workflows import Draft
from tests.scripted import Scripted, ScriptedServer, call, plan, stall, text

from .conftest import Bench
from .helpers import ended, eventually
from .test_pending_requests import killed, new_context

pytestmark = pytest.mark.asyncio

BUILD = {
    "id": "build",
    "action": "double the answer",
    "tools_needed": ["write"],
    "files": ["a.py"],
    "role": "actor",
}
TEST = {
    "id": "test",
    "action": "try it",
    "tools_needed": ["execute"],
    "depends_on": ["build"],
    "role": "tester",
}
REVIEW = {
    "id": "review",
    "action": "judge it",
    "depends_on": ["test"],
    "role": "reviewer",
    "rounds": 2,
}
TEAM = [BUILD, TEST, REVIEW]
PEOPLE = {"double the answer": "build", "try it": "test", "judge it": "review"}


def review(verdict: str, *findings: str, severity: str = "major") -> Scripted:
    found = [{"file": "a.py", "severity": severity, "comment": one} for one in findings]
    said = {"type": "review", "summary": "Read it.", "verdict": verdict, "findings": found}
    return text(json.dumps(said))


def step_of(body: dict[str, Any]) -> str:
    said = json.dumps(body["messages"])
    return next(step for words, step in PEOPLE.items() if f"The step: {words}" in said)


def team(
    *reviews: Scripted, **others: Callable[[], Scripted | None]
) -> Callable[[dict[str, Any]], Scripted]:
    """A model that works in all roles; each review is the next of these."""
    to_come = iter(reviews)
    number = iter(range(43, 99))

    def answer(body: dict[str, Any]) -> Scripted:
        step = step_of(body)
        if step in others and (reply := others[step]()):
            return reply
        if step == "review":
            return next(to_come)
        if step == "build":
            now = next(number)
            return call(
                "update_file",
                terminate=True,
                path="a.py",
                old_text=f"answer = {now - 1}",
                new_text=f"answer = {now}",
            )
        return call("execute_command", terminate=True, command="cat a.py")

    return answer


def propose(bench: Bench, steps: list[dict[str, Any]] | None = None) -> int:
    made = {"goal": "Double it", "steps": steps or TEAM}
    return bench.service.plans.edit(bench.context.id, made, 0).revision


async def carried_out(bench: Bench, model: ScriptedServer) -> Job:
    bench.connect(model.base_url)
    job = await bench.service.execute_plan(bench.context.id, 1)
    return await ended(bench, job.id)


def rounds_of(job: Job) -> list[tuple[str, int]]:
    return [(task.step_id, task.round) for task in job.tasks]


def told(bench: Bench, step: str) -> list[str]:
    """What agents were told, each time that they got the step."""
    return [
        message.text
        for message in bench.messages(MessageType.TASK_ASSIGNMENT)
        if isinstance(message.data, TaskAssignmentData)
        and message.data.step
        and message.data.step.id == step
    ]


@pytest.mark.process
async def test_each_step_runs_in_its_role(bench: Bench) -> None:
    propose(bench)
    with ScriptedServer(team(review("approve"))) as model:
        job = await carried_out(bench, model)
        prompts = [request.body["messages"][0]["content"] for request in model.requests]
    assert job.status is JobStatus.COMPLETED
    roles = [AgentRole.ACTOR, AgentRole.TESTER, AgentRole.REVIEWER]
    assert [task.role for task in job.tasks] == roles
    started = bench.events(EventType.TASK_STARTED)
    assert [event.data.model_dump()["role"] for event in started] == roles
    assert "operating in ACTOR role" in prompts[0]
    assert "operating in TESTER role" in prompts[1]
    assert "operating in REVIEWER role" in prompts[-1]
    assert "update_file" not in prompts[-1]
    (judged,) = told(bench, "review")
    assert "Result of step build" in judged
    assert "End with only a review" in judged
    assert (bench.workspace / "a.py").read_text() == "answer = 43\n"


async def test_a_reviewer_that_writes_is_refused_and_the_disk_stays(bench: Bench) -> None:
    propose(bench, [{**REVIEW, "depends_on": [], "rounds": 0}])
    replies = iter([call("update_file", path="a.py", old_text="42", new_text="0"), text("Hm.")])
    with ScriptedServer(lambda _: next(replies)) as model:
        job = await carried_out(bench, model)
    assert job.status is JobStatus.COMPLETED
    assert [one["error"]["code"] for one in bench.results()] == ["not_permitted"]
    assert not bench.results()[0]["error"]["retryable"]
    assert (bench.workspace / "a.py").read_text() == "answer = 42\n"


@pytest.mark.process
async def test_what_a_review_finds_is_the_next_step_until_it_approves(bench: Bench) -> None:
    propose(bench)
    approval = review("approve", "A typo.", severity="minor")
    reviews = [review("request_changes", "Off by one."), approval]
    with ScriptedServer(team(*reviews)) as model:
        job = await carried_out(bench, model)
    assert job.status is JobStatus.COMPLETED
    assert rounds_of(job) == [
        *[(step, 0) for step in ("build", "test", "review")],
        *[(step, 1) for step in ("build", "test", "review")],
    ]
    assert {task.status for task in job.tasks} == {StepStatus.COMPLETED}
    first, again = told(bench, "build")
    assert "Off by one." not in first
    assert "Fix what it found" in again
    assert "Off by one." in again
    assert "check that its findings are resolved" in told(bench, "review")[1]
    assert (bench.workspace / "a.py").read_text() == "answer = 44\n"


@pytest.mark.process
async def test_a_review_that_approves_in_words_and_finds_what_matters_sends_back(
    bench: Bench,
) -> None:
    propose(bench)
    reviews = [review("approve", "It loses rows.", severity="HIGH"), review("approve")]
    with ScriptedServer(team(*reviews)) as model:
        job = await carried_out(bench, model)
    assert max(task.round for task in job.tasks) == 1


@pytest.mark.process
async def test_work_is_sent_back_twice_at_most_and_then_the_user_decides(bench: Bench) -> None:
    propose(bench)
    reviews = [review("request_changes", f"Finding {n}.") for n in range(3)]
    with ScriptedServer(team(*reviews)) as model:
        bench.connect(model.base_url)
        started = await bench.service.execute_plan(bench.context.id, 1)
        asked = await bench.until(EventType.QUESTION_ASKED)
        bench.service.requests.answer(asked.data.model_dump()["id"], "accept")
        job = await ended(bench, started.id)
    assert job.status is JobStatus.COMPLETED
    assert max(task.round for task in job.tasks) == 2
    assert "still asks for changes after two more rounds" in asked.data.model_dump()["question"]
    found = await bench.service.audit(bench.context.id)
    assert [step.actual.rounds for step in found.steps] == [2, 2, 2]
    kinds = [deviation.kind for step in found.steps for deviation in step.deviations]
    assert kinds == ["open_findings"]
    assert found.totals.steps == 3


async def test_a_review_without_rounds_is_handed_on(bench: Bench) -> None:
    fix = {"id": "fix", "action": "double the answer", "depends_on": ["look"], "role": "actor"}
    look = {"id": "look", "action": "judge it", "role": "reviewer"}
    propose(bench, [look, fix])
    replies = iter([review("request_changes", "Off by one."), text("Fixed.")])
    with ScriptedServer(lambda _: next(replies)) as model:
        job = await carried_out(bench, model)
    assert job.status is JobStatus.COMPLETED
    assert "Off by one." in told(bench, "fix")[0]


@pytest.mark.process
async def test_a_reviewer_that_gives_no_review_is_not_taken_for_approval(bench: Bench) -> None:
    propose(bench)
    with ScriptedServer(team(text("Looks fine to me."))) as model:
        bench.connect(model.base_url)
        started = await bench.service.execute_plan(bench.context.id, 1)
        asked = await bench.until(EventType.QUESTION_ASKED)
        bench.service.requests.answer(asked.data.model_dump()["id"], "stop")
        job = await ended(bench, started.id)
    assert job.status is JobStatus.FAILED
    assert "gave no review" in asked.data.model_dump()["question"]


@pytest.mark.process
@pytest.mark.parametrize("anew", [False, True], ids=["resumed", "executed anew"])
async def test_a_round_that_was_stopped_goes_on_where_it_was(bench: Bench, anew: bool) -> None:
    propose(bench)
    is_slow = True

    def slowly() -> Scripted | None:
        in_round = len(told(bench, "test")) == 2
        return stall(after=0) if is_slow and in_round else None

    reviews = [review("request_changes", "Off by one."), review("approve")]
    with ScriptedServer(team(*reviews, test=slowly)) as model:
        bench.connect(model.base_url)
        started = await bench.service.execute_plan(bench.context.id, 1)
        await eventually(lambda: len(told(bench, "test")) == 2)
        stopped = await bench.service.jobs.cancel(started.id)
        states = {task.step_id: task.status for task in stopped.tasks}
        assert states == {
            "build": StepStatus.COMPLETED,
            "test": StepStatus.CANCELLED,
            "review": StepStatus.PENDING,
        }
        is_slow = False
        if anew:
            started = await bench.service.execute_plan(bench.context.id, 1)
        else:
            bench.service.plans.resume(started.id)
        job = await ended(bench, started.id)
    assert job.status is JobStatus.COMPLETED
    assert [task.round for task in job.tasks][-2:] == [1, 1]
    assert len(told(bench, "build")) == 2
    assert "Off by one." in told(bench, "test")[2]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tools_needed": ["update_file"]}, "steps[2].tools_needed: the reviewer has no tool 'upd"),
        ({"tools_needed": ["write"]}, "steps[2].tools_needed: the reviewer has no tool 'write_f"),
        ({"role": "wizard"}, "steps[2].role"),
        ({"role": "commander", "rounds": 0}, "steps[2].role: the commander leads"),
        ({"agent": "nobody"}, "steps[2].agent: there is no external agent 'nobody'"),
        ({"rounds": 3}, "steps[2].rounds"),
        ({"role": "tester"}, "steps[2].rounds: only a step of the reviewer"),
        ({"depends_on": []}, "steps[2].rounds: no step before it can change files"),
    ],
)
async def test_a_plan_that_gives_steps_to_the_wrong_people_is_refused(
    bench: Bench, change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        propose(bench, [BUILD, TEST, {**REVIEW, **change}])
    assert caught.value.code == "invalid_plan"
    assert problem in caught.value.message


async def test_a_model_that_gives_them_to_the_wrong_people_is_put_right(bench: Bench) -> None:
    steps: list[dict[str, Any]] = [
        {**BUILD, "role": "Actor"},
        {**TEST, "tools_needed": ["execute"]},
        {**REVIEW, "tools_needed": ["update_file", "read_file"], "agent": "nobody", "rounds": 9},
        {"id": "lead", "action": "lead on", "role": "commander", "depends_on": ["review"]},
    ]
    with ScriptedServer(lambda _: plan("Double it", *steps)) as model:
        bench.connect(model.base_url)
        await bench.tell("Plan it.", AgentRole.COMMANDER)
    made = bench.service.plans.find(bench.context.id)
    assert made
    build, test, judge, lead = made.plan.steps
    assert (build.role, test.role, judge.role, lead.role) == (
        AgentRole.ACTOR,
        AgentRole.TESTER,
        AgentRole.REVIEWER,
        None,
    )
    assert (judge.tools_needed, judge.agent, judge.rounds) == (["read_file"], "", 2)
    (notice,) = bench.events(EventType.NOTICE)
    said = notice.data.model_dump()["message"]
    for words in ("'update_file'", "'nobody'", "twice at most", "commander"):
        assert words in said


QUESTION = text(
    json.dumps(
        {"type": "question", "question": "Which way?", "options": [{"label": "A", "value": "a"}]}
    )
)


@pytest.mark.process
async def test_a_process_that_is_killed_in_the_middle_of_a_round_loses_none_of_it(
    settings: Settings,
) -> None:
    asked = iter([None, QUESTION])  # in the second round

    def ask() -> Scripted | None:
        return next(asked, None)

    reviews = [review("request_changes", "Off by one."), review("approve")]
    run = {**TEST, "tools_needed": []}
    look = call("read_file", terminate=True, path="a.py")
    with ScriptedServer(team(*reviews, test=lambda: ask() or look)) as model:
        here = replace(settings, base_url=model.base_url)
        context_id = await new_context(here, BUILD, run, REVIEW)
        with killed(here, context_id, 1) as job_id:
            service = build_service(here)
            stopped = service.jobs.get(job_id)
            assert stopped.status is JobStatus.INTERRUPTED
            assert [task.round for task in stopped.tasks] == [0, 0, 0, 1, 1, 1]
            (question,) = service.requests.pending(context_id, "question")
            service.requests.answer(question.id, "a")
            job = await service.jobs.wait(job_id)
    assert job.status is JobStatus.COMPLETED
    assert rounds_of(job) == [(step, n) for n in (0, 1) for step in ("build", "test", "review")]
    assert (settings.workspace / "a.py").read_text() == "answer = 44\n"
    await service.close()


async def test_who_does_what_survives_edits_and_templates(bench: Bench) -> None:
    propose(bench)
    shown = bench.service.plans.find(bench.context.id)
    assert shown
    raw = shown.plan.model_dump(mode="json")
    raw["steps"][1]["action"] = "try it twice"
    edited = bench.service.plans.edit(bench.context.id, raw, 1)
    assert edited.change == "1 step changed"
    roles = [AgentRole.ACTOR, AgentRole.TESTER, AgentRole.REVIEWER]
    assert [step.role for step in edited.plan.steps] == roles
    draft = Draft(name="team", title="Team", description="A team.", parameters=[])
    kept = bench.service.reuse.save(draft, raw)
    assert [(step.role, step.rounds) for step in kept.plan.steps] == list(
        zip(roles, [0, 0, 2], strict=True)
    )
