"""A plan in words for a model: what stays the same while it is carried out, and how it stands."""

from __future__ import annotations

from ...domain.contexts import StepStatus
from ...domain.plan import Plan

MAX_LISTED = 50
"""Steps of one status that are named."""


def text_of(plan: Plan) -> str:
    """The plan without the statuses of its steps, so that all of them read the same."""
    fixed = plan.model_dump_json(exclude={"steps": {"__all__": {"status"}}})
    return f"The current plan:\n{fixed}"


def standing_of(plan: Plan) -> str:
    """How far a plan has come, in a few words; empty if it has not begun."""
    groups: dict[StepStatus, list[str]] = {}
    for step in plan.steps:
        groups.setdefault(step.status, []).append(step.id)
    if groups.keys() == {StepStatus.PENDING}:
        return ""
    return f"Status of the plan: {'; '.join(_listed(*group) for group in groups.items())}."


def _listed(status: StepStatus, steps: list[str]) -> str:
    more = len(steps) - MAX_LISTED
    return f"{status}: {', '.join(steps[-MAX_LISTED:])}{f' and {more} more' if more > 0 else ''}"
