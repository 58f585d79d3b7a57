"""Which steps of a plan can run now. Pure, and quick for plans of a thousand steps."""

from __future__ import annotations

from ...domain.contexts import DONE
from ...domain.plan import Plan


class Schedule:
    """Kept up to date step by step instead of looked up anew each time."""

    def __init__(self, plan: Plan) -> None:
        done = {step.id for step in plan.steps if step.status in DONE}
        self._missing = {
            step.id: len(set(step.depends_on) - done) for step in plan.steps if step.id not in done
        }
        """Of each step that has not started: how much it depends on is not done yet."""
        self._followers: dict[str, list[str]] = {}
        for step in plan.steps:
            for needed in set(step.depends_on):
                self._followers.setdefault(needed, []).append(step.id)
        self._ready = {one: None for one in self._missing if self.can_execute_task(one)}

    def can_execute_task(self, step_id: str) -> bool:
        """Whether a step has not started and all that it depends on is done."""
        return self._missing.get(step_id) == 0

    def get_ready_tasks(self) -> list[str]:
        """All steps that can start now, in the plan's order as far as they were waiting."""
        return list(self._ready)

    def start(self, step_id: str) -> None:
        """A step is being carried out."""
        del self._ready[step_id], self._missing[step_id]

    def finish(self, step_id: str) -> None:
        """A step is done: what only waited for it can start."""
        for follower in self._followers.get(step_id, ()):
            if follower in self._missing:
                self._missing[follower] -= 1
                if self.can_execute_task(follower):
                    self._ready[follower] = None
