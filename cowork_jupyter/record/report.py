"""The report of a conversation, as sections of Markdown: goal, plan, actions and messages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ..domain.contexts import StepStatus
from ..domain.events import UsageCharged
from ..domain.notices import SuggestionDecided, SuggestionMade
from ..domain.roles import DEFAULT_ROLE
from .audit import Audit, Outside, StepAudit, ToolWork
from .card_model import EffectSummary
from .decided import EXECUTED
from .facts import Facts
from .markdown import assumption, code, cut, fenced, line, quote, table
from .redactor import Redactor
from .trail import moment
from .transcript import said

_MARKS = {StepStatus.COMPLETED: "✓", StepStatus.FAILED: "✗", StepStatus.SKIPPED: "–"}
_MAX_CODE = (60, 4_000)
"""Lines and characters of a suggested cell."""
_MAX_NAMES = 12
"""Files named in one cell of a table."""


def report(facts: Facts, audit: Audit, redactor: Redactor) -> list[str]:
    """Sections that can stand alone: of a Markdown file, or cells of a notebook."""
    sections = [
        *_heading(facts),
        *_goal(facts, audit),
        *_plan(audit),
        *_deviations(audit),
        *_data(audit),
        *_outside(audit),
        *_figures(audit),
        *_assumptions(audit),
        *_suggestions(facts),
        *_talk(facts, redactor),
    ]
    return [redactor.clean(section) for section in sections]


def _heading(facts: Facts) -> Iterator[str]:
    context = facts.context
    acted = dict.fromkeys(message.agent_role for message in facts.messages if message.agent_role)
    models = [event.data.model for event in facts.events if isinstance(event.data, UsageCharged)]
    names = dict.fromkeys(name for name in (context.model, *models) if name)
    about = [
        _day(context.created_at),
        " and ".join(map(code, names)),
        ", ".join(role.spec.label for role in acted or [context.role]),
        code(context.notebook) if context.notebook else "",
    ]
    yield f"# {line(title_of(facts))}\n\n{' · '.join(part for part in about if part)}"


def title_of(facts: Facts) -> str:
    first = next((message.text for message in facts.messages if message.role == "user"), "")
    words = " ".join(first.split())
    shortened = words if len(words) <= 60 else f"{words[:59]}…"
    return facts.context.title or shortened or "Conversation"


def _goal(facts: Facts, audit: Audit) -> Iterator[str]:
    asked = next((message.text for message in facts.messages if message.role == "user"), "")
    goal = audit.goal or asked
    if goal.strip():
        yield f"## Goal\n\n{quote(goal)}"


def _plan(audit: Audit) -> Iterator[str]:
    if not audit.steps:
        return
    totals = audit.totals
    planned = f" (planned: {line(audit.planned_time)})" if audit.planned_time else ""
    summary = [
        f"Revision {audit.revision}"
        + (f" {EXECUTED[audit.executed_by]}" if audit.executed_by else ""),
        f"{totals.completed} of {totals.steps} steps completed",
        duration(totals.seconds) + planned,
        f"{totals.tokens:,} tokens" if totals.tokens else "",
    ]
    rows = [
        [
            f"{_MARKS.get(step.status, '·')} {step.number}",
            line(step.action),
            _planned_cell(step),
            _actual_cell(step),
            _verdict(step),
        ]
        for step in audit.steps
    ]
    head = ["", "Step", "Planned", "What happened", "Different from the plan"]
    about = " · ".join(part for part in summary if part)
    yield f"## The plan and what happened\n\n{about}\n\n{table(head, rows)}"


def _planned_cell(step: StepAudit) -> str:
    planned = step.planned
    after = f"after {line(', '.join(planned.depends_on))}" if planned.depends_on else ""
    role = "" if planned.role is DEFAULT_ROLE else f"by the {planned.role}"
    parts = [role, _names(planned.tools), _names(planned.files), line(planned.time), after]
    return ", ".join(part for part in parts if part) or "nothing named"


def _actual_cell(step: StepAudit) -> str:
    actual = step.actual
    if actual.order is None and not actual.tools:
        return line(step.status)
    moved = actual.order not in (None, step.planned.order)
    begun = f"started as number {actual.order}" if moved else ""
    rounds = f"{actual.rounds + 1} rounds" if actual.rounds else ""
    parts = [_work(actual), duration(actual.seconds), begun, rounds]
    return ", ".join(part for part in parts if part)


def _verdict(step: StepAudit) -> str:
    kinds = dict.fromkeys(deviation.kind.replace("_", " ") for deviation in step.deviations)
    as_planned = "as planned" if step.status is StepStatus.COMPLETED else ""
    return ", ".join(kinds) or as_planned


def _work(work: ToolWork) -> str:
    tools = [code(tool.tool) + (f" ×{tool.calls}" if tool.calls > 1 else "") for tool in work.tools]
    read = f"read {_names(work.files_read)}" if work.files_read else ""
    changed = f"changed {_names(work.files)}" if work.files else ""
    return ", ".join(part for part in (" ".join(tools), changed, read) if part)


def _names(names: list[str]) -> str:
    more = len(names) - _MAX_NAMES
    text = " ".join(code(name) for name in names[:_MAX_NAMES])
    return f"{text} and {more} more" if more > 0 else text


def _deviations(audit: Audit) -> Iterator[str]:
    lines = [
        f"- Step {step.number}: {line(deviation.what)}"
        for step in audit.steps
        for deviation in step.deviations
    ]
    if lines:
        yield "## Deviations\n\n" + "\n".join(lines)


def _data(audit: Audit) -> Iterator[str]:
    works: list[tuple[str, ToolWork]] = [
        *((f"Step {step.number}", step.actual) for step in audit.steps),
        *((_who(work), work) for work in audit.outside),
    ]
    lines = [
        text
        for who, work in works
        for effect in work.effects
        for text in _effect_lines(who, effect)
    ]
    if lines:
        yield "## What happened to the data\n\n" + "\n".join(lines)


def _effect_lines(who: str, effect: EffectSummary) -> Iterator[str]:
    warnings = [
        f"**Warning**{f', line {warning.line}' if warning.line else ''}: "
        + line(f"{warning.message} {warning.advice}")
        for warning in effect.warnings
    ]
    if effect.line:
        yield f"- {who}: {line(effect.line)}"
        yield from (f"  - {warning}" for warning in warnings)
    else:
        yield from (f"- {who}: {warning}" for warning in warnings)


def _outside(audit: Audit) -> Iterator[str]:
    lines = [f"- {_who(work)}: {_work(work)}" for work in audit.outside]
    if lines:
        title = "Outside the plan" if audit.steps else "What was done"
        yield f"## {title}\n\n" + "\n".join(lines)


def _figures(audit: Audit) -> Iterator[str]:
    if audit.figures:
        listed = dict.fromkeys(f"- {line(figure.text)}" for figure in audit.figures)
        yield "## Figures not found in any output\n\n" + "\n".join(listed)


def _assumptions(audit: Audit) -> Iterator[str]:
    if audit.assumptions:
        yield "## Assumptions\n\n" + "\n".join(
            f"- {assumption(stated)}" for stated in audit.assumptions
        )


def _who(outside: Outside) -> str:
    return outside.role.spec.label if outside.role else "Somebody"


def _suggestions(facts: Facts) -> Iterator[str]:
    made = [event.data for event in facts.events if isinstance(event.data, SuggestionMade)]
    decided = {
        event.data.id: event.data.decision
        for event in facts.events
        if isinstance(event.data, SuggestionDecided)
    }
    for number, suggestion in enumerate(made):
        about = [
            f"**{suggestion.kind.capitalize()}**",
            code(suggestion.cell_id),
            line(suggestion.instruction),
        ]
        about += [line(suggestion.explanation), f"*{decided.get(suggestion.id, 'not decided')}*"]
        is_words = suggestion.kind == "explain"
        content = (
            quote(suggestion.source)
            if is_words
            else fenced(cut(suggestion.source, *_MAX_CODE), "python")
        )
        head = "" if number else "## Suggestions\n\n"
        yield f"{head}{' · '.join(filter(None, about))}\n\n{content}"


def _talk(facts: Facts, redactor: Redactor) -> Iterator[str]:
    parts = list(said(facts, redactor))
    if parts:
        yield f"## Conversation\n\n{parts[0]}"
        yield from parts[1:]


def duration(seconds: float) -> str:
    """`4.8 s`, `2 min 5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _day(time: str) -> str:
    at = moment(time)
    if at is None:
        return line(time)
    day = datetime.fromtimestamp(at, UTC)
    return f"{day.day} {day:%B %Y, %H:%M} UTC"
