"""The order of plans: what is improved, and what must never change by it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.contexts import StepStatus
from cowork_jupyter.domain.plan import ImprovedPlan, Plan, PlanStep
from cowork_jupyter.domain.plan import improve_order as improve_with

READING = {"read_file", "grep", "read_files"}


def improve_order(plan: Plan) -> ImprovedPlan:
    return improve_with(plan, READING)


def plan(*steps: dict[str, Any]) -> Plan:
    return Plan.model_validate({"goal": "g", "steps": list(steps)})


def step(key: str, *needed: str, **fields: Any) -> dict[str, Any]:
    return {"id": key, "action": f"do {key}", "depends_on": [*needed], **fields}


def look(key: str, *needed: str, **fields: Any) -> dict[str, Any]:
    chosen = {"action": "Read it", "tools_needed": ["read_file"], "files": ["a.csv"], **fields}
    return step(key, *needed, **chosen)


def order(plan: Plan) -> str:
    return "".join(one.id for one in plan.steps)


# Order


def test_steps_that_wait_for_nothing_come_first() -> None:
    given = plan(step("a"), step("b", "a"), step("c"), step("d", "c"))
    better, notes = improve_order(given)
    assert order(better) == "acbd"
    assert notes == ["Steps that do not depend on others come first; the order is now: 1, 3, 2, 4."]


def test_start_of_the_longest_chain_comes_first() -> None:
    given = plan(step("a"), step("b"), step("c"), step("x", "b"), step("y", "c"), step("z", "y"))
    assert order(improve_order(given).plan) == "cbayxz"


def test_step_that_more_wait_for_comes_first() -> None:
    given = plan(step("a"), step("b"), step("p", "a"), step("q", "b"), step("r", "b"))
    assert order(improve_order(given).plan) == "bapqr"


def test_reordering_keeps_ids_and_numbers() -> None:
    better = improve_order(plan(step("a"), step("b", "a"), step("c"))).plan
    assert [(one.id, one.step_number) for one in better.steps] == [("a", 1), ("c", 3), ("b", 2)]


def test_a_good_order_is_left_alone() -> None:
    given = plan(step("a"), step("b"), step("c", "a", "b"))
    assert improve_order(given) == (given, [])


def test_plan_without_dependencies_keeps_its_order() -> None:
    fields = {"action": "Read a.csv", "tools_needed": ["read_file"], "files": ["a.csv"]}
    given = plan(fields, {"action": "b"}, fields)
    assert improve_order(given) == (given, [])


def test_steps_on_the_same_file_keep_their_order() -> None:
    given = plan(
        step("a", files=["x.py"]),
        step("b", files=["./x.py"]),
        step("c", "b"),
        step("d", "c"),
    )
    assert order(improve_order(given).plan) == "abcd"


def test_a_folder_holds_what_is_in_it() -> None:
    given = plan(
        look("r", files=["data"], tools_needed=["grep"]),
        step("w", files=["data/a.csv"]),
        step("n", "w"),
    )
    assert order(improve_order(given).plan) == "rwn"


def test_readers_of_one_file_may_pass_each_other() -> None:
    given = plan(look("a"), look("b", action="Read it well"), step("c", "b"))
    assert order(improve_order(given).plan) == "bac"


def test_a_plan_that_was_begun_is_not_touched_any_more() -> None:
    given = plan(step("a"), step("b", "a"), step("c"))
    given.steps[0].status = StepStatus.COMPLETED
    assert improve_order(given) == (given, [])


def test_the_note_on_a_long_plan_stays_readable() -> None:
    chains = [each for n in range(100) for each in (step(f"a{n}"), step(f"b{n}", f"a{n}"))]
    (note,) = improve_order(plan(*chains)).notes
    assert len(note) < 300
    assert note.endswith(", 59, ….")


# Shared reads


def test_the_same_look_is_taken_once_and_shared() -> None:
    given = plan(
        look("a", reason="for the plot"),
        look("b", action="Read  it", reason="for the table"),
        step("p", "a", files=["plot.py"]),
        step("t", "b", "a", files=["table.py"]),
    )
    better, notes = improve_order(given)
    assert order(better) == "apt"
    assert better.step("t").depends_on == ["a"]
    assert better.step("a").reason == "for the plot; for the table"
    assert notes == [
        "Steps 1 and 2 read the same things: step 1 reads them once, and both share the result."
    ]


def test_looks_that_follow_shared_looks_are_shared_too() -> None:
    given = plan(
        *(look("a"), look("b"), look("c", "a", files=["b.csv"]), look("d", "b", files=["b.csv"])),
        step("z", "c", "d"),
    )
    assert order(improve_order(given).plan) == "acz"


@pytest.mark.parametrize(
    "other",
    [
        look("b", action="Read it again"),
        look("b", files=["b.csv"]),
        look("b", tools_needed=["read_file", "update_file"]),
        look("b", tools_needed=["grep"]),
        look("b", tools_needed=[]),
        look("b", "x"),
    ],
    ids=["words", "files", "writes", "tools", "no tools", "after something else"],
)
def test_what_differs_is_not_shared(other: dict[str, Any]) -> None:
    given = plan(look("x", files=["x"]), look("a"), other)
    assert len(improve_order(given).plan.steps) == 3


@pytest.mark.parametrize(
    "between",
    [
        step("w", files=["a.csv"], tools_needed=["update_file"]),
        step("w", tools_needed=["execute_command"]),
        step("w", "a", files=["a.csv"], tools_needed=["update_file"]),
    ],
    ids=["changes it", "changes who knows what", "after only one of them"],
)
def test_reads_are_not_merged_across_a_change(between: dict[str, Any]) -> None:
    given = plan(look("a"), between, look("b"))
    assert len(improve_order(given).plan.steps) == 3


def test_a_change_before_or_after_both_looks_does_not_matter() -> None:
    before = step("w", files=["a.csv"], tools_needed=["update_file"])
    after = step("z", "a", "b", files=["a.csv"], tools_needed=["update_file"])
    assert order(improve_order(plan(before, look("a", "w"), look("b", "w"), after)).plan) == "waz"


# Whatever the plan


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans with few files and few actions, so that much of it is alike."""
    count = draw(st.integers(1, 9))
    steps = []
    for number in range(count):
        needed = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        steps.append(
            {
                "id": f"s{number}",
                "action": draw(st.sampled_from(["Look", "See"])),
                "tools_needed": draw(st.sampled_from([["read_file"], ["update_file"], []])),
                "files": draw(st.lists(st.sampled_from(["d", "d/a", "d/b"]), max_size=2)),
                "depends_on": [f"s{one}" for one in sorted(needed)],
            }
        )
    return plan(*draw(st.permutations(steps)))


def waits_for(plan: Plan) -> dict[str, set[str]]:
    """All that each step waits for, directly or not."""
    steps = {one.id: one for one in plan.steps}

    def of(key: str) -> set[str]:
        return {*steps[key].depends_on}.union(*(of(one) for one in steps[key].depends_on))

    return {key: of(key) for key in steps}


def longest_chain(plan: Plan) -> int:
    def length(key: str) -> int:
        return 1 + max(map(length, plan.step(key).depends_on), default=0)

    return max(length(one.id) for one in plan.steps)


def work(steps: list[PlanStep]) -> set[tuple[str, ...]]:
    return {(one.action, *one.tools_needed, "|", *sorted({*one.files})) for one in steps}


@given(plans())
def test_ordering_keeps_the_work_and_dependencies(given: Plan) -> None:
    better, _ = improve_order(given)
    assert work(better.steps) == work(given.steps)
    done: set[str] = set()
    for one in better.steps:
        assert done.issuperset(one.depends_on)
        done.add(one.id)


@given(plans())
def test_only_reads_are_dropped_and_dependencies_stay(given: Plan) -> None:
    better, _ = improve_order(given)
    before, after = waits_for(given), waits_for(better)
    dropped = before.keys() - after.keys()
    assert all(given.step(one).tools_needed == ["read_file"] for one in dropped)
    for key, needed in after.items():
        assert needed >= before[key] - dropped


@given(plans())
def test_the_longest_chain_does_not_grow(given: Plan) -> None:
    assert longest_chain(improve_order(given).plan) <= longest_chain(given)


@given(plans())
def test_a_second_time_changes_nothing_more(given: Plan) -> None:
    once = improve_order(given).plan
    assert improve_order(once) == (once, [])


@given(plans())
def test_ordering_is_deterministic_and_idempotent(given: Plan) -> None:
    copy = given.model_copy(deep=True)
    assert improve_order(given) == improve_order(copy)
    assert given == copy


@given(plans())
def test_what_changed_is_said_and_nothing_else(given: Plan) -> None:
    better, notes = improve_order(given)
    assert bool(notes) == (better != given)
