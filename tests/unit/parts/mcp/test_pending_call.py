"""A call on its way: its clock, its signs of life, and the questions in it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cowork_jupyter.domain.redaction import Mask
from cowork_jupyter.domain.replies import Question
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.mcp.pending_call import MAX_QUESTIONS, PendingCall, current
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.workspace import Workspace

pytestmark = pytest.mark.asyncio

WHO = Question(question="Who are you, hunter2?")


class Call:
    """A call whose user takes their time."""

    def __init__(self, folder: Path, seconds: float, thinks: float = 0.0) -> None:
        self.shown: list[str] = []
        self.asked: list[Question] = []
        self.thinks = thinks
        context = ToolContext(
            Workspace(folder), AgentRole.ACTOR, output=self.shown.append, ask=self.answer
        )
        self.ongoing = PendingCall(context, seconds, Mask(["hunter2"]))

    async def answer(self, question: Question) -> str:
        self.asked.append(question)
        await asyncio.sleep(self.thinks)
        return "Ada"


async def test_a_call_without_a_sign_of_life_ends(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        async with Call(tmp_path, 0.01).ongoing.bounded():
            await asyncio.Event().wait()
    assert current.get() is None


async def test_the_clock_stands_still_while_the_user_thinks(tmp_path: Path) -> None:
    call = Call(tmp_path, 0.5, thinks=1.0)
    async with call.ongoing.bounded():
        assert current.get() is call.ongoing
        assert await call.ongoing.ask(WHO) == "Ada"
    assert call.asked[0].question == "Who are you, •••?"


async def test_progress_is_shown_now_and_then_and_its_end_always(tmp_path: Path) -> None:
    call = Call(tmp_path, 60)
    async with call.ongoing.bounded():
        for step in range(1, 101):
            await call.ongoing.progress(step, 100, f"at\n{step} of hunter2")
        await call.ongoing.progress(7, None, None)
    assert call.shown[0] == "1/100 at 1 of •••\n"
    assert "100/100 at 100 of •••\n" in call.shown
    assert len(call.shown) < 50


async def test_a_question_ends_with_its_call(tmp_path: Path) -> None:
    call = Call(tmp_path, 60, thinks=600)
    async with call.ongoing.bounded():
        asking = asyncio.create_task(call.ongoing.ask(WHO))
        while not call.asked:
            await asyncio.sleep(0)
    assert await asking is None


async def test_who_asks_without_end_is_not_answered_any_more(tmp_path: Path) -> None:
    call = Call(tmp_path, 60)
    async with call.ongoing.bounded():
        answers = [await call.ongoing.ask(WHO) for _ in range(MAX_QUESTIONS + 1)]
    assert answers[-2:] == ["Ada", None]
    assert len(call.asked) == MAX_QUESTIONS
