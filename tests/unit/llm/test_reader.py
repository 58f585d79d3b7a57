"""A model that repeats itself without end is noticed soon, and one that does not, never."""

from __future__ import annotations

import random

import pytest

from cowork_jupyter.llm.chunks import Finished, ReasoningChunk, TextChunk
from cowork_jupyter.llm.reader import ReplyReader
from cowork_jupyter.llm.repetition import RunOnDetector, without_repetition


def noticed_after(unit: str, before: str = "Well then. ") -> int | None:
    detector = RunOnDetector()
    detector.add(before)
    for number in range(5_000):
        detector.add(unit)
        if detector.found:
            return number * len(unit)
    return None


@pytest.mark.parametrize("unit", ["\n", " ha", "The mean is 3.\n", "x" * 99 + "\n", "| a | b |\n"])
def test_copies_are_noticed_within_a_few_hundred_characters(unit: str) -> None:
    after = noticed_after(unit)
    assert after is not None
    assert after < 800


def test_long_and_varied_text_is_left_alone() -> None:
    random.seed(3)
    detector = RunOnDetector()
    for number in range(3_000):
        detector.add(f"| row {number} | {random.random():.3f} |\n")
    assert not detector.found


def test_a_file_may_repeat_itself_for_longer() -> None:
    reader = ReplyReader()
    content = "0,0,0\\n" * 300
    reader.feed(TextChunk('{"tool": "create_file", "parameters": {"path": "a", "content": "'))
    for place in range(0, len(content), 20):
        reader.feed(TextChunk(content[place : place + 20]))
        assert not reader.is_whole
    reader.feed(TextChunk('"}}'))
    assert reader.is_whole
    reader.finish()
    assert reader.reply.structured is not None


@pytest.mark.parametrize("unit", ["It is 3.\n", "ha ", "abc"])
def test_what_was_said_over_and_over_is_kept_once(unit: str) -> None:
    assert without_repetition(f"So: {unit * 200}") == f"So: {unit}".rstrip()
    assert without_repetition(f"So: {unit * 200}{unit[:2]}") == f"So: {unit}".rstrip()
    assert without_repetition("So: it is three.") == "So: it is three."


def test_a_reply_that_runs_on_ends_with_what_it_said() -> None:
    reader = ReplyReader()
    count = 0
    while not reader.is_whole:
        reader.feed(TextChunk("The mean is 3.\n"))
        count += 1
        assert count < 100
    reader.finish()
    assert (reader.reply.gist, reader.reply.cut) == ("The mean is 3.", "repetition")
    assert reader.reply.text == ("The mean is 3.\n" * count).strip(), "what was shown stays"
    thinking = ReplyReader()
    for _ in range(100):
        thinking.feed(ReasoningChunk("Wait, no. "))
    assert thinking.is_whole


def test_the_limit_of_a_server_is_known_by_its_reason() -> None:
    reader = ReplyReader()
    reader.feed(TextChunk("The first half"))
    reader.feed(Finished("length"))
    reader.finish()
    assert reader.reply.cut == "length"
