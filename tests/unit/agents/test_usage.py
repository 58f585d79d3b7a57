"""An administrator's limits per day: counted wherever a model is asked, kept, and waited for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.agents.ask.user import Nobody
from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.agents.run.budget import JobBudget
from cowork_jupyter.agents.run.usage import DayAccount, meter
from cowork_jupyter.domain.contexts import Job, Usage
from cowork_jupyter.domain.errors import Forbidden
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Price
from cowork_jupyter.llm.chunks import Chunk, ModelRequest, TextChunk, UsageChunk
from cowork_jupyter.llm.tokens import TokenCounter
from cowork_jupyter.policy import settings_file as module
from cowork_jupyter.policy.settings_file import Administrator

from .conftest import Bench

pytestmark = pytest.mark.asyncio

EVENING = datetime(2026, 11, 17, 23, 59, 59, 900_000, tzinfo=UTC)


class Desk:
    """A user's account, with a clock to set."""

    def __init__(self, folder: Path, bench: Bench) -> None:
        self.bench = bench
        self.file = folder / "administrator.json"
        self.path = folder / "account" / "days.sqlite"
        self.now = EVENING
        self.settings = replace(bench.service.settings, prices={"m": Price(input=1, output=10)})
        self.limit(tokens_per_day=100)

    def limit(self, **limits: float) -> None:
        prices = {"m": {"input": 1, "output": 10}}
        self.file.write_text(json.dumps({"limits": limits, "prices": prices}))

    def account(self) -> DayAccount:
        """As another start of the program would have it."""
        administrator = Administrator([self.file])
        return DayAccount(self.path, administrator, self.settings, lambda: self.now)

    def budget(self, user: Any) -> JobBudget:
        job = Job(context_id=self.bench.context.id)
        log = RunLog(self.bench.service.journal, job.context_id, job.id, AgentRole.ACTOR)
        return JobBudget(job, self.settings, log, user, self.account())


@pytest.fixture
def desk(tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(module, "is_beyond_user", lambda path: True)
    return Desk(tmp_path, bench)


async def test_what_was_used_is_kept_until_the_day_ends(desk: Desk) -> None:
    desk.account().add(Usage(total_tokens=60), "m")
    assert desk.account().reached() is None
    desk.account().add(Usage(total_tokens=40), "m")
    with pytest.raises(Forbidden) as refusal:
        desk.account().check()
    assert str(refusal.value) == (
        "Your administrator's limit of 100 tokens per day is reached. "
        "It resets on 2026-11-18 at 00:00 UTC."
    )
    desk.now += timedelta(seconds=1)
    desk.account().check()


async def test_money_is_counted_by_prices(desk: Desk) -> None:
    desk.limit(money_per_day=0.01)
    desk.account().add(Usage(completion_tokens=1_000, total_tokens=1_000), "m")
    assert "0.01 USD per day" in str(desk.account().reached())


async def test_what_cannot_be_stored_counts_all_the_same(desk: Desk) -> None:
    desk.path.parent.write_text("in the way")
    account = desk.account()
    account.add(Usage(total_tokens=100), "m")
    assert account.reached()
    desk.path.parent.unlink()
    account.add(Usage(total_tokens=1), "m")
    assert desk.account().reached()


@pytest.mark.parametrize(("told", "least", "most"), [(70, 70, 70), (0, 2, 50)])
async def test_a_reply_that_is_cut_short_is_charged_too(told: int, least: int, most: int) -> None:
    async def reply() -> AsyncGenerator[Chunk, None]:
        yield TextChunk("Some words")
        yield UsageChunk(Usage(total_tokens=told))
        yield TextChunk("that nobody reads")

    charged: list[Usage] = []
    request = ModelRequest([{"role": "user", "content": "A question"}])
    chunks = meter(reply(), request, TokenCounter(), charged.append)
    await anext(chunks)
    await anext(chunks)
    await chunks.aclose()
    assert least <= charged[0].total_tokens <= most


async def test_at_the_limit_a_job_that_nobody_can_be_asked_about_ends(desk: Desk) -> None:
    desk.account().add(Usage(total_tokens=100), "m")
    assert "administrator's limit of 100 tokens per day" in await desk.budget(Nobody()).admit()


class Patient:
    """Somebody who leaves the question unanswered, or answers it."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def ask(self, question: Any, log: RunLog, *_: Any) -> str:
        self.asked.append(question.question)
        if not self.answers:
            await asyncio.Event().wait()
        return self.answers.pop(0)


async def test_a_running_job_waits_and_goes_on_by_itself_the_next_day(desk: Desk) -> None:
    desk.account().add(Usage(total_tokens=100), "m")
    user = Patient("go_on")  # which does not help
    waiting = asyncio.ensure_future(desk.budget(user).admit())
    while len(user.asked) < 2:
        await asyncio.sleep(0)
    desk.now += timedelta(seconds=1)
    assert await asyncio.wait_for(waiting, 60) == ""
    assert "resets on 2026-11-18 at 00:00 UTC" in user.asked[0]


async def test_who_stops_there_is_told_why(desk: Desk) -> None:
    desk.account().add(Usage(total_tokens=100), "m")
    assert "administrator's limit" in await desk.budget(Patient("stop")).admit()
