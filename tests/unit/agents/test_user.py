"""Questions to the user: stored, answered once, and only with what they allow."""

from __future__ import annotations

import asyncio
import json

import pytest

from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.errors import Conflict, InvalidInput, NotFound
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.replies import Question
from cowork_jupyter.domain.roles import AgentRole
from tests.scripted import ScriptedServer, stall, text

from .conftest import Bench
from .helpers import PATIENCE, check_ended_well, ended
from .test_loop import QUESTION

pytestmark = pytest.mark.asyncio

OPEN = json.dumps({"type": "question", "question": "What name?"})
CUSTOM = json.dumps(
    {
        "type": "question",
        "question": "Which?",
        "options": [{"label": "A", "value": "a"}],
        "allow_custom": True,
    }
)


async def waiting(bench: Bench) -> tuple[str, str]:
    """A job that waits, and the question it waits for."""
    job_id = bench.start("go")
    return job_id, (await bench.until(EventType.QUESTION_ASKED)).data.model_dump()["id"]


async def test_a_question_is_stored_shown_and_the_job_waits(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION)
    job_id, question_id = await waiting(bench)
    (pending,) = bench.service.journal.store.pending_requests(bench.context.id, "question")
    assert (pending.id, pending.job_id) == (question_id, job_id)
    asked = bench.events(EventType.QUESTION_ASKED)[0].data.model_dump()
    assert {"task_id": None, **asked} == pending.view()
    (message,) = bench.messages(MessageType.QUESTION)
    assert message.text == "Which?"
    assert message.data.model_dump() == {"id": question_id, **pending.data}
    assert bench.job_statuses() == [JobStatus.WAITING]


async def test_a_wrong_option_is_refused_with_the_right_ones_and_the_job_waits_on(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, text("A it is."))
    job_id, question_id = await waiting(bench)
    with pytest.raises(InvalidInput, match="'c' is not one of the options: a, b"):
        bench.service.requests.answer(question_id, "c")
    assert bench.job_statuses() == [JobStatus.WAITING]
    bench.service.requests.answer(question_id, "a")
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED


@pytest.mark.parametrize("question", [OPEN, CUSTOM], ids=["no options", "custom allowed"])
async def test_words_of_ones_own_are_taken_where_allowed(
    bench: Bench, scripted: ScriptedServer, question: str
) -> None:
    scripted.add(text(question), text("Fine."))
    job_id, question_id = await waiting(bench)
    bench.service.requests.answer(question_id, "Something else entirely")
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    assert "Something else entirely" in scripted.requests[1].body["messages"][-1]["content"]


async def test_an_answer_is_stored_and_the_job_runs_on(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, text("word " * 200, delay=0.01))
    _, question_id = await waiting(bench)
    answered = bench.service.requests.answer(question_id, "b")
    assert answered == bench.service.journal.store.user_request(question_id, "question")
    assert (answered.status, answered.answer) == ("answered", {"value": "b"})
    assert answered.resolved_at
    assert bench.job_statuses() == [JobStatus.RUNNING]
    assert bench.events(EventType.QUESTION_ANSWERED)[0].data.model_dump() == {
        "id": question_id,
        "value": "b",
    }


async def test_a_second_answer_is_refused_and_changes_nothing(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, text("A it is."))
    job_id, question_id = await waiting(bench)
    bench.service.requests.answer(question_id, "a")
    with pytest.raises(Conflict) as refused:
        bench.service.requests.answer(question_id, "b")
    assert refused.value.code == "not_waiting"
    await ended(bench, job_id)
    assert bench.service.journal.store.user_request(question_id, "question").answer == {
        "value": "a"
    }
    assert "Answer to “Which?”: a" in scripted.requests[1].body["messages"][-1]["content"]
    answer = bench.messages(MessageType.TEXT)[1]
    facts = {"question_id": question_id, "question": "Which?", "value": "a", "label": "A"}
    assert (answer.role, answer.text) == ("user", "a")
    assert answer.data.model_dump() == {"answer": facts}


async def test_an_answer_after_the_end_is_refused(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(QUESTION)
    job_id, question_id = await waiting(bench)
    await bench.service.jobs.cancel(job_id)
    with pytest.raises(Conflict) as refused:
        bench.service.requests.answer(question_id, "a")
    assert refused.value.code == "not_waiting"
    check_ended_well(bench, JobStatus.CANCELLED)


async def test_a_question_that_settles_itself_is_withdrawn_and_the_job_runs_on(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    job_id, service = bench.start("go"), bench.service
    log = RunLog(service.journal, bench.context.id, job_id, AgentRole.ACTOR)
    asking = asyncio.create_task(service.requests.ask(Question(question="Go on waiting?"), log))
    await bench.until(EventType.QUESTION_ASKED)
    assert bench.job_statuses() == [JobStatus.WAITING]
    asking.cancel()
    await asyncio.wait([asking])
    assert bench.job_statuses() == [JobStatus.RUNNING]
    assert service.requests.pending(bench.context.id, "question") == []
    await service.jobs.cancel(job_id)
    assert bench.job_statuses() == [JobStatus.CANCELLED]


async def test_an_unknown_question_is_not_found(bench: Bench) -> None:
    with pytest.raises(NotFound):
        bench.service.requests.answer("q_nobody_asked", "a")


async def test_of_two_who_answer_at_once_one_is_told_that_it_was_too_late(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, text("ok"))
    job_id, question_id = await waiting(bench)

    async def answer(value: str) -> str:
        return str((bench.service.requests.answer(question_id, value).answer or {})["value"])

    outcomes = await asyncio.gather(answer("a"), answer("b"), return_exceptions=True)
    assert outcomes[0] == "a"
    assert isinstance(outcomes[1], Conflict)
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED


async def test_several_questions_in_one_job_each_wait_for_their_own_answer(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, text(OPEN), text("Thanks."))
    job_id, first = await waiting(bench)
    bench.service.requests.answer(first, "a")
    async with asyncio.timeout(PATIENCE):
        async for event in bench.service.journal.bus.subscribe(bench.context.id):
            if event.type is EventType.QUESTION_ASKED and event.data.model_dump()["id"] != first:
                bench.service.requests.answer(event.data.model_dump()["id"], "Ada")
                break
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    values = [
        event.data.model_dump()["value"] for event in bench.events(EventType.QUESTION_ANSWERED)
    ]
    assert values == ["a", "Ada"]


async def test_words_before_a_question_are_said_too(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(text(f"I looked around.\n{OPEN}"), text("ok"))
    job_id, question_id = await waiting(bench)
    bench.service.requests.answer(question_id, "x")
    await ended(bench, job_id)
    assert [one.text for one in bench.messages() if one.role == "assistant"] == [
        "I looked around.",
        "What name?",
        "ok",
    ]
