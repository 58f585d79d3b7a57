"""What waits for the user: one rule for a job's status, and nothing is lost with the process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import pytest

from cowork_jupyter.agents.ask.pending_requests import urgency
from cowork_jupyter.agents.ask.user import Ruling
from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.errors import Conflict
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.replies import Question
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.store import PlanRevision, UserRequest

from ...scripted import Scripted, ScriptedServer, call, result, stall, text
from . import survivor
from .conftest import Bench
from .helpers import bench_with, ended, eventually
from .test_loop import QUESTION

pytestmark = pytest.mark.asyncio

DENY = Ruling(decision="deny")
STEPS: list[dict[str, Any]] = [
    {"id": one, "action": f"do {one}", "files": [f"{one}.txt"], "depends_on": []}
    for one in ("a", "b")
]


def save_plan(service: CoworkService, context_id: str, *steps: dict[str, Any]) -> None:
    made = Plan.model_validate({"goal": "g", "steps": list(steps)})
    with service.journal.transaction() as tx:
        tx.save_plan(PlanRevision(context_id=context_id, revision=1, plan=made))


def words(model: ScriptedServer, number: int = -1) -> str:
    return json.dumps(model.requests[number].body["messages"])


async def both_open(bench: Bench) -> tuple[str, UserRequest, UserRequest]:
    """A job in which one step waits for an answer, and the other for permission."""
    service, context_id = bench.service, bench.context.id
    service.factory.tools.gate.approver = service.requests
    save_plan(service, context_id, *STEPS)
    job_id = (await service.execute_plan(context_id, 1)).id
    await eventually(lambda: len(service.requests.waiting()) == 2)
    (question,) = service.requests.pending(context_id, "question")
    (request,) = service.requests.pending(context_id, "permission")
    assert service.jobs.get(job_id).status is JobStatus.WAITING
    return job_id, question, request


@pytest.mark.parametrize("question_first", [True, False])
async def test_a_job_waits_as_long_as_anything_of_it_does(
    bench: Bench, scripted: ScriptedServer, question_first: bool
) -> None:
    scripted.add(QUESTION, call("execute_command", command="pip install pyarrow"))
    scripted.add(stall(after=0), stall(after=0))
    job_id, question, request = await both_open(bench)
    service = bench.service

    def answer() -> None:
        service.requests.answer(question.id, "a")

    def deny() -> None:
        service.requests.resolve_all([request.id], DENY)

    first, second = (answer, deny) if question_first else (deny, answer)
    first()
    assert service.jobs.get(job_id).status is JobStatus.WAITING
    second()
    assert service.jobs.get(job_id).status is JobStatus.RUNNING
    await service.jobs.cancel(job_id)


async def test_a_question_cannot_be_decided_nor_a_request_answered(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, call("execute_command", command="pip install pyarrow"))
    job_id, question, request = await both_open(bench)
    for wrong in (
        lambda: bench.service.requests.answer(request.id, "a"),
        lambda: bench.service.requests.resolve_all([question.id], DENY),
    ):
        with pytest.raises(Exception, match="There is no"):
            wrong()
    await bench.service.jobs.cancel(job_id)


async def test_another_process_does_not_answer_for_the_one_that_waits(
    bench: Bench, scripted: ScriptedServer, settings: Settings
) -> None:
    scripted.add(QUESTION, text("Thanks."))
    job_id = bench.start("go")
    await bench.until(EventType.QUESTION_ASKED)
    other = build_service(settings)
    ((question, _),) = other.requests.waiting()
    with pytest.raises(Conflict):
        other.requests.answer(question.id, "a")
    await other.close()
    bench.service.requests.answer(question.id, "a")
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED


@contextmanager
def killed(settings: Settings, context_id: str, plan_revision: int = 0) -> Iterator[str]:
    """The job of a process that was killed while its question was open."""
    processes = get_context("forkserver")
    processes.set_forkserver_preload([survivor.__name__])
    pipe, far_end = processes.Pipe(duplex=False)
    arguments = (settings, context_id, far_end, plan_revision)
    process = processes.Process(target=survivor.ask, args=arguments)
    process.start()
    far_end.close()
    with pipe:
        assert pipe.poll(60), "it asks nothing"
        job_id = pipe.recv()
        process.kill()
        process.join()
    yield job_id


async def new_context(settings: Settings, *steps: dict[str, Any]) -> str:
    service = build_service(settings)
    context_id = service.conversations.create().id
    if steps:
        save_plan(service, context_id, *steps)
    await service.close()
    return context_id


@pytest.mark.process
@pytest.mark.parametrize("answered", ["before", "after"], ids=lambda when: f"{when} resuming")
async def test_an_answer_after_kill_9_reaches_the_model_once_and_the_job_goes_on(
    settings: Settings, scripted: ScriptedServer, answered: str
) -> None:
    scripted.add(QUESTION, text("B it is."))
    context_id = await new_context(settings)
    with killed(settings, context_id) as job_id:
        service = build_service(settings)
        assert service.jobs.get(job_id).status is JobStatus.INTERRUPTED
        (question,) = service.requests.pending(context_id, "question")
        if answered == "before":
            service.requests.answer(question.id, "b")
            assert service.jobs.get(job_id).status is JobStatus.RUNNING
        else:
            service.plans.resume(job_id)
            assert service.jobs.get(job_id).status is JobStatus.WAITING
            assert service.requests.pending(context_id, "question") == [question]
            service.requests.answer(question.id, "b")
        assert (await service.jobs.wait(job_id)).status is JobStatus.COMPLETED
    asked, told = scripted.requests
    assert "Answer to" not in json.dumps(asked.body["messages"])
    assert json.dumps(told.body["messages"], ensure_ascii=False).count("Answer to “Which?”: b") == 1
    assert len(service.journal.store.job_requests(job_id)) == 1
    await service.close()


@pytest.mark.process
async def test_the_model_is_not_asked_again_before_the_answer(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, text("B it is."))
    context_id = await new_context(settings)
    with killed(settings, context_id) as job_id:
        service = build_service(settings)
        (question,) = service.requests.pending(context_id, "question")
        service.plans.resume(job_id)
        await eventually(lambda: question.id in service.requests._waiting)
        assert len(scripted.requests) == 1
        service.requests.answer(question.id, "b")
        await service.jobs.wait(job_id)
    assert len(scripted.requests) == 2
    await service.close()


def fails_at_b(body: dict[str, Any]) -> Scripted:
    said = json.dumps(body["messages"])
    return result("failed", "It is locked.") if "The step: do b" in said else text("Done.")


CHAIN: list[dict[str, Any]] = [
    {"id": "a", "action": "do a"},
    {"id": "b", "action": "do b", "depends_on": ["a"]},
    {"id": "c", "action": "do c", "depends_on": ["b"]},
]


@pytest.mark.process
@pytest.mark.parametrize("way", ["answer", "skip task", "after resuming"])
async def test_a_failed_step_is_skipped_as_the_user_chose_after_kill_9(
    settings: Settings, way: str
) -> None:
    context_id = await new_context(settings, *CHAIN)
    with ScriptedServer(fails_at_b) as model:
        settings = survivor.settings_of(settings.workspace.parent, model.base_url)
        with killed(settings, context_id, plan_revision=1) as job_id:
            service = build_service(settings)
            before = len(model.requests)
            (question,) = service.requests.pending(context_id, "question")
            assert "failed: do b" in question.data["question"]
            if way == "skip task":
                service.plans.decide(job_id, question.task_id or "", "skip")
            elif way == "answer":
                service.requests.answer(question.id, "skip")
            else:
                service.plans.resume(job_id)
                service.requests.answer(question.id, "skip")
            job = await service.jobs.wait(job_id)
        assert len(model.requests) == before + 1, "only c was still to do"
    assert job.status is JobStatus.COMPLETED
    done, skipped = StepStatus.COMPLETED, StepStatus.SKIPPED
    assert [task.status for task in job.tasks] == [done, skipped, done]
    assert job.tasks[1].error == "It is locked."
    assert len(service.journal.store.job_requests(job_id)) == 1
    await service.close()


async def test_a_hint_asked_for_before_a_restart_is_given_to_the_step(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(result("failed", "It is locked."), text("Done now."))
    async with bench_with(settings) as bench:
        context_id = bench.context.id
        save_plan(bench.service, context_id, CHAIN[0])
        job_id = (await bench.service.execute_plan(context_id, 1)).id
        await bench.answer("hint")
        await eventually(lambda: len(bench.events(EventType.QUESTION_ASKED)) == 2)
    service = build_service(settings)
    (question,) = service.requests.pending(context_id, "question")
    service.requests.answer(question.id, "Use the other file.")
    assert (await service.jobs.wait(job_id)).status is JobStatus.COMPLETED
    assert len(scripted.requests) == 2
    assert "Use the other file." in words(scripted)
    await service.close()


async def test_a_call_allowed_after_a_restart_runs_without_more_ado(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(call("execute_command", command="pip install pyarrow"), text("Done."))
    async with bench_with(settings) as bench:
        bench.service.factory.tools.gate.approver = bench.service.requests
        job_id = bench.start("go")
        await bench.until(EventType.PERMISSION_REQUEST)
        context_id = bench.context.id
    service = build_service(settings)
    (request,) = service.requests.pending(context_id, "permission")
    service.requests.resolve_all([request.id], DENY)
    assert (await service.jobs.wait(job_id)).status is JobStatus.COMPLETED
    await service.close()


async def test_an_answer_waits_while_another_job_runs(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, stall(after=0))
    async with bench_with(settings) as bench:
        job_id = bench.start("go")
        await bench.until(EventType.QUESTION_ASKED)
        context_id = bench.context.id
    service = build_service(settings)
    (question,) = service.requests.pending(context_id, "question")
    other = service.send_message(context_id, "something else").job_id or ""
    service.requests.answer(question.id, "b")
    assert service.jobs.get(job_id).status is JobStatus.INTERRUPTED
    await service.jobs.cancel(other)
    await service.close()


@pytest.mark.parametrize(
    ("value", "status"), [("go_on", JobStatus.COMPLETED), ("stop", JobStatus.CANCELLED)]
)
async def test_a_limit_that_was_asked_about_is_not_asked_about_again(
    settings: Settings, scripted: ScriptedServer, value: str, status: JobStatus
) -> None:
    scripted.add(call("read_file", path="a.py"), text("Done."))
    async with bench_with(settings, max_iterations=1) as bench:
        job_id = bench.start("go")
        await bench.until(EventType.QUESTION_ASKED)
        context_id = bench.context.id
    service = build_service(settings)
    (question,) = service.requests.pending(context_id, "question")
    service.requests.answer(question.id, value)
    assert (await service.jobs.wait(job_id)).status is status
    assert len(service.journal.store.job_requests(job_id)) == 1
    await service.close()


async def test_the_same_question_of_the_same_task_is_taken_up_and_used_once(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(stall(after=0))
    service, job_id = bench.service, bench.start("go")
    log = RunLog(service.journal, bench.context.id, job_id, AgentRole.ACTOR)
    same = Question(question="Hand over?")
    with service.journal.transaction() as tx:
        data = same.model_dump(mode="json")
        tx.save_request(UserRequest(id="q1", context_id=log.context_id, job_id=job_id, data=data))
        place = (log.context_id, job_id)
        another = UserRequest(id="q2", context_id=place[0], job_id=place[1], task_id="t", data=data)
        tx.save_request(another)
    service.requests.answer("q1", "yes")
    assert await service.requests.ask(same, log) == "yes"
    assert bench.events(EventType.QUESTION_ASKED) == []
    assert len(bench.messages(MessageType.TEXT)) == 2  # the request, and the answer once
    assert service.requests.open_question("model", log) is None
    await service.jobs.cancel(job_id)
    assert service.requests.pending(bench.context.id, "question") == []


def permission(risk: str) -> UserRequest:
    return UserRequest(id=risk, kind="permission", context_id="c", data={"risk": risk})


def question(severity: str, **more: Any) -> UserRequest:
    return UserRequest(id=severity, context_id="c", data={"severity": severity}, **more)


ORDER = [
    permission("high"),
    permission("medium"),
    permission("low"),
    question("minor", asker="step"),
    question("critical"),
    question("major", asker="limits"),
    question("minor", asker="model"),
]


@pytest.mark.parametrize("turn", range(len(ORDER)))
async def test_calls_come_first_by_risk_then_failed_steps_then_questions_by_severity(
    turn: int,
) -> None:
    mixed = [*ORDER[turn:], *ORDER[:turn]]
    assert sorted(mixed, key=urgency) == ORDER


async def test_of_equals_the_oldest_stays_first() -> None:
    first, second = question("major"), question("major")
    second.id = "second"
    assert sorted([first, second], key=urgency) == [first, second]


async def test_a_risk_that_nobody_knows_counts_as_high() -> None:
    assert urgency(permission("enormous")) == urgency(permission("high"))
