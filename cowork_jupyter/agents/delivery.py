"""Plans on their way to the user: each becomes a new revision, which waits for their approval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..domain.contexts import StepStatus
from ..domain.events import EventType
from ..domain.messages import MessageType
from ..domain.plan import Plan
from ..domain.plan_order import improve
from ..domain.roles import Permission
from ..store import PlanRevision
from ..tools.registry import ToolRegistry
from .log import RunLog

_LOOKING = frozenset({Permission.READ_FILES})


def deliver_plan(log: RunLog, plan: Plan, tools: ToolRegistry, files: Mapping[str, str]) -> None:
    """What a planner made, in the best order its graph allows, with the files it had read.

    This is the only place where an order is improved: before the user has seen the plan.
    """
    looking = {tool.name for tool in tools.values() if tool.permissions == _LOOKING}
    propose_plan(log, *improve(_untouched(plan), looking | _LOOKING), files)


def _untouched(plan: Plan) -> Plan:
    """The plan with nothing done yet: what is done only the log knows, never the model."""
    steps = [step.model_copy(update={"status": StepStatus.PENDING}) for step in plan.steps]
    return plan.model_copy(update={"steps": steps})


def propose_plan(
    log: RunLog, plan: Plan, notes: Sequence[str] = (), files: Mapping[str, str] | None = None
) -> None:
    """Store a plan as the newest revision, and show it with what was changed about it."""
    data = plan.model_dump(mode="json")
    told = {"order_notes": list(notes)} if notes else {}
    with log.journal.transaction() as tx:
        tx.append_message(log.message("assistant", "", MessageType.PLAN, {**data, **told}))
        last = tx.plan(log.context_id)
        number = last.revision + 1 if last else 1
        tx.save_plan(
            PlanRevision(
                context_id=log.context_id, revision=number, plan=plan, files_read=dict(files or {})
            )
        )
        log.append(tx, EventType.PLAN_UPDATE, {**data, "revision": number})
        if notes:
            notice = {"code": "plan_order", "message": " ".join(notes), "revision": number}
            log.append(tx, EventType.NOTICE, notice)
