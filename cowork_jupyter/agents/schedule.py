"""Which steps of a plan can run now. Pure, and quick for plans of a thousand steps."""

from __future__ import annotations

from collections import deque

from ..domain.contexts import StepStatus
from ..domain.plan import Plan, PlanStep

DONE = frozenset({StepStatus.COMPLETED, StepStatus.SKIPPED})
"""A skipped step holds up nobody: the user said that the rest should go on without it."""


def can_execute_task(step: PlanStep, plan: Plan) -> bool:
    """Whether a step is pending and all that it depends on is done."""
    needed = set(step.depends_on)
    done = {one.id for one in plan.steps if one.status in DONE}
    return step.status is StepStatus.PENDING and needed <= done


def get_ready_tasks(plan: Plan) -> list[PlanStep]:
    """All steps that could start now, in the plan's order."""
    done = {one.id for one in plan.steps if one.status in DONE}
    return [
        step
        for step in plan.steps
        if step.status is StepStatus.PENDING and done.issuperset(step.depends_on)
    ]


class Schedule:
    """The same, kept up to date step by step instead of looked up anew each time."""

    def __init__(self, plan: Plan) -> None:
        done = {step.id for step in plan.steps if step.status in DONE}
        self._missing = {
            step.id: len(set(step.depends_on) - done) for step in plan.steps if step.id not in done
        }
        self._followers: dict[str, list[str]] = {}
        for step in plan.steps:
            for needed in set(step.depends_on):
                self._followers.setdefault(needed, []).append(step.id)
        self._ready = deque(one for one, missing in self._missing.items() if missing == 0)

    def take(self) -> str | None:
        """The next step to start, in the plan's order; None if none can start now."""
        return self._ready.popleft() if self._ready else None

    def finish(self, step_id: str) -> None:
        """A step is done: what only waited for it can start."""
        for follower in self._followers.get(step_id, ()):
            if follower in self._missing:
                self._missing[follower] -= 1
                if self._missing[follower] == 0:
                    self._ready.append(follower)
