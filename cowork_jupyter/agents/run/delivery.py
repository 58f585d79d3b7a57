"""Delivers plans to the user: made fit for the team, stored, and waiting for approval."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...domain.contexts import Job, JobKind, StepStatus
from ...domain.events import PlanReordered
from ...domain.figures import Figure, keep_decisions
from ...domain.guidance import Guidance, GuidanceUsed
from ...domain.messages import PlanData, ReviewData
from ...domain.plan import Plan, continue_plan, improve_order
from ...domain.replies import Review
from ...domain.roles import AgentRole, Permission
from ...domain.team import MARK, team_problems, unknown_roles, with_sound_team
from ...llm.relevance import words
from ...llm.reply import Reply
from ...roles.catalog import RoleCatalog
from ...store import PlanRevision, Transaction
from ...tools.registry import ToolRegistry
from ...workflows import Template
from ...workflows.workflow import PLACE
from ..log import RunLog
from .figure_check import FigureCheck
from .outcome import Outcome
from .tool_runner import ToolRunner

_LOOKING = frozenset({Permission.READ_FILES})

_MIN_WORDS = 2
"""Per step, beside the values that vary: one common word may be chance."""
_SHARE_OF_WORDS = 0.75
"""How much of a step's words another must have to be the same step."""
_SHARE_OF_STEPS = 0.5
"""More than this share of the steps must be kept."""


@dataclass(frozen=True)
class Delivery:
    """Takes the plan or the review with which a run ends."""

    log: RunLog
    runner: ToolRunner
    figures: FigureCheck
    agents: Collection[str] = ()
    """The external ones."""
    templates: Sequence[Template] = ()
    roles: RoleCatalog = field(default_factory=RoleCatalog)
    """Who may carry out steps of a plan."""

    def problem(self, delivered: Plan | Review) -> str:
        """Why it cannot be taken."""
        if delivered.type not in self.log.role.spec.formats:
            return f"The {self.log.role} role does not produce a {delivered.type}."
        if isinstance(delivered, Review):
            return ""
        unknown = unknown_roles(delivered.with_roles(self.roles.resolve), self.roles.all())
        return next((f"The plan is not valid: {problem}." for problem in unknown), "")

    async def deliver(self, reply: Reply, delivered: Plan | Review) -> Outcome:
        if isinstance(delivered, Plan):
            delivered = delivered.with_roles(self.roles.resolve)
            await self._deliver_plan(delivered)
        else:
            self.log.say("assistant", "", ReviewData(**dict(delivered)))
        return Outcome(text=reply.text, delivered=delivered)

    async def _deliver_plan(self, plan: Plan) -> None:
        files = self.runner.files_known(plan)
        figures = await self.figures.find_in_plan(plan)
        deliver_plan(self.log, plan, self.runner.tools.registry, self.agents, files, figures)
        if template := followed_template(plan, self.templates):
            self.log.event(GuidanceUsed(items=[as_guidance(template)]))


def deliver_plan(
    log: RunLog,
    plan: Plan,
    tools: ToolRegistry,
    agents: Collection[str],
    files: Mapping[str, str],
    figures: Sequence[Figure] = (),
) -> None:
    """Store a planner's plan, in the best order its graph allows, with the files it has read.

    Steps assigned to somebody who cannot do them are corrected, and the user is told. `agents` are
    the external ones. This is the only place where an order is improved: before the user sees the
    plan.
    """
    looking = {tool.name for tool in tools.values() if tool.permissions == _LOOKING}
    fit, unfit = fit_to_team(reset_steps(plan), tools, agents)
    improved, notes = improve_order(fit, looking | _LOOKING)
    propose_plan(log, improved, [*plan.notes, *unfit, *notes], files, figures)


def reset_steps(plan: Plan) -> Plan:
    """Reset all steps to pending: only the log knows what is done, never the model."""
    steps = [step.model_copy(update={"status": StepStatus.PENDING}) for step in plan.steps]
    return plan.model_copy(update={"steps": steps})


def propose_plan(
    log: RunLog,
    plan: Plan,
    notes: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
    figures: Sequence[Figure] = (),
) -> None:
    """Store a plan, or the next revision of the plan of its job, and show it.

    The plan of a delegated planner is only a message for whoever delegated, not a plan of the
    conversation.
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
            plan_fields = {"plan_id": revision.plan_id, "plan_revision": revision.revision}
            tx.save_job(job.model_copy(update=plan_fields))
        log.append(tx, revision.as_event())
        if notes:
            log.append(tx, PlanReordered(message=" ".join(notes), revision=revision.revision))


def _data(plan: Plan, notes: Sequence[str], figures: Sequence[Figure]) -> PlanData:
    facts = {"order_notes": list(notes), "figures": list(figures)}
    return PlanData.of(plan, **{name: value for name, value in facts.items() if value})


def _next_revision(
    tx: Transaction, job: Job, plan: Plan, files_read: dict[str, str]
) -> PlanRevision:
    """A message about a plan revises that plan; any other makes a new one.

    A job that executes a plan and re-plans half way keeps what is done.
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


def unfit_steps(plan: Plan, tools: ToolRegistry, agents: Collection[str]) -> Iterator[str]:
    held = {role: _assignable(role, tools, agents) for role in _roles(plan)}
    for index, step in enumerate(plan.steps):
        for name in step.tools_needed:
            if name not in held[step.runs_as]:
                yield f"steps[{index}].tools_needed: the {step.runs_as} has no tool '{name}'"
    yield from team_problems(plan, agents)


def fit_to_team(plan: Plan, tools: ToolRegistry, agents: Collection[str]) -> tuple[Plan, list[str]]:
    """A model's plan without such assignments, and a sentence on each that was removed."""
    held = {role: _assignable(role, tools, agents) for role in _roles(plan)}
    return with_sound_team(plan, held, agents)


def _roles(plan: Plan) -> set[AgentRole]:
    return {step.runs_as for step in plan.steps}


def _assignable(role: AgentRole, tools: ToolRegistry, agents: Collection[str]) -> set[str]:
    permitted = {tool.name for tool in tools.permitted(role)}
    return (
        permitted
        | {str(permission) for permission in role.spec.permissions}
        | {f"{MARK}{name}" for name in agents}
    )


def as_guidance(template: Template) -> Guidance:
    return Guidance(kind="template", name=template.name, source=template.source)


def followed_template(plan: Plan, templates: Sequence[Template]) -> Template | None:
    """The template that the plan keeps most of, if it keeps enough."""
    shares = [(_share_kept(plan, template), template) for template in templates]
    share, best = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    return best if share > _SHARE_OF_STEPS else None


def _share_kept(plan: Plan, template: Template) -> float:
    """The share of distinctive template steps that occur in the plan, each matched once."""
    distinctive = [
        step_words
        for step in template.plan.steps
        if len(step_words := words(PLACE.sub(" ", step.action))) >= _MIN_WORDS
    ]
    planned = [words(step.action) for step in plan.steps]
    kept = 0
    for step_words in distinctive:
        same = next(
            (
                kept_words
                for kept_words in planned
                if len(step_words & kept_words) >= _SHARE_OF_WORDS * len(step_words)
            ),
            None,
        )
        if same is not None:
            planned.remove(same)
            kept += 1
    return kept / len(distinctive) if distinctive else 0.0
