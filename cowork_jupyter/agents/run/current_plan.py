"""The plan that a run is about, in words for a model."""

from __future__ import annotations

from ...domain.contexts import StepStatus
from ...domain.plan import Plan
from ...domain.roles import AgentRole
from ...store import PlanRevision
from ..log import RunLog

MAX_LISTED = 50
"""Steps named per status."""


def current_plan(log: RunLog) -> PlanRevision | None:
    """The plan of the job. A planner with a new goal has none: it is to make one."""
    store = log.journal.store
    plan_id = store.plan_id_of(log.job_id)
    if plan_id is None and log.role is AgentRole.PLANNER:
        return None
    return store.plan(log.context_id, plan_id=plan_id)


def text_of(plan: Plan) -> str:
    """The plan without step statuses, so that the text stays the same over a whole execution."""
    fixed = plan.model_dump_json(exclude={"steps": {"__all__": {"status"}}})
    return f"The current plan:\n{fixed}"


def standing_of(plan: Plan) -> str:
    """How far the plan is; empty if it has not begun."""
    groups: dict[StepStatus, list[str]] = {}
    for step in plan.steps:
        groups.setdefault(step.status, []).append(step.id)
    if groups.keys() == {StepStatus.PENDING}:
        return ""
    return f"Status of the plan: {'; '.join(_listed(*group) for group in groups.items())}."


def _listed(status: StepStatus, steps: list[str]) -> str:
    more = len(steps) - MAX_LISTED
    return f"{status}: {', '.join(steps[-MAX_LISTED:])}{f' and {more} more' if more > 0 else ''}"
