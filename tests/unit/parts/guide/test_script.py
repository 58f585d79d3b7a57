"""What the guide makes of a conversation."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.messages import Message, MessageType
from cowork_jupyter.domain.plan import Plan, PlanStep
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.llm.chunks import Conversation
from cowork_jupyter.parts.guide.script import (
    GuideRun,
    Memory,
    Script,
    read_run,
)

from .desk import call, result, said, step

CHANGED = MessageType.ROLE_CHANGE
PLAN = Plan(goal="Plot it", steps=[PlanStep(id="1", step_number=1, action="Look")])


def read(*messages: object, plan: Plan | None = None) -> GuideRun:
    return read_run(Conversation(AgentRole.ACTOR, plan=plan, messages=messages))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("messages", "request_", "goal", "is_step"),
    [
        ([said("user", "Plot sales.csv"), said("user", " Look ")], "Look", "Plot it", False),
        ([said("user", "Look"), said("user", "It is step 1.", CHANGED)], "Look", "Plot it", False),
        ([said("user", "Qwrt", replan=True)], "Plot it", "Plot it", False),
        ([said("user", "Execute."), step("Plot x", goal="See it")], "Plot x", "See it", True),
    ],
)
def test_request_is_the_last_message_or_the_step(
    messages: list[Message], request_: str, goal: str, is_step: bool
) -> None:
    run = read(*messages, plan=PLAN)
    assert (run.request, run.goal, run.is_step) == (request_, goal, is_step)
    assert not run.replans


def test_earlier_calls_are_ignored() -> None:
    gone = result(1, CoworkError("It was cancelled.", code="cancelled"))
    looked = call(1, "read_file", {"path": "a"})
    assert read(said("user", "Look"), looked, gone, said("user", "Sing")) == GuideRun("Sing")
    assert read(said("user", "Look"), looked, said("user", "Sing"), gone) == GuideRun("Sing")


def script(memory: Memory, context_id: str) -> Script:
    message = said("user", "Look").model_copy(update={"context_id": context_id})
    return Script(GuideRun("Look"), Conversation(AgentRole.ACTOR, messages=[message]), memory)


def test_memory_is_bounded_and_expires_with_the_state() -> None:
    memory = Memory()
    first, second = script(memory, "c"), script(memory, "d")
    first.keep("t.csv", [9, 1.5], "head")
    first.keep("u.csv", None, "head")
    assert first.recall("t.csv", [9, 1.5]) == "head"
    assert first.recall("t.csv", [9, 2.5]) is None
    assert second.recall("t.csv", [9, 1.5]) is None
    assert first.recall("u.csv", None) is None, "an unknown state may be another one"
    for n in range(1000):
        first.keep(str(n), [n, n], n)
    assert first.recall("t.csv", [9, 1.5]) is None
    assert first.recall("999", [999, 999]) == 999
