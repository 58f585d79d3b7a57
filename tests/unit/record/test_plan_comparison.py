"""Two revisions of a plan side by side."""

from __future__ import annotations

from typing import Any

from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.record.plan_comparison import compare_plans

A = {"id": "a", "action": "Read", "depends_on": []}
B = {"id": "b", "action": "Clean", "depends_on": ["a"]}
C = {"id": "c", "action": "Write", "depends_on": ["a"]}


def a_plan(*steps: dict[str, Any], **fields: Any) -> Plan:
    return Plan.model_validate({"goal": "g", "steps": list(steps), **fields})


def told(before: Plan, after: Plan) -> list[tuple[str, str]]:
    return [(step.id, step.change) for step in compare_plans(before, after).steps]


def test_steps_are_added_removed_and_changed() -> None:
    expected = {"of": "file:a.csv", "check": "rows", "value": 3}
    changed = {**B, "action": "Clean well", "expects": [expected]}
    found = compare_plans(a_plan(A, B), a_plan(A, changed, C, goal="h"))
    assert [(step.id, step.number, step.change) for step in found.steps] == [
        ("b", 2, "changed"),
        ("c", 3, "added"),
    ]
    assert [(one.field, one.before, one.after) for one in found.steps[0].fields] == [
        ("action", "Clean", "Clean well"),
        ("expects", "", "a.csv: rows = 3"),
    ]
    assert [one.field for one in found.fields] == ["goal"]
    assert told(a_plan(A, B, C), a_plan(A, C)) == [("b", "removed")]


def test_steps_that_only_stand_elsewhere_have_moved() -> None:
    assert told(a_plan(A, B, C), a_plan(A, C, B)) == [("c", "moved"), ("b", "moved")]


def test_steps_before_are_called_by_their_numbers() -> None:
    (step,) = compare_plans(a_plan(A, B, C), a_plan(A, B, {**C, "depends_on": ["b"]})).steps
    assert [(one.field, one.before, one.after) for one in step.fields] == [("after step", "1", "2")]


def test_who_does_a_step_is_a_difference() -> None:
    reviewed = {**B, "role": "reviewer", "rounds": 2}
    (step,) = compare_plans(a_plan(A, B), a_plan(A, reviewed)).steps
    assert [(one.field, one.after) for one in step.fields] == [
        ("role", "reviewer"),
        ("rounds of review", "2"),
    ]


def test_how_far_steps_have_come_is_no_difference() -> None:
    found = compare_plans(a_plan(A), a_plan({**A, "status": "completed"}))
    assert (found.summary, found.steps, found.fields) == ("no difference", [], [])
