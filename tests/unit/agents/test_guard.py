"""Circles: which are noticed, and which repetitions are none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.agents.run.limits import CircleGuard, find_circle
from cowork_jupyter.domain.replies import ToolCall

SAME, TWO, NONE = (
    "the same call three times",
    "the same two calls in turn",
    "three replies without a call",
)


def a_call(tool: str, **parameters: Any) -> ToolCall:
    return ToolCall(tool=tool, parameters=parameters)


@pytest.mark.parametrize(
    ("turns", "circle"),
    [
        ("", None),
        ("AA", None),
        ("AAA", SAME),
        ("BAAA", SAME),
        ("AABA", None),
        ("ABAB", TWO),
        ("ABA", None),
        ("ABBA", None),
        ("ABCABC", None),
        ("CABAB", TWO),
        ("---", NONE),
        ("--", None),
        ("A---", NONE),
        ("A-A-", None),
        ("-A-A", None),
    ],
)
def test_circles_are_three_alike_or_two_in_turn(turns: str, circle: str | None) -> None:
    assert find_circle(["" if turn == "-" else turn for turn in turns]) == circle


def told(guard: CircleGuard, *turns: list[ToolCall]) -> list[str | None]:
    return [guard.observe(turn) for turn in turns]


def test_parameters_count_and_their_order_does_not() -> None:
    one, same = a_call("grep", pattern="x", path="."), a_call("grep", path=".", pattern="x")
    other = a_call("grep", pattern="y", path=".")
    assert told(CircleGuard(), [one], [same], [other]) == [None] * 3
    assert told(CircleGuard(), [one], [same], [one]) == [None, None, SAME]


def test_all_calls_of_a_turn_count_together() -> None:
    a, b = a_call("read_file", path="a"), a_call("read_file", path="b")
    assert told(CircleGuard(), [a], [a, b], [a]) == [None] * 3
    assert told(CircleGuard(), [a, b], [a, b], [a, b]) == [None, None, SAME]


def test_a_circle_is_told_once_and_then_must_close_again() -> None:
    turns = [[a_call("read_file", path="a")]] * 6
    assert told(CircleGuard(), *turns) == [None, None, SAME, None, None, SAME]


@given(st.lists(st.integers(), unique=True, max_size=30))
def test_who_always_does_something_new_is_never_in_a_circle(paths: list[int]) -> None:
    turns = [[a_call("read_file", path=path)] for path in paths]
    assert told(CircleGuard(), *turns) == [None] * len(paths)


@given(st.lists(st.sampled_from(["A", "B", ""]), max_size=40))
def test_a_circle_is_told_within_the_turns_that_close_it(turns: list[str]) -> None:
    guard, seen = CircleGuard(), list[str]()
    for turn in turns:
        seen.append(turn)
        circle = guard.observe([a_call(turn)] if turn else [])
        assert bool(circle) == bool(find_circle(seen))
        if circle:
            seen.clear()


@given(st.recursive(st.none() | st.text() | st.floats(), st.lists, max_leaves=5))
def test_any_parameters_can_be_compared(value: Any) -> None:
    turn = [a_call("run", value=value)]
    assert told(CircleGuard(), turn, turn, turn) == [None, None, SAME]


def test_different_code_that_fails_alike_is_a_circle() -> None:
    guard = CircleGuard()
    calls = [ToolCall(tool="run_code", parameters={"code": f"f({n})"}) for n in range(4)]
    assert guard.observe(calls[:1], "KeyError: 'a'") is None
    assert guard.observe(calls[1:2], "KeyError: 'b'") is None
    assert guard.observe(calls[2:3], "KeyError: 'b'") is None
    assert guard.observe(calls[3:], "KeyError: 'b'") == "the same error three times, KeyError: 'b'"


def test_success_between_errors_is_no_circle() -> None:
    guard = CircleGuard()
    errors = ["KeyError: 'a'", "KeyError: 'a'", "", "KeyError: 'a'"]
    turns = [[ToolCall(tool="run_code", parameters={"code": str(n)})] for n in range(4)]
    assert [guard.observe(*turn) for turn in zip(turns, errors, strict=True)] == [None] * 4
