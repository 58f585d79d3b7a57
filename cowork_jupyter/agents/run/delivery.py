"""Plans on their way to the user: each is stored, and waits for their approval."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...domain.contexts import Job, JobKind, StepStatus
from ...domain.figures import Figure, keep_decisions
from ...domain.message_data import PlanData
from ...domain.notices import PlanReordered
from ...domain.plan import Plan, continue_plan
from ...domain.plan_order import improve_order
from ...domain.roles import Permission
from ...store import PlanRevision, Transaction
from ...tools.registry import ToolRegistry
from ..log import RunLog
from ..team import made_fit

_LOOKING = frozenset({Permission.READ_FILES})


def deliver_plan(
    log: RunLog,
    plan: Plan,
    tools: ToolRegistry,
    agents: Collection[str],
    files: Mapping[str, str],
    figures: Sequence[Figure] = (),
) -> None:
    """What a planner made, in the best order its graph allows, with the files it had read.

    What it gives to somebody who cannot do it is left out, and the user is told. `agents` are
    those of others.

    This is the only place where an order is improved: before the user has seen the plan.
    """
    looking = {tool.name for tool in tools.values() if tool.permissions == _LOOKING}
    fit, unfit = made_fit(as_proposed(plan), tools, agents)
    improved, notes = improve_order(fit, looking | _LOOKING)
    propose_plan(log, improved, [*plan.notes, *unfit, *notes], files, figures)


def as_proposed(plan: Plan) -> Plan:
    """The plan with nothing done yet: what is done only the log knows, never the model."""
    steps = [step.model_copy(update={"status": StepStatus.PENDING}) for step in plan.steps]
    return plan.model_copy(update={"steps": steps})


def propose_plan(
    log: RunLog,
    plan: Plan,
    notes: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
    figures: Sequence[Figure] = (),
) -> None:
    """Store a plan, or the next revision of the one its job is about, and show it.

    What a planner delivers to another agent is that agent's to use: it is a message, and no
    plan of the conversation.
    """
    with log.journal.transaction() as tx:
        job = tx.job(log.job_id)
        if log.task_id:
            tx.append_message(log.message("assistant", "", _data(plan, notes, figures)))
            return
        revision = _next_revision(tx, job, plan, dict(files or {}))
        data = _data(revision.plan, notes, figures)
        tx.append_message(log.message("assistant", "", data))
        tx.save_plan(revision)
        if job.kind is not JobKind.PLAN:  # which goes on to say what it executed
            made = {"plan_id": revision.plan_id, "plan_revision": revision.revision}
            tx.save_job(job.model_copy(update=made))
        log.append(tx, revision.as_event())
        if notes:
            log.append(tx, PlanReordered(message=" ".join(notes), revision=revision.revision))


def _data(plan: Plan, notes: Sequence[str], figures: Sequence[Figure]) -> PlanData:
    facts = {"order_notes": list(notes), "figures": list(figures)}
    return PlanData.of(plan, **{name: value for name, value in facts.items() if value})


def _next_revision(
    tx: Transaction, job: Job, plan: Plan, files_read: dict[str, str]
) -> PlanRevision:
    """A message about a plan revises that one; any other makes a plan of its own.

    A job that executes a plan and plans anew half way keeps what is done.
    """
    last = tx.plan(job.context_id, plan_id=job.plan_id) if job.plan_id else None
    assumed = keep_decisions(plan.assumptions, last.plan.assumptions if last else [])
    plan = plan.model_copy(update={"assumptions": assumed})
    facts: dict[str, Any] = {
        "context_id": job.context_id,
        "files_read": files_read,
        "job_id": job.id,
        "by": "workflow" if job.kind is JobKind.WORKFLOW else "planner",
    }
    if last is None:
        return PlanRevision(plan=plan, request=job.request, **facts)
    if job.kind is JobKind.PLAN:
        plan = continue_plan(last.plan, plan)
    return last.next(plan, **facts)
