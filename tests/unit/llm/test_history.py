from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.base_models import Data
from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.domain.messages import (
    ImagePart,
    Message,
    MessageRole,
    MessageType,
    TextPart,
    ToolCallData,
    ToolResultData,
)
from cowork_jupyter.llm.history import (
    FRAME_TOKENS,
    MESSAGE_TOKENS,
    cost_of,
    optimize_history_by_tokens,
)
from cowork_jupyter.llm.tokens import TokenCounter
from cowork_jupyter.store import Store

CALL, RESULT = MessageType.TOOL_CALL, MessageType.TOOL_RESULT


def words(text: str) -> int:
    return len(text.split())


def say(number: int, text: str, role: MessageRole = "user") -> Message:
    return Message(
        id=f"m{number}", context_id="c", role=role, content=[TextPart(text=text)], created_at=""
    )


def tool(number: int, kind: MessageType, call: str, text: str = "x", **fields: str) -> Message:
    data: Data = ToolCallData(call_id=call, tool="grep")
    if kind is RESULT:
        data = ToolResultData(call_id=call, tool="grep", ok=True)
    return say(number, text, "tool").model_copy(
        update={"message_type": kind, "data": data} | fields
    )


def choose(messages: list[Message], budget: int, **options: object) -> list[Message]:
    return optimize_history_by_tokens(reversed(messages), budget, words, **options)  # type: ignore[arg-type]


def ids(messages: list[Message]) -> list[str]:
    return [message.id for message in messages]


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


def test_a_short_history_is_sent_as_it_is() -> None:
    history = [say(1, "hello"), say(2, "hi", "assistant"), say(3, "plot it")]
    assert choose(history, 1000) == history


def test_the_oldest_is_left_out_with_a_note_that_counts() -> None:
    history = [say(n, f"message {n} of ten") for n in range(10)]
    assert texts(choose(history, 40, total=10)) == [
        "[7 earlier messages left out]",
        *(f"message {n} of ten" for n in (7, 8, 9)),
    ]


def test_without_a_total_the_note_has_no_number() -> None:
    history = [say(n, f"message {n} of ten") for n in range(10)]
    assert texts(choose(history, 40))[0] == "[earlier messages left out]"


def test_reading_stops_when_the_budget_is_used() -> None:
    read = 0

    def endless() -> Iterator[Message]:
        nonlocal read
        while True:
            read += 1
            yield say(read, "four words of text")

    kept = optimize_history_by_tokens(endless(), 80, words)
    assert len(kept) == 10
    assert read == 11


def test_goal_and_plan_stand_on_top_when_they_are_long_past() -> None:
    history = [say(0, "the goal"), *(say(n, f"message {n} of ten") for n in range(1, 10))]
    kept = choose(history, 46, goal=history[0], plan="1. read 2. plot", total=10)
    assert texts(kept)[:3] == ["1. read 2. plot", "the goal", "[7 earlier messages left out]"]
    assert ids(kept)[-2:] == ["m8", "m9"]
    assert kept[0].message_type is MessageType.PLAN


def test_a_goal_that_is_still_in_sight_stays_in_its_place() -> None:
    history = [say(0, "before"), say(1, "the goal"), say(2, "done", "assistant")]
    assert choose(history, 1000, goal=history[1]) == history


def test_a_call_and_its_result_stay_together() -> None:
    history = [
        say(0, "start"),
        tool(1, CALL, "a", "call " * 10),
        tool(2, RESULT, "a", "result " * 3),
        say(3, "end"),
    ]
    assert ids(choose(history, 100)) == ["m0", "m1", "m2", "m3"]
    assert ids(choose(history, 28)) == ["note_gap_m3", "m3"]


def test_the_calls_of_one_turn_stay_together() -> None:
    history = [
        tool(0, CALL, "a", "call " * 4),
        tool(1, CALL, "b", "call " * 4),
        tool(2, RESULT, "b", "result " * 4),
        tool(3, RESULT, "a", "result " * 4),
        say(4, "end"),
    ]
    assert ids(choose(history, 100)) == ["m0", "m1", "m2", "m3", "m4"]
    assert ids(choose(history, 36)) == ["note_gap_m4", "m4"]


def test_a_call_without_result_and_a_result_without_call_are_left_out() -> None:
    history = [
        tool(0, RESULT, "lost"),
        say(1, "one"),
        tool(2, CALL, "still running"),
        say(3, "two"),
    ]
    kept = choose(history, 1000)
    assert texts(kept) == [
        "[1 earlier message left out]",
        "one",
        "[1 earlier message left out]",
        "two",
    ]


def test_a_lost_result_does_not_take_older_pairs_with_it() -> None:
    pair = [tool(0, CALL, "a"), tool(1, RESULT, "a")]
    kept = choose([*pair, tool(2, RESULT, "lost"), say(3, "end")], 1000)
    assert ids(kept) == ["m0", "m1", "note_gap_m3", "m3"]


def test_ids_that_a_model_uses_again_are_paired_with_the_nearest() -> None:
    history = [tool(n, kind, "call_0") for n, kind in enumerate([CALL, RESULT] * 3)]
    assert choose(history, 1000) == history


def test_the_newest_result_is_kept_even_if_its_call_is_far_back() -> None:
    history = [
        tool(0, CALL, "slow"),
        *(say(n, "many words " * 5) for n in range(1, 20)),
        tool(20, RESULT, "slow"),
    ]
    kept = choose(history, 60)
    assert {"m0", "m20"} <= set(ids(kept))
    assert sum(cost_of(message, words) for message in kept) <= 60


def test_a_huge_result_is_cut_in_the_middle_and_says_how_to_read_on() -> None:
    lines = "\n".join(f"{n} some match" for n in range(1000))
    history = [tool(0, CALL, "a"), tool(1, RESULT, "a", lines), say(2, "go on")]
    kept = choose(history, 400)
    cut = kept[1].text
    assert cut.startswith("0 some match\n")
    assert cut.endswith("999 some match")
    assert "call grep again for a smaller part" in cut
    assert cost_of(kept[1], words) <= 100
    assert history[1].text == lines


def test_goal_plan_and_newest_are_cut_when_they_alone_are_too_much() -> None:
    history = [say(0, "goal " * 500), say(1, "old"), say(2, "newest " * 500)]
    kept = choose(history, 200, goal=history[0], plan="step " * 500, total=3)
    assert [message.text.split()[0] for message in kept] == ["step", "goal", "[1", "newest"]
    assert all("cut here" in text for text in texts(kept) if len(text) > 100)
    assert 150 < sum(cost_of(message, words) for message in kept) <= 200


def test_pictures_count_and_messages_without_text_count_their_data() -> None:
    picture = Message(context_id="c", role="tool", content=[ImagePart(data="x")])
    assert cost_of(picture, words) > 500
    silent = tool(0, CALL, "a", "")
    assert cost_of(silent, words) == MESSAGE_TOKENS + 4


def test_a_long_result_keeps_its_pictures_as_long_as_they_leave_room_for_words() -> None:
    long = tool(2, RESULT, "a", "word " * 9_000)
    long.content.append(ImagePart(data="x"))
    history = [say(0, "look"), tool(1, CALL, "a"), long]
    *_, kept = choose(history, 12_000)
    assert cost_of(kept, words) <= 12_000 // 4
    assert isinstance(kept.content[-1], ImagePart)
    assert "cut here" in kept.text
    *_, kept = choose(history, 4_000)
    assert cost_of(kept, words) <= 4_000 // 4
    assert kept.text.endswith("[its pictures are left out]")


def test_an_empty_history_gives_only_what_is_pinned() -> None:
    assert choose([], 100) == []
    assert texts(choose([], 100, goal=say(0, "goal"), plan="plan")) == ["plan", "goal"]


# Properties


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Conversations with turns of several calls, lost calls and results, and parallel tasks."""
    messages: list[Message] = []
    size = st.integers(0, 40)
    for turn in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["say", "say", "turn", "turn", "lost call", "lost result"]))
        if kind == "say":
            messages.append(say(0, "w " * draw(size), draw(st.sampled_from(["user", "assistant"]))))
        calls = [f"{turn}.{n}" for n in range(draw(st.integers(1, 3)))]
        if kind in ("turn", "lost result"):
            results = [tool(0, RESULT, call, "r " * draw(size)) for call in calls]
        if kind in ("turn", "lost call"):
            messages += [tool(0, CALL, call, "c " * draw(size)) for call in calls]
        if kind in ("turn", "lost result"):
            messages += draw(st.permutations(results))
    if draw(st.booleans()) and messages:
        far = draw(st.integers(0, len(messages)))
        messages.insert(far, tool(0, CALL, "far"))
        messages.append(tool(0, RESULT, "far"))
    return [message.model_copy(update={"id": f"m{n}"}) for n, message in enumerate(messages)]


def has_partner(message: Message, messages: list[Message]) -> bool:
    if message.message_type not in (CALL, RESULT):
        return True
    calls = [
        m.message_type
        for m in messages
        if m.data.model_dump().get("call_id") == message.data.model_dump()["call_id"]
    ]
    return {CALL, RESULT} <= set(calls)


PLANS = st.none() | st.integers(1, 30).map(lambda n: "p " * n)


@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(histories(), st.integers(0, 400), PLANS, st.booleans(), st.booleans())
def test_what_is_chosen_keeps_its_promises(
    history: list[Message], budget: int, plan: str | None, with_goal: bool, with_total: bool
) -> None:
    goal = next((m for m in history if m.role == "user"), None) if with_goal else None
    total = len(history) if with_total else None
    before = [message.model_copy(deep=True) for message in history]
    kept = choose(history, budget, goal=goal, plan=plan, total=total)

    assert history == before, "the input is untouched"
    assert kept == choose(history, budget, goal=goal, plan=plan, total=total), "deterministic"

    spent = sum(cost_of(message, words) for message in kept)
    least, most = (MESSAGE_TOKENS + 1) * len(kept), budget
    if budget < least + FRAME_TOKENS * len(kept):  # then even what stands around them is too much
        framed = sum(message.message_type is RESULT for message in kept)
        most = max(budget, least) + FRAME_TOKENS * framed
    assert spent <= most, "never over budget"

    real = [message for message in kept if message.id.startswith("m")]
    places = [int(message.id[1:]) for message in real]
    assert places == sorted(set(places)), "order kept, nothing twice"
    assert all(has_partner(message, real) for message in real), "pairs whole"
    if history and has_partner(history[-1], history):
        assert history[-1].id in ids(kept), "newest kept"
    if goal:
        assert goal.id in ids(kept), "goal kept"
    assert ("note_plan" in ids(kept)) == (plan is not None), "plan kept"
    for message in real:
        original = history[int(message.id[1:])]
        assert message == original or "cut here" in message.text or message.text == "…"

    turns = {m.data.model_dump()["call_id"].split(".")[0] for m in real if m.message_type is CALL}
    for turn in turns - {"far"}:
        calls = {
            m.id for m in history if m.data.model_dump().get("call_id", "").split(".")[0] == turn
        }
        assert calls <= set(ids(kept)), "turns whole"


@settings(max_examples=3 * settings().max_examples // 2, deadline=None)
@given(histories())
def test_choosing_again_from_a_small_history_changes_nothing(history: list[Message]) -> None:
    whole = [message for message in history if has_partner(message, history)]
    once = choose(whole, 10_000)
    assert once == whole
    assert choose(once, 10_000) == once


@settings(deadline=None)
@given(histories(), st.integers(0, 400))
def test_the_notes_count_what_is_missing(history: list[Message], budget: int) -> None:
    kept = choose(history, budget, total=len(history))
    noted = sum(int(m.text.split()[0][1:]) for m in kept if m.text.startswith("["))
    real = [message for message in kept if message.id.startswith("m")]
    after_the_last = len(history) - 1 - int(real[-1].id[1:]) if real else len(history)
    if "…" not in texts(kept):
        assert len(real) + noted + after_the_last == len(history)


# With the store


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A conversation of 100,000 messages."""
    path = tmp_path / "cowork.sqlite"
    with Store(path) as store:
        store.save_context(Context(id="c"))
    content = '[{"type":"text","text":"' + "some words to be read by a model. " * 10 + '"}]'
    with closing(sqlite3.connect(path)) as database, database:
        database.executemany(
            "INSERT INTO messages (id, context_id, seq, role, content, data, created_at)"
            " VALUES (?, 'c', ?, 'user', ?, '{}', '')",
            ((f"m{n}", n + 1, content) for n in range(100_000)),
        )
    return path


@pytest.mark.slow
def test_of_a_hundred_thousand_messages_only_those_that_fit_are_read(large: Path) -> None:
    read = 0

    def counted(messages: Iterable[Message]) -> Iterator[Message]:
        nonlocal read
        for message in messages:
            read += 1
            yield message

    with Store(large) as store:
        goal, total = store.goal("c"), len(store.messages("c").items)
        newest = counted(store.newest_messages("c"))
        kept = optimize_history_by_tokens(newest, 16_000, TokenCounter(), goal=goal, total=total)
    assert kept[0].id == "m0"
    assert kept[-1].id == "m99999"
    assert kept[1].text == f"[{100_000 - len(kept) + 1:,} earlier messages left out]"
    assert read <= len(kept) + 2
