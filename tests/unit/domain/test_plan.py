"""Plans: what is filled in, what is refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cowork_jupyter.domain.contexts import StepStatus
from cowork_jupyter.domain.plan import Plan, find_cycle


def plan(*steps: dict[str, Any]) -> Plan:
    return Plan.model_validate({"type": "plan", "goal": "tidy up", "steps": list(steps)})


def test_ids_are_made_from_the_numbers() -> None:
    made = plan({"step_number": 1, "action": "a"}, {"step_number": 2, "action": "b"})
    assert [step.id for step in made.steps] == ["1", "2"]


def test_what_a_step_is_to_do_stands_for_the_permission() -> None:
    made = plan({"action": "a", "tools_needed": ["read_file", "write", "execute"]})
    assert made.steps[0].tools_needed == ["read_file", "write_files", "execute_commands"]
    assert plan({"action": "a", "tools_needed": "create"}).steps[0].tools_needed == ["create_files"]
    with pytest.raises(ValidationError):
        plan({"action": "a", "tools_needed": {"write": True}})


def test_with_no_dependency_anywhere_steps_run_in_order() -> None:
    made = plan({"action": "a"}, {"action": "b"}, {"action": "c"})
    assert [step.depends_on for step in made.steps] == [[], ["1"], ["2"]]


def test_one_dependency_named_means_the_others_have_none() -> None:
    made = plan({"action": "a"}, {"action": "b"}, {"action": "c", "depends_on": ["1"]})
    assert [step.depends_on for step in made.steps] == [[], [], ["1"]]


def test_empty_lists_say_that_steps_are_independent() -> None:
    made = plan({"action": "a", "depends_on": []}, {"action": "b", "depends_on": []})
    assert [step.depends_on for step in made.steps] == [[], []]


def test_numbers_and_single_values_are_accepted() -> None:
    made = plan(
        {"id": 1, "action": "a"}, {"id": 2, "action": "b", "depends_on": 1, "files": "x.py"}
    )
    assert made.steps[1].depends_on == ["1"]
    assert made.steps[1].files == ["x.py"]


def test_a_new_plan_is_pending() -> None:
    assert plan({"action": "a"}).steps[0].status is StepStatus.PENDING


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ([{"id": "a", "action": "x"}, {"id": "a", "action": "y"}], "steps[1].id"),
        ([{"id": "a", "action": "x", "depends_on": ["b"]}], "steps[0].depends_on"),
        ([{"id": "a", "action": "x", "depends_on": ["a"]}], "a → a"),
        (
            [
                {"id": "a", "action": "x", "depends_on": ["b"]},
                {"id": "b", "action": "y", "depends_on": ["a"]},
            ],
            "depend on each other in a cycle",
        ),
    ],
)
def test_a_graph_that_cannot_run_is_refused_with_the_place(
    steps: list[dict[str, Any]], place: str
) -> None:
    with pytest.raises(ValidationError) as refusal:
        plan(*steps)
    assert place in str(refusal.value)


@pytest.mark.parametrize("raw", [{}, {"goal": "x"}, {"goal": "x", "steps": []}, {"steps": "no"}])
def test_what_is_no_plan_is_refused(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Plan.model_validate(raw)


@given(st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4), max_size=12))
def test_a_cycle_is_found_just_when_no_order_exists(raw: dict[int, list[int]]) -> None:
    graph = {str(node): [str(other) for other in others] for node, others in raw.items()}
    circle = find_cycle(graph)
    if circle:
        # Each on the circle waits for the next or is waited for by it, all the way round.
        pairs = list(pairwise(circle))
        forward = all(b in graph.get(a, []) for a, b in pairs)
        backward = all(a in graph.get(b, []) for a, b in pairs)
        assert circle[0] == circle[-1]
        assert forward or backward
    else:
        done: set[str] = set()
        nodes = set(graph) | {other for others in graph.values() for other in others}
        while ready := {node for node in nodes - done if set(graph.get(node, [])) <= done}:
            done |= ready
        assert done == nodes


def test_a_chain_of_thousands_of_steps_is_no_trouble() -> None:
    assert plan(*({"action": "x"} for _ in range(3000))).steps[-1].depends_on == ["2999"]
