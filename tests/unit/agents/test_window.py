"""How much the model reads: known from the list, set, or learnt, and what happens to the rest."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.agents.ask.user import Nobody
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType, HistorySummary
from cowork_jupyter.domain.settings import Price, Settings
from cowork_jupyter.llm.tokens import estimate_tokens
from tests.scripted import (
    Exchange,
    Rule,
    Scripted,
    ScriptedServer,
    call,
    overflow,
    server_error,
    text,
)

from .conftest import Bench
from .helpers import bench_with

pytestmark = pytest.mark.asyncio

SUMMARISE = "memory of an agent"
SUMMARY = "The user likes figures; part 0 was read, and its mean is 4.25."
WINDOW = 8_192


def is_summary(exchange: Exchange) -> bool:
    return SUMMARISE in exchange.body["messages"][0]["content"]


def asked(scripted: ScriptedServer) -> list[list[dict[str, Any]]]:
    """The messages of each request, but those for summaries."""
    return [one.body["messages"] for one in scripted.requests if not is_summary(one)]


def size_of(messages: list[dict[str, Any]]) -> int:
    return sum(estimate_tokens(str(one["content"])) for one in messages)


def notices(bench: Bench) -> list[str]:
    return [one.data.model_dump()["code"] for one in bench.events(EventType.NOTICE)]


async def read_parts(bench: Bench, scripted: ScriptedServer, parts: int = 12) -> None:
    """A conversation of some twenty thousand tokens."""
    for part in range(parts):
        lines = [f"part {part} line {line} has value {line * part}" for line in range(120)]
        (bench.workspace / f"{part}.txt").write_text("\n".join(lines))
    scripted.add(Rule(text(SUMMARY), system=SUMMARISE))
    scripted.add(*[call("read_file", path=f"{part}.txt") for part in range(parts)])
    scripted.add(text("Read."))
    assert (await bench.tell("Read all the parts.")).status is JobStatus.COMPLETED


@pytest.mark.parametrize("name", ["max_model_len", "context_length", "context_window", "n_ctx"])
async def test_a_window_that_the_server_lists_is_kept(
    bench: Bench, scripted: ScriptedServer, name: str
) -> None:
    scripted.listed = {name: WINDOW}
    await read_parts(bench, scripted)
    assert max(map(size_of, asked(scripted))) < WINDOW
    assert "context_overflow" not in notices(bench)


async def test_a_window_that_is_set_is_kept(settings: Settings, scripted: ScriptedServer) -> None:
    async with bench_with(settings, context_size=WINDOW) as bench:
        await read_parts(bench, scripted)
    assert max(map(size_of, asked(scripted))) < WINDOW


async def test_a_reply_that_is_longer_than_the_window_never_ends(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(text(" ".join(f"word{number}" for number in range(1_000))))
    async with bench_with(settings, context_size=300) as bench:
        bench.service.factory.tools.user = Nobody()
        job = await bench.tell("Write.")
    assert "600 tokens in one reply" in (job.error or "")


async def test_without_a_window_all_of_it_is_sent(bench: Bench, scripted: ScriptedServer) -> None:
    await read_parts(bench, scripted)
    assert max(map(size_of, asked(scripted))) > 1.5 * WINDOW


async def test_a_window_is_learnt_from_an_error_and_outlives_a_restart(
    settings: Settings, scripted: ScriptedServer
) -> None:
    sizes: list[int] = []

    def reply(body: dict[str, Any]) -> Scripted:
        if SUMMARISE in body["messages"][0]["content"]:
            return text(SUMMARY)
        sizes.append(size_of(body["messages"]))
        if sizes[-1] > WINDOW:
            return overflow()
        return text("Read.") if len(sizes) > 20 else call("read_file", path=f"{len(sizes)}.txt")

    for part in range(22):
        (settings.workspace / f"{part}.txt").write_text(f"part {part}: value\n" * 150)
    scripted._function = reply
    async with bench_with(settings, max_iterations=100) as bench:
        assert (await bench.tell("Read all the parts.")).status is JobStatus.COMPLETED
        assert notices(bench).count("context_overflow") == 1
    sizes.clear()
    async with bench_with(settings, max_iterations=100) as bench:
        assert (await bench.tell("Read all the parts.")).status is JobStatus.COMPLETED
    assert len(sizes) > 20
    assert max(sizes) < WINDOW, "the next conversation stays below from its beginning"


async def test_a_prompt_that_was_truncated_is_noticed_and_not_repeated(
    bench: Bench, scripted: ScriptedServer
) -> None:
    long = "\n".join(f"line {line} has value {line}" for line in range(1_500))
    (bench.workspace / "long.txt").write_text(long)
    truncated = {"prompt_tokens": 4_096, "completion_tokens": 3, "total_tokens": 4_099}
    scripted.add(Rule(text(SUMMARY), system=SUMMARISE))
    for start in (1, 500, 1000):
        scripted.add(call("read_file", path="long.txt", start_line=start, end_line=start + 450))
    scripted.add(Scripted(text="Read.", usage=truncated), text("Again."))
    await bench.tell("Read it.")
    (said,) = [
        one.data.model_dump()["message"]
        for one in bench.events(EventType.NOTICE)
        if one.data.model_dump()["code"] == "truncated"
    ]
    assert "read only 4,096 of about" in said
    await bench.tell("Go on.")
    assert size_of(asked(scripted)[-2]) > 8_192
    assert size_of(asked(scripted)[-1]) < 4_096


async def test_what_no_longer_fits_is_summarised_into_a_notice(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, context_size=WINDOW, small_model="tiny") as bench:
        await read_parts(bench, scripted)
        stored = [
            one.data
            for one in bench.events(EventType.NOTICE)
            if isinstance(one.data, HistorySummary)
        ]
        first, last = asked(scripted)[0], asked(scripted)[-1]
    assert stored
    assert stored[-1].text == SUMMARY
    assert f"{stored[-1].count} earlier messages" in stored[-1].message
    summaries = [one.body for one in scripted.requests if is_summary(one)]
    assert len(summaries) == len(stored) < 5, "not at every turn"
    assert {body["model"] for body in summaries} == {"tiny"}
    assert "part 0 line 1" in str(summaries[0]["messages"])
    assert SUMMARY in str(summaries[1]["messages"]), "the next goes on from the one before"
    assert first[-1]["content"].startswith("Read all the parts.")
    assert "Read all the parts." in last[1]["content"], "the request stays"
    assert SUMMARY in str(last)
    assert "left out" not in str(last)


async def test_summaries_are_charged_at_the_small_models_own_price(
    settings: Settings, scripted: ScriptedServer
) -> None:
    prices = {"scripted": Price(1, 1), "tiny": Price(1_000, 1_000)}
    spent = {"prompt_tokens": 400, "completion_tokens": 20, "total_tokens": 420}
    scripted.add(Rule(Scripted(text=SUMMARY, usage=spent), system=SUMMARISE))
    async with bench_with(
        settings, context_size=WINDOW, small_model="tiny", prices=prices
    ) as bench:
        await read_parts(bench, scripted)
        charged = [one.data.model_dump() for one in bench.events(EventType.USAGE)]
    by_tiny = [one for one in charged if one["model"] == "tiny"]
    assert len(by_tiny) == sum(map(is_summary, scripted.requests))
    for one in charged:
        price = prices[one["model"]].input
        assert one["cost"] == pytest.approx(one["total_tokens"] * price / 1e6)


async def test_a_later_message_reads_the_summary_too(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, context_size=WINDOW) as bench:
        await read_parts(bench, scripted)
        summaries = sum(map(is_summary, scripted.requests))
        scripted.add(text("It is 4.25."))
        await bench.tell("What was the mean?")
    assert SUMMARY in str(asked(scripted)[-1])
    assert sum(map(is_summary, scripted.requests)) == summaries


async def test_a_summary_that_fails_leaves_out_and_says_so(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(Rule(server_error(), system=SUMMARISE))
    async with bench_with(settings, context_size=WINDOW) as bench:
        await read_parts(bench, scripted)
        assert notices(bench).count("left_out") == 1
    assert max(map(size_of, asked(scripted))) < WINDOW
    assert "earlier messages left out" in str(asked(scripted)[-1])
