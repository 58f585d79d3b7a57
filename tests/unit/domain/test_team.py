from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.plan import Plan, describe_change
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.team import is_review, rights_of, sent_back_by


def made(*steps: dict[str, Any]) -> Plan:
    numbered = [{"action": f"do {step['id']}", **step} for step in steps]
    return Plan.model_validate({"goal": "g", "steps": numbered})


def test_plan_without_roles_keeps_its_old_shape() -> None:
    (step,) = made({"id": "1"}).model_dump(mode="json")["steps"]
    assert not step.keys() & {"role", "agent", "rounds"}
    said = {"id": "1", "role": "reviewer", "agent": "claude", "rounds": 1}
    (step,) = made(said).model_dump(mode="json")["steps"]
    assert said.items() <= step.items()


def test_who_does_a_step_is_part_of_a_change() -> None:
    before = made({"id": "1"}, {"id": "2"})
    assert describe_change(before, made({"id": "1", "role": "tester"}, {"id": "2"})) == (
        "1 step changed"
    )


def test_a_step_without_a_role_is_the_actors() -> None:
    step, review = made({"id": "1"}, {"id": "2", "role": "reviewer"}).steps
    assert step.runs_as is AgentRole.ACTOR
    assert (is_review(step), is_review(review)) == (False, True)


@pytest.mark.parametrize(
    ("steps", "again"),
    [
        ([("a", "actor", []), ("t", "tester", ["a"])], ["a", "t"]),
        ([("a", "actor", []), ("b", "actor", ["a"]), ("t", "tester", ["b"])], ["b", "t"]),
        ([("a", "actor", []), ("b", None, []), ("t", "tester", ["a", "b"])], ["a", "b", "t"]),
        ([("p", "planner", []), ("d", "designer", ["p"]), ("t", "tester", ["d"])], []),
        ([("a", "actor", []), ("p", "planner", []), ("t", "tester", ["a", "p"])], ["a", "t"]),
    ],
)
def test_review_sends_back_the_nearest_writing_steps(
    steps: list[tuple[str, str | None, list[str]]], again: list[str]
) -> None:
    before = [{"id": one, "role": role, "depends_on": needed} for one, role, needed in steps]
    plan = made(*before, {"id": "r", "role": "reviewer", "depends_on": ["t"]})
    assert sorted(step.id for step in sent_back_by(plan.step("r"), plan.steps)) == sorted(again)


def test_the_rights_are_said_in_a_sentence() -> None:
    plan = made(
        {"id": "1", "role": "planner"},
        {"id": "2"},
        {"id": "3", "role": "tester", "depends_on": ["2"]},
        {"id": "4", "role": "reviewer", "rounds": 2, "depends_on": ["3"]},
    )
    assert rights_of(plan) == (
        "Roles: planner only reads; actor may write, create, delete and run; tester may run "
        "commands with the workspace read-only; reviewer only reads. If step 4 asks for changes, "
        "steps 2 and 3 run again with the same rights, twice at most."
    )
    assert rights_of(made({"id": "1"}, {"id": "2"})) == ""


def test_the_rights_say_what_an_external_agent_can_do() -> None:
    for named in ({"agent": "claude"}, {"tools_needed": ["agent:claude"]}):
        said = rights_of(made({"id": "1", **named}))
        assert "claude works as actor" in said
        assert "within the sandbox and this role's rights" in said
