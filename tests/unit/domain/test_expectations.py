"""Which expectations make sense, and that no plan is lost over one that does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cowork_jupyter.domain.expectations import (
    Expectation,
    expectation_problem,
    with_sound_expectations,
)
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.llm.reply_parser import read_reply

SOUND: list[dict[str, Any]] = [
    {"check": "rows", "value": 3},
    {"check": "columns", "value": ["a"]},
    {"check": "unique"},
    {"check": "range", "column": "x", "op": "<", "value": "2024-01-01"},
    {"check": "range", "column": "x", "value": [0, 1]},
    {"check": "matched", "column": "x", "value": "others.key"},
    {"check": "matched", "column": "x", "value": "file:data/others.csv"},
    {"of": "file:data/a b.csv", "check": "rows", "value": 3},
]
SENSELESS: list[tuple[dict[str, Any], str]] = [
    ({"check": "sum", "value": 3}, "column: the check 'sum' needs a column"),
    ({"check": "rows"}, "value: the check 'rows' needs a value"),
    ({"check": "rows", "value": "many"}, "value: the check 'rows' needs a number"),
    ({"check": "rows", "value": True}, "value: the check 'rows' needs a number"),
    ({"check": "rows", "column": "x", "value": 3}, "column: the check 'rows' is about the whole"),
    ({"check": "unique", "value": 3}, "value: the check 'unique' takes none"),
    ({"check": "range", "column": "x", "value": [1]}, "value: the check 'range' needs [least"),
    ({"check": "values", "column": "x", "value": "a"}, "value: the check 'values' needs a list"),
    (
        {"check": "values", "column": "x", "value": ["a"], "op": "<"},
        "op: the check 'values' is either = or !=",
    ),
    ({"check": "type", "column": "x", "value": 3}, "value: the check 'type' needs a name"),
    ({"check": "unique", "tolerance": 0.1}, "tolerance: only the checks 'rows' and 'sum'"),
    ({"of": "my table", "check": "unique"}, "of: 'my table' is neither"),
    ({"of": "file:", "check": "unique"}, "of: 'file:' needs a path"),
    ({"check": "matched", "column": "x", "value": "a b"}, "of: 'a b' is neither"),
]


@pytest.mark.parametrize("fields", SOUND)
def test_what_makes_sense_is_taken(fields: dict[str, Any]) -> None:
    assert expectation_problem(Expectation.model_validate({"of": "orders", **fields})) == ""


@pytest.mark.parametrize(("fields", "why"), SENSELESS)
def test_what_makes_none_says_why(fields: dict[str, Any], why: str) -> None:
    one = Expectation.model_validate({"of": "orders", **fields})
    assert expectation_problem(one).startswith(why)


def plan_with(*expects: Any) -> dict[str, Any]:
    return {"type": "plan", "goal": "g", "steps": [{"action": "do it", "expects": list(expects)}]}


def test_unsound_expectations_of_a_model_are_dropped() -> None:
    good = {"of": "orders", "check": "rows", "value": 3}
    written = plan_with(
        good, {"of": "orders", "check": "nice"}, {"of": "orders", "check": "sum"}, "3 rows"
    )
    reply = read_reply(json.dumps(written))
    assert isinstance(reply.structured, Plan)
    (kept,) = reply.structured.steps[0].expects
    assert (kept.of, kept.check, kept.value, kept.by) == ("orders", "rows", 3, "planner")
    assert reply.structured.notes == [
        "An expectation was left out: there is no check 'nice'.",
        "An expectation was left out: column: the check 'sum' needs a column.",
        "An expectation was left out: it is not an object.",
    ]


def test_what_can_mean_one_thing_only_is_taken_so() -> None:
    plan, notes = with_sound_expectations(
        plan_with(
            {"of": "data/orders.csv", "check": "unique", "op": "=", "value": True, "tolerance": 0},
        )
    )
    (one,) = plan["steps"][0]["expects"]
    assert (one["of"], one["value"], one["tolerance"]) == ("file:data/orders.csv", None, None)
    assert notes == []


def test_one_that_is_no_list_counts_as_one() -> None:
    plan = plan_with()
    plan["steps"][0]["expects"] = {"of": "orders", "check": "unique", "by": "person"}
    sound, _ = with_sound_expectations(plan)
    assert Plan.model_validate(sound).steps[0].expects[0].by == "planner"


@pytest.mark.parametrize("steps", [None, "none", ["no object"]])
def test_a_plan_that_is_none_is_left_to_those_who_say_so(steps: Any) -> None:
    plan = {"type": "plan", "goal": "g", "steps": steps}
    assert with_sound_expectations(plan) == (plan, [])
