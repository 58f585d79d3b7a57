"""The loop, against a scripted model over real HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from tests.scripted import Scripted, ScriptedServer, call, calls, empty, plan, result, text

from .conftest import Bench
from .helpers import PATIENCE, ended

pytestmark = pytest.mark.asyncio


class OneByOne(list[str]):
    """Tokens of which the model writes the first, and the others once that was seen."""

    def __init__(self, tokens: list[str], seen: threading.Event) -> None:
        super().__init__(tokens)
        self._seen = seen

    def __iter__(self) -> Iterator[str]:
        first, *others = super().__iter__()
        yield first
        assert self._seen.wait(PATIENCE)
        yield from others


async def test_plain_text_ends_the_job_and_is_stored_and_streamed(
    bench: Bench, scripted: ScriptedServer
) -> None:
    seen = threading.Event()
    scripted.add(Scripted(tokens=OneByOne(["There", " are", " three", " files."], seen)))
    job_id = bench.start("How many files?")
    first = await bench.until(EventType.TEXT_DELTA)
    seen.set()
    assert (await ended(bench, job_id)).status is JobStatus.COMPLETED
    assert bench.messages()[-1].text == "There are three files."
    streamed = [event.data.model_dump()["text"] for event in bench.events(EventType.TEXT_DELTA)]
    assert "".join(streamed) == "There are three files."
    assert len(first.data.model_dump()["text"]) < len("There are three files.")


async def test_a_tool_runs_and_its_result_goes_back_to_the_model(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("read_file", path="a.py"), text("It is 42."))
    job = await bench.tell("What is the answer?")
    assert job.status is JobStatus.COMPLETED
    assert bench.results()[0]["ok"]
    sent = scripted.requests[1].body["messages"]
    assert "answer = 42" in sent[-1]["content"]
    assert '"tool": "read_file"' in sent[-2]["content"]


async def test_calls_and_results_are_events_under_one_id(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("read_file", path="a.py"), text("done"))
    await bench.tell("go")
    (called,) = bench.events(EventType.TOOL_CALL)
    (result,) = bench.events(EventType.TOOL_RESULT)
    assert called.data.model_dump()["call_id"] == result.data.model_dump()["call_id"]
    assert set(called.data.model_dump()) == {"call_id", "tool", "parameters"}
    assert set(result.data.model_dump()) == {"call_id", "ok", "summary", "error"}


async def test_terminate_ends_the_job_after_the_tool(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("create_file", terminate=True, path="b.txt", content="hi"))
    job = await bench.tell("Write b.txt")
    assert job.status is JobStatus.COMPLETED
    assert (bench.workspace / "b.txt").read_text() == "hi"
    assert len(scripted.requests) == 1


async def test_several_calls_of_one_reply_all_run_and_answer_together(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(
        calls(("read_file", {"path": "a.py"}), ("list_directory", {"path": "."})), text("ok")
    )
    await bench.tell("look")
    assert [result["ok"] for result in bench.results()] == [True, True]
    assert len(scripted.requests) == 2


async def test_json_never_shows_as_text(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(call("read_file", before="Let me look.\n", path="a.py"), text("done"))
    await bench.tell("go")
    shown = "".join(event.data.model_dump()["text"] for event in bench.events(EventType.TEXT_DELTA))
    assert "tool" not in shown
    assert shown.startswith("Let me look.")


async def test_thinking_is_reasoning_and_never_content(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("<think>hmm, tricky</think>Forty-two."))
    await bench.tell("go")
    assert bench.messages()[-1].text == "Forty-two."
    thought = "".join(
        event.data.model_dump()["text"] for event in bench.events(EventType.REASONING_DELTA)
    )
    assert thought == "hmm, tricky"


BAD_REPLIES = {
    "malformed JSON": text('{"tool": "read_file", "parameters": {"path": }'),
    "a missing field": text('{"tool": "", "parameters": {}}'),
    "an unknown tool": call("teleport", to="mars"),
    "wrong parameter types": call("read_file", path=["not", "a", "path"]),
    "nothing at all": empty(),
}


@pytest.mark.parametrize("bad", BAD_REPLIES.values(), ids=BAD_REPLIES.keys())
async def test_an_unusable_reply_is_fed_back_and_may_be_mended(
    bench: Bench, scripted: ScriptedServer, bad: Scripted
) -> None:
    scripted.add(bad, text("Sorry, here it is."))
    job = await bench.tell("go")
    assert job.status is JobStatus.COMPLETED
    said_to_the_model = scripted.requests[1].body["messages"][-1]["content"]
    assert said_to_the_model.strip()


@pytest.mark.parametrize("bad", BAD_REPLIES.values(), ids=BAD_REPLIES.keys())
async def test_three_unusable_replies_in_a_row_end_the_job_and_keep_the_text(
    bench: Bench, scripted: ScriptedServer, bad: Scripted
) -> None:
    scripted.add(bad, bad, bad, text("never asked for"))
    job = await bench.tell("go")
    assert job.status is JobStatus.FAILED
    assert job.error is not None
    assert "3 unusable replies in a row" in job.error
    assert len(scripted.requests) == 3
    assert bench.messages()[-1].message_type is MessageType.ERROR


async def test_thoughts_of_an_unusable_reply_are_kept_apart_from_its_text(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text('<think>Hm.</think>{"tool": 1}'), text("Sorry."))
    await bench.tell("go")
    kept = next(one for one in bench.messages() if "problem" in one.data.model_dump())
    assert kept.text == '{"tool": 1}'
    assert kept.data.model_dump()["reasoning"] == "Hm."


async def test_a_good_reply_in_between_forgives_the_bad_ones(
    bench: Bench, scripted: ScriptedServer
) -> None:
    bad = text('{"tool": ')
    look = [call("read_file", path="a.py"), call("list_directory", path=".")]
    scripted.add(bad, bad, look[0], bad, bad, look[1], text("done"))
    assert (await bench.tell("go")).status is JobStatus.COMPLETED


async def test_a_forbidden_call_runs_nothing_is_stored_and_the_job_goes_on(
    bench: Bench, scripted: ScriptedServer
) -> None:
    before = {path: path.read_bytes() for path in bench.workspace.rglob("*")}
    scripted.add(
        call("update_file", path="a.py", content="hacked"),
        call("execute_command", command="touch owned"),
        text("I may not."),
    )
    job = await bench.tell("break in", AgentRole.PLANNER)
    assert job.status is JobStatus.COMPLETED
    assert {path: path.read_bytes() for path in bench.workspace.rglob("*")} == before
    assert [result["error"]["code"] for result in bench.results()] == ["not_permitted"] * 2
    assert not any(result["error"]["retryable"] for result in bench.results())
    assert "not retryable" in scripted.requests[1].body["messages"][-1]["content"]


async def test_a_plan_is_stored_with_a_revision_and_ends_the_job(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(plan("Tidy up", "read", "write"), plan("Tidy up better", "read"))
    job = await bench.tell("plan it", AgentRole.PLANNER)
    assert (job.status, job.plan_revision) == (JobStatus.COMPLETED, 1)
    discussed = await bench.tell("shorter please", AgentRole.PLANNER, card_id=job.id)
    assert (discussed.card_id, discussed.plan_id) == (job.id, job.plan_id)
    revision = bench.service.plans.find(bench.context.id)
    assert revision is not None
    assert (revision.revision, revision.plan.goal) == (2, "Tidy up better")
    assert (revision.request, revision.change) == ("plan it", "1 step removed")
    updates = bench.events(EventType.PLAN_UPDATE)
    assert [event.data.model_dump()["revision"] for event in updates] == [1, 2]
    assert [event.data.model_dump()["id"] for event in updates] == [job.plan_id] * 2
    assert len(bench.messages(MessageType.PLAN)) == 2


async def test_another_goal_is_another_plan(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(plan("Tidy up", "read"), plan("Plot it", "read"))
    first = await bench.tell("tidy up", AgentRole.PLANNER)
    second = await bench.tell("plot it", AgentRole.PLANNER)
    assert first.plan_id != second.plan_id
    plans = bench.service.plans.of(bench.context.id)
    assert [(one.plan_id, one.revision) for one in plans] == [
        (first.plan_id, 1),
        (second.plan_id, 1),
    ]
    current = bench.service.plans.find(bench.context.id)
    assert current is not None
    assert current.plan_id == second.plan_id


async def test_who_may_not_plan_is_told_so(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(plan("Take over", "write"), text("All right."))
    await bench.tell("go", AgentRole.ACTOR)
    assert bench.service.plans.find(bench.context.id) is None
    assert "does not produce a plan" in scripted.requests[1].body["messages"][-1]["content"]


async def test_the_reviewer_delivers_a_review(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(text('{"type": "review", "summary": "Fine.", "verdict": "approve"}'))
    await bench.tell("review a.py", AgentRole.REVIEWER)
    (review,) = bench.messages(MessageType.REVIEW)
    assert review.data.model_dump()["verdict"] == "approve"
    assert review.agent_role is AgentRole.REVIEWER


QUESTION = text(
    '{"type": "question", "question": "Which?", "options": ['
    '{"label": "A", "value": "a"}, {"label": "B", "value": "b"}], "default": "a"}'
)


async def test_a_question_waits_for_its_answer_and_the_model_gets_it(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(QUESTION, text("B it is."))
    job_id = bench.start("go")
    await bench.until(EventType.QUESTION_ASKED)
    assert bench.job_statuses() == [JobStatus.WAITING]
    await bench.answer("b")
    job = await bench.service.jobs.wait(job_id)
    assert job.status is JobStatus.COMPLETED
    assert "Answer to “Which?”: b" in scripted.requests[1].body["messages"][-1]["content"]
    assert bench.events(EventType.QUESTION_ANSWERED)[0].data.model_dump()["value"] == "b"


async def test_a_result_outside_of_a_plan_ends_the_job_as_it_says(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(result("done", "Read it."), result("failed", "It is not there."))
    job = await bench.tell("read it")
    assert (job.status, bench.messages()[-1].text) == (JobStatus.COMPLETED, "Read it.")
    job = await bench.tell("again")
    assert (job.status, job.error) == (JobStatus.FAILED, "It is not there.")
    scripted.add(result("partly", "Two are read.", "the third"))
    job = await bench.tell("all of them")
    assert (job.status, job.error) == (JobStatus.FAILED, "Two are read.\n\nLeft undone: the third")
    assert [one.text for one in bench.messages()].count(str(job.error)) == 1


def repeated(tool: str, times: int, **parameters: Any) -> list[Scripted]:
    return [call(tool, **parameters)] * times


@pytest.mark.parametrize(
    "circle",
    [
        repeated("read_file", 3, path="a.py"),
        [call("read_file", path="a.py"), call("list_directory", path=".")] * 2,
    ],
    ids=["the same call", "two calls in turn"],
)
async def test_going_in_circles_is_nudged_once_then_the_user_decides(
    bench: Bench, scripted: ScriptedServer, circle: list[Scripted]
) -> None:
    scripted.add(*circle, *circle, text("never"))
    job_id = bench.start("go")
    asked = await bench.until(EventType.QUESTION_ASKED)
    assert "going in circles" in asked.data.model_dump()["question"]
    nudges = [one for one in bench.messages() if "You are going in circles" in one.text]
    assert len(nudges) == 1
    await bench.answer("stop")
    job = await bench.service.jobs.wait(job_id)
    assert job.status is JobStatus.CANCELLED
    assert "circles" in (job.error or "")
    assert len(scripted.requests) == 2 * len(circle)


async def test_a_nudge_that_helps_needs_no_question(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(*repeated("read_file", 3, path="a.py"), text("I see, it is 42."))
    assert (await bench.tell("go")).status is JobStatus.COMPLETED
    assert bench.events(EventType.QUESTION_ASKED) == []


async def test_usage_is_told_and_adds_up_in_the_job(bench: Bench, scripted: ScriptedServer) -> None:
    spent = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    look = replace(call("read_file", path="a.py"), usage=spent)
    scripted.add(look, text("done", usage=spent))
    job = await bench.tell("go")
    told = [event.data.model_dump()["total_tokens"] for event in bench.events(EventType.USAGE)]
    assert told == [120, 120]
    assert job.usage.total_tokens == 240


async def test_native_tool_calls_are_understood_the_same_way(
    bench: Bench, scripted: ScriptedServer
) -> None:
    native = Scripted(tool_calls=[{"name": "read_file", "arguments": {"path": "a.py"}}])
    scripted.add(native, text("42"))
    assert (await bench.tell("go")).status is JobStatus.COMPLETED
    assert bench.results()[0]["ok"]
