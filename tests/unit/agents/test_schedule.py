"""Which steps can run now."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.agents.schedule import Schedule, can_execute_task, get_ready_tasks
from cowork_jupyter.domain.contexts import StepStatus
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
    schedule = Schedule(plan)
    assert [schedule.take(), schedule.take()] == ["a", None]
    schedule.finish("a")
    assert [schedule.take(), schedule.take(), schedule.take()] == ["b", "c", None]
    schedule.finish("b")
    assert schedule.take() is None
    schedule.finish("c")
    assert schedule.take() == "d"


@given(plans(), st.randoms())
def test_each_step_starts_once_and_only_after_what_it_needs(plan: Plan, chance: object) -> None:
    schedule, running, done = Schedule(plan), list[str](), set[str]()
    started: list[str] = []
    while True:
        while (step := schedule.take()) is not None:
            assert set(plan.step(step).depends_on) <= done
            started.append(step)
            running.append(step)
        if not running:
            break
        chance.shuffle(running)  # type: ignore[attr-defined]
        ended = running.pop()
        done.add(ended)
        schedule.finish(ended)
    assert sorted(started) == sorted(step.id for step in plan.steps)


@given(plans(), st.data())
def test_the_quick_way_agrees_with_the_plain_one(plan: Plan, data: st.DataObject) -> None:
    statuses = [StepStatus.PENDING, StepStatus.COMPLETED, StepStatus.SKIPPED]
    steps = [
        step.model_copy(update={"status": data.draw(st.sampled_from(statuses))})
        for step in plan.steps
    ]
    plan = plan.model_copy(update={"steps": steps})
    schedule = Schedule(plan)
    taken = []
    while (step := schedule.take()) is not None:
        taken.append(step)
    ready = [step.id for step in get_ready_tasks(plan)]
    assert taken == ready
    assert ready == [step.id for step in plan.steps if can_execute_task(step, plan)]


def test_a_skipped_step_holds_up_nobody_and_a_failed_one_does() -> None:
    plan = plan_of({"a": [], "b": ["a"]})
    for status, ready in ((StepStatus.SKIPPED, ["b"]), (StepStatus.FAILED, [])):
        first = plan.steps[0].model_copy(update={"status": status})
        changed = plan.model_copy(update={"steps": [first, plan.steps[1]]})
        assert [step.id for step in get_ready_tasks(changed)] == ready
