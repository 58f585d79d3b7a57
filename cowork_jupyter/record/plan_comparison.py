"""Two revisions of a plan side by side: what was added, removed, changed, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import BaseModel

from ..domain.expectation_rules import FILE
from ..domain.plan import Plan, PlanStep, describe_change
from ..effects.checking import in_words

StepChange = Literal["added", "removed", "changed", "moved"]


class FieldChange(BaseModel):
    """One field that differs, in words."""

    field: str
    before: str
    after: str


class StepComparison(BaseModel):
    """One step that differs."""

    id: str
    number: int
    """Its number in the later plan; of a removed step, in the earlier one."""
    change: StepChange
    action: str
    fields: list[FieldChange] = []
    """What differs; empty for a step that was added or removed."""


class PlanComparison(BaseModel):
    """How a plan differs from another."""

    summary: str
    fields: list[FieldChange]
    steps: list[StepComparison]


def compare_plans(before: Plan, after: Plan) -> PlanComparison:
    """The progress of steps is not a difference."""
    fields, steps = list(_diff(_of_plan(before), _of_plan(after))), list(_steps(before, after))
    summary = describe_change(before, after) if fields or steps else "no difference"
    return PlanComparison(summary=summary, fields=fields, steps=steps)


def _steps(before: Plan, after: Plan) -> Iterator[StepComparison]:
    old = {step.id: step for step in before.steps}
    new = {step.id: step for step in after.steps}
    orders = [key for key in old if key in new], [key for key in new if key in old]
    moved = {key for key, other in zip(*orders, strict=True) if key != other}
    for step in after.steps:
        known = old.get(step.id)
        if known is None:
            yield _compared(step, "added")
        elif fields := list(_diff(_of_step(before, known), _of_step(after, step))):
            yield _compared(step, "changed", fields)
        elif step.id in moved:
            yield _compared(step, "moved")
    yield from (_compared(step, "removed") for step in before.steps if step.id not in new)


def _compared(
    step: PlanStep, change: StepChange, fields: list[FieldChange] | None = None
) -> StepComparison:
    return StepComparison(
        id=step.id, number=step.step_number, change=change, action=step.action, fields=fields or []
    )


def _moved(before: list[str], after: list[str]) -> set[str]:
    return {step_id for step_id, other in zip(after, before, strict=True) if step_id != other}


def _diff(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[FieldChange]:
    for field, text in after.items():
        if before[field] != text:
            yield FieldChange(field=field, before=before[field], after=text)


def _of_plan(plan: Plan) -> dict[str, str]:
    return {
        "goal": plan.goal,
        "risks": " · ".join(plan.risks),
        "needs": " · ".join(plan.prerequisites),
        "assumptions": " · ".join(assumption.text for assumption in plan.assumptions),
        "estimated time": plan.estimated_total_time,
    }


def _of_step(plan: Plan, step: PlanStep) -> dict[str, str]:
    """Keyed by display names. People know the dependencies by step number, not by id."""
    earlier = [str(plan.step(step_id).step_number) for step_id in step.depends_on]
    expected = [f"{each.of.removeprefix(FILE)}: {in_words(each)}" for each in step.expects]
    return {
        "action": step.action,
        "reason": step.reason,
        "role": str(step.role or ""),
        "agent": step.agent,
        "rounds of review": str(step.rounds or ""),
        "tools": ", ".join(step.tools_needed),
        "files": ", ".join(step.files),
        "after step": ", ".join(earlier),
        "estimated time": step.estimated_time,
        "expects": " · ".join(expected),
    }
