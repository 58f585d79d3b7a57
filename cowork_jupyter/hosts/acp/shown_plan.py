"""The plan of a session, as its client was shown it last."""

from __future__ import annotations

from acp import schema

from ...domain.plan import Plan
from ...domain.team import rights_of
from .updates import plan_update

_READY = (
    "The plan is ready (revision {revision}). Type `/execute` to approve and execute it, or "
    "say what to change.\n\n"
)


class ShownPlan:
    """At most one at a time: the newest."""

    def __init__(self) -> None:
        self._plan: tuple[Plan, int] | None = None
        self.failures: dict[str, str | None] = {}
        """By step; None where a step has not failed."""
        self.is_new = False
        """Whether this turn has made it, or changed it."""

    def take(self, plan: Plan, revision: int) -> bool:
        """The plan as it is now; whether it is another one than the client was shown."""
        before = self._plan
        another = before is None or (before[0].id, before[1]) != (plan.id, revision)
        if another:
            self.is_new = True
            self.failures.clear()
        self._plan = (plan, revision)
        return another

    def update(self) -> schema.AgentPlanUpdate | None:
        """What to tell of it."""
        return plan_update(*self._plan, self.failures) if self._plan else None

    def how_to_approve(self) -> str:
        """What to say once a turn has made one; empty if it has not."""
        if self._plan is None or not self.is_new:
            return ""
        plan, revision = self._plan
        rights = f"{said}\n\n" if (said := rights_of(plan)) else ""
        return rights + _READY.format(revision=revision)
