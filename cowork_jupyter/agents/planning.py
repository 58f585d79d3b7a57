"""Planning: the planner reads, asks and discusses until there is a plan for the user to approve."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.contexts import Context
from ..domain.events import EventType
from ..domain.plan import PlanStep
from ..domain.roles import AgentRole
from .agent import AgentKit
from .budget import Budget
from .loop import Outcome


async def run_planning_phase(
    kit: AgentKit,
    context: Context,
    job_id: str,
    request: str,
    budget: Budget,
    finished: Sequence[PlanStep] = (),
) -> Outcome:
    """Let the planner work on a request; what it delivers is a new revision of the plan.

    Steps that are `finished` stay in the plan before what is planned now. Nothing is carried
    out: that takes the user's approval of the revision.
    """
    before = _revision(kit, context)
    outcome = await kit.run(context, AgentRole.PLANNER, job_id, request, budget)
    if finished and _revision(kit, context) != before:
        _keep(kit, context, job_id, finished)
    return outcome


def _revision(kit: AgentKit, context: Context) -> int:
    newest = kit.journal.store.plan(context.id)
    return newest.revision if newest else 0


def _keep(kit: AgentKit, context: Context, job_id: str, finished: Sequence[PlanStep]) -> None:
    """The new plan shows what the old one has achieved, unless it uses the same ids anew."""
    newest = kit.journal.store.plan(context.id)
    known = {step.id for step in finished}
    if newest is None or any(step.id in known for step in newest.plan.steps):
        return
    merged = newest.plan.model_copy(update={"steps": [*finished, *newest.plan.steps]})
    with kit.journal.transaction() as tx:
        tx.save_plan(newest.model_copy(update={"plan": merged}))
        data = {**merged.model_dump(mode="json"), "revision": newest.revision}
        tx.append_event(context.id, EventType.PLAN_UPDATE, data, job_id)
