"""Which steps can run now."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.contexts import DONE, StepStatus
from cowork_jupyter.domain.plan import Plan


def plan_of(dependencies: dict[str, list[str]]) -> Plan:
    steps = [
        {"id": one, "action": one, "depends_on": needed} for one, needed in dependencies.items()
    ]
    return Plan.model_validate({"goal": "g", "steps": steps})


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    count = draw(st.integers(1, 12))
    graph = {
        str(number): [str(other) for other in range(number) if draw(st.booleans())]
        for number in range(count)
    }
    return plan_of(graph)


def test_a_diamond_opens_and_closes() -> None:
    plan = plan_of({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]})
    schedule = plan.schedule()
    assert schedule.get_ready() == ("a",)
    schedule.done("a")
    assert schedule.get_ready() == ("b", "c")
    schedule.done("b")
    assert schedule.get_ready() == ()
    schedule.done("c")
    assert schedule.get_ready() == ("d",)


@given(plans(), st.randoms())
def test_each_step_starts_once_and_only_after_what_it_needs(plan: Plan, chance: object) -> None:
    schedule, running, done = plan.schedule(), list[str](), set[str]()
    started: list[str] = []
    while True:
        for step in schedule.get_ready():
            assert set(plan.step(step).depends_on) <= done
            started.append(step)
            running.append(step)
        if not running:
            break
        chance.shuffle(running)  # type: ignore[attr-defined]
        ended = running.pop()
        done.add(ended)
        schedule.done(ended)
    assert sorted(started) == sorted(step.id for step in plan.steps)


@given(plans(), st.data())
def test_ready_is_what_is_not_done_while_all_that_it_needs_is(
    plan: Plan, data: st.DataObject
) -> None:
    statuses = [StepStatus.PENDING, StepStatus.COMPLETED, StepStatus.SKIPPED]
    steps = [
        step.model_copy(update={"status": data.draw(st.sampled_from(statuses))})
        for step in plan.steps
    ]
    plan = plan.model_copy(update={"steps": steps})
    done = {step.id for step in steps if step.status in DONE}
    ready = [one.id for one in steps if one.id not in done and done.issuperset(one.depends_on)]
    assert list(plan.schedule().get_ready()) == ready


def test_a_skipped_step_holds_up_nobody_and_a_failed_one_does() -> None:
    plan = plan_of({"a": [], "b": ["a"]})
    for status, ready in ((StepStatus.SKIPPED, True), (StepStatus.FAILED, False)):
        first = plan.steps[0].model_copy(update={"status": status})
        changed = plan.model_copy(update={"steps": [first, plan.steps[1]]})
        assert ("b" in changed.schedule().get_ready()) is ready
