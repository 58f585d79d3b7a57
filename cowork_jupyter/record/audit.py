"""Plan versus actual: what every step was meant to do, beside what the log says it did.

Computed from the store on each request, so that it can never disagree with the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel

from ..domain.contexts import Initiator, StepStatus
from ..domain.effects import DataEffect
from ..domain.figures import Assumption
from ..domain.messages import Message, TaskResultData, TextData, ToolResultData
from ..domain.roles import DEFAULT_ROLE, AgentRole
from ..effects.figure_index import without_source
from ..tools.base import Tool
from .card_model import EffectSummary
from .conversation_log import ConversationLog
from .deviations import Deviation, DeviationFinder, StepGraph, only_reads
from .step_traces import (
    LoggedToolUse,
    StepTrace,
    step_traces,
    timing_by_task,
    tool_uses,
    total_seconds,
)

EffectsByCall = Mapping[str | None, Sequence[EffectSummary]]


class ToolCount(BaseModel):
    """How often a tool was called, and how often it failed."""

    tool: str
    calls: int
    failed: int = 0


class Planned(BaseModel):
    """What the plan says of a step."""

    tools: list[str]
    """Tools, or permissions that stand for all tools which need just those."""
    files: list[str]
    order: int
    depends_on: list[str]
    time: str
    role: AgentRole = DEFAULT_ROLE
    rounds: int = 0
    """How often it could send back the work before it."""


class ToolWork(BaseModel):
    """What was done with tools."""

    tools: list[ToolCount]
    files: list[str]
    """Files that were changed, as far as the tools report it; a command does not."""
    files_read: list[str]
    effects: list[EffectSummary] = []


class Actual(ToolWork):
    """What a step did according to the log."""

    order: int | None
    """Its place among the steps by start time; None if it was not started."""
    started_at: str | None
    ended_at: str | None
    seconds: float
    """Time spent on it, excluding waits for the user."""
    attempts: int
    rounds: int = 0
    """How often a review sent it back, or it sent back the work before it."""


class StepAudit(BaseModel):
    """One step, planned and actual."""

    id: str
    number: int
    action: str
    status: StepStatus
    planned: Planned
    actual: Actual
    deviations: list[Deviation]
    checkpoint_ids: list[str]


class Outside(ToolWork):
    """What one job did outside every step of the plan."""

    job_id: str | None
    role: AgentRole | None
    message_ids: list[str]


class UnseenFigure(BaseModel):
    """A number that an agent wrote and that is in no output."""

    text: str
    message_id: str
    job_id: str | None


class StatedAssumption(Assumption):
    """An assumption of a plan or an answer, with the user's verdict."""

    message_id: str | None = None
    """The answer that states it; None if the plan does."""


class Totals(BaseModel):
    """Totals of an audit."""

    steps: int = 0
    completed: int = 0
    deviations: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    """Time in which at least one step was worked on."""
    tokens: int = 0
    """Of the whole conversation, planning included."""


class Audit(BaseModel):
    """The answer of `GET context/{id}/audit`."""

    context_id: str
    revision: int = 0
    goal: str = ""
    made_at: str | None = None
    executed_by: Initiator | None = None
    """Who had this revision executed; None if nobody. Only a person approves."""
    planned_time: str = ""
    steps: list[StepAudit] = []
    outside: list[Outside] = []
    figures: list[UnseenFigure] = []
    assumptions: list[StatedAssumption] = []
    afterwards: list[str] = []
    """What was rolled back, and whether the notebook was found to run again, oldest first."""
    totals: Totals = Totals()


def audit(log: ConversationLog, tools: Mapping[str, Tool]) -> Audit:
    """Compare the plan that was executed last with the log. `tools` says what each may do."""
    uses = tool_uses(log.messages, log.moves)
    traces = step_traces(log, uses, timing_by_task(log.events))
    finder = DeviationFinder(log, tools, StepGraph(traces))
    started = [(trace.started.seq, key) for key, trace in traces.items() if trace.started]
    order = {key: place for place, (_, key) in enumerate(sorted(started), start=1)}
    effects = _effects_by_call(log)
    steps = [
        _step_audit(trace, place, order.get(trace.step.id), finder, effects)
        for place, trace in enumerate(traces.values(), start=1)
    ]
    inside = {id(use) for trace in traces.values() for use in trace.uses}
    revision = log.revision
    return Audit(
        context_id=log.context.id,
        revision=revision.revision if revision else 0,
        goal=revision.plan.goal if revision else "",
        made_at=revision.made_at if revision else None,
        executed_by=log.executed_by,
        planned_time=revision.plan.estimated_total_time if revision else "",
        steps=steps,
        outside=_outside([use for use in uses if id(use) not in inside], tools, effects),
        figures=list(_unseen(log.messages)),
        assumptions=list(_assumed(log)),
        afterwards=[message.text for message in log.messages if _reports_afterwards(message)],
        totals=Totals(
            steps=len(steps),
            completed=sum(step.status is StepStatus.COMPLETED for step in steps),
            deviations=sum(len(step.deviations) for step in steps),
            tool_calls=len(uses),
            seconds=total_seconds(span for trace in traces.values() for span in trace.spans),
            tokens=sum(job.usage.total_tokens for job in log.jobs),
        ),
    )


def _reports_afterwards(message: Message) -> bool:
    data = message.data
    return isinstance(data, TextData) and bool(data.rollback or data.reproduction)


def _effects_by_call(log: ConversationLog) -> EffectsByCall:
    effects: dict[str | None, list[EffectSummary]] = {}
    for effect in log.event_data(DataEffect):
        effects.setdefault(effect.call_id, []).append(EffectSummary.from_model(effect))
    return effects


def _step_audit(
    trace: StepTrace, place: int, order: int | None, finder: DeviationFinder, effects: EffectsByCall
) -> StepAudit:
    step, changed = trace.step, finder.changed(trace)
    return StepAudit(
        id=step.id,
        number=step.step_number,
        action=step.action,
        status=step.status,
        planned=Planned(
            tools=step.tools_needed,
            files=step.files,
            order=place,
            depends_on=step.depends_on,
            time=step.estimated_time,
            role=step.runs_as,
            rounds=step.rounds,
        ),
        actual=Actual(
            **dict(_work(trace.uses, finder.tools, effects, changed)),
            order=order,
            started_at=trace.started.created_at if trace.started else None,
            ended_at=trace.ended.created_at if trace.ended else None,
            seconds=total_seconds(trace.spans),
            attempts=trace.attempts,
            rounds=max((task.round for task in trace.tasks), default=0),
        ),
        deviations=list(finder.deviations(trace, changed)),
        checkpoint_ids=[checkpoint.id for checkpoint in finder.checkpoints(trace)],
    )


def _outside(
    uses: Iterable[LoggedToolUse], tools: Mapping[str, Tool], effects: EffectsByCall
) -> list[Outside]:
    groups: dict[tuple[str | None, AgentRole | None], list[LoggedToolUse]] = {}
    for use in uses:
        groups.setdefault((use.call.job_id, use.call.agent_role), []).append(use)
    return [
        Outside(
            **dict(_work(group, tools, effects)),
            job_id=job_id,
            role=role,
            message_ids=[message_id for use in group for message_id in use.message_ids],
        )
        for (job_id, role), group in groups.items()
    ]


def _unseen(messages: Iterable[Message]) -> Iterator[UnseenFigure]:
    for message in messages:
        match message.data:
            case (
                TextData(figures=figures)
                | ToolResultData(figures=figures)
                | TaskResultData(figures=figures)
            ):
                for text in without_source(figures):
                    yield UnseenFigure(text=text, message_id=message.id, job_id=message.job_id)


def _assumed(log: ConversationLog) -> Iterator[StatedAssumption]:
    for assumption in log.revision.plan.assumptions if log.revision else []:
        yield StatedAssumption(**dict(assumption))
    for message in log.messages:
        match message.data:
            case TextData(assumptions=assumed) | TaskResultData(assumptions=assumed):
                for assumption in assumed:
                    yield StatedAssumption(**dict(assumption), message_id=message.id)


def _work(
    uses: list[LoggedToolUse],
    tools: Mapping[str, Tool],
    effects: EffectsByCall,
    changed_files: Iterable[str] = (),
) -> ToolWork:
    """`changed_files` are those that no tool may have named."""
    calls = Counter(use.tool for use in uses)
    failed = Counter(use.tool for use in uses if not use.ok)
    changed = [path for use in uses if not only_reads(use, tools) for path in use.paths]
    seen = [path for use in uses if only_reads(use, tools) for path in use.paths]
    return ToolWork(
        tools=[ToolCount(tool=name, calls=n, failed=failed[name]) for name, n in calls.items()],
        files=list(dict.fromkeys([*changed, *changed_files])),
        files_read=[path for path in dict.fromkeys(seen) if path not in set(changed)],
        effects=[effect for use in uses for effect in effects.get(use.call_id, ())],
    )
