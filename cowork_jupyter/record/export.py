"""The full record of a conversation as a file: JSONL, Markdown, or a notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from ..domain.contexts import StepStatus
from ..domain.events import SuggestionDecided, SuggestionMade, UsageCharged
from ..domain.roles import DEFAULT_ROLE
from ..tools.base import Tool
from .account import MARKS, warning_text
from .audit import Audit, Outside, StepAudit, ToolWork, audit
from .card_model import EffectSummary
from .conversation_log import ConversationLog
from .markdown import assumption, code, cut, fenced, line, quote, table
from .redactor import Redactor
from .run import EXECUTED
from .step_traces import timestamp
from .transcript import transcript

_MAX_CODE = (60, 4_000)
_MAX_NAMES = 12


def report(log: ConversationLog, audit: Audit, redactor: Redactor) -> list[str]:
    """Sections that can stand alone: of a Markdown file, or cells of a notebook."""
    sections = [
        *_heading(log),
        *_goal(log, audit),
        *(f"## {title}\n\n{text}" for title, text in audit_sections(audit)),
        *_suggestions(log),
        *_conversation(log, redactor),
    ]
    return [redactor.clean(section) for section in sections]


def audit_sections(audit: Audit) -> Iterator[tuple[str, str]]:
    """Titles and texts of those that are not empty."""
    sections = {
        "The plan and what happened": _plan(audit),
        "Deviations": "\n".join(_deviations(audit)),
        "What happened to the data": "\n".join(_data(audit)),
        "Outside the plan" if audit.steps else "What was done": "\n".join(
            f"- {_who(work)}: {_work(work)}" for work in audit.outside
        ),
        "Figures not found in any output": "\n".join(
            dict.fromkeys(f"- {line(figure.text)}" for figure in audit.figures)
        ),
        "Afterwards": "\n".join(f"- {line(text)}" for text in audit.afterwards),
        "Assumptions": "\n".join(f"- {assumption(stated)}" for stated in audit.assumptions),
    }
    return ((title, text) for title, text in sections.items() if text)


def _heading(log: ConversationLog) -> Iterator[str]:
    context = log.context
    acted = dict.fromkeys(message.agent_role for message in log.messages if message.agent_role)
    models = (charged.model for charged in log.event_data(UsageCharged))
    names = dict.fromkeys(name for name in (context.model, *models) if name)
    about = [
        _day(context.created_at),
        " and ".join(map(code, names)),
        ", ".join(role.spec.label for role in acted or [context.role]),
        code(context.notebook) if context.notebook else "",
    ]
    yield f"# {line(title_of(log))}\n\n{' · '.join(part for part in about if part)}"


def title_of(log: ConversationLog) -> str:
    first = next((message.text for message in log.messages if message.role == "user"), "")
    words = " ".join(first.split())
    shortened = words if len(words) <= 60 else f"{words[:59]}…"
    return log.context.title or shortened or "Conversation"


def _goal(log: ConversationLog, audit: Audit) -> Iterator[str]:
    first_request = next((message.text for message in log.messages if message.role == "user"), "")
    if (goal := audit.goal or first_request).strip():
        yield f"## Goal\n\n{quote(goal)}"


def _plan(audit: Audit) -> str:
    if not audit.steps:
        return ""
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
            f"{MARKS.get(step.status, '·')} {step.number}",
            line(step.action),
            _planned_cell(step),
            _actual_cell(step),
            _verdict(step),
        ]
        for step in audit.steps
    ]
    head = ["", "Step", "Planned", "What happened", "Different from the plan"]
    about = " · ".join(part for part in summary if part)
    return f"{about}\n\n{table(head, rows)}"


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
    for step in audit.steps:
        for deviation in step.deviations:
            yield f"- Step {step.number}: {line(deviation.what)}"


def _data(audit: Audit) -> Iterator[str]:
    works: list[tuple[str, ToolWork]] = [
        *((f"Step {step.number}", step.actual) for step in audit.steps),
        *((_who(work), work) for work in audit.outside),
    ]
    for who, work in works:
        for effect in work.effects:
            yield from effect_lines(effect, f"{who}: ")


def effect_lines(effect: EffectSummary, who: str = "") -> Iterator[str]:
    warnings = [f"**Warning:** {line(warning_text(warning))}" for warning in effect.warnings]
    if effect.line:
        yield f"- {who}{line(effect.line)}"
        yield from (f"  - {warning}" for warning in warnings)
    else:
        yield from (f"- {who}{warning}" for warning in warnings)


def _who(outside: Outside) -> str:
    return outside.role.spec.label if outside.role else "Somebody"


def _suggestions(log: ConversationLog) -> Iterator[str]:
    decided = {each.id: each.decision for each in log.event_data(SuggestionDecided)}
    for number, suggestion in enumerate(log.event_data(SuggestionMade)):
        about = [
            f"**{suggestion.kind.capitalize()}**",
            code(suggestion.cell_id),
            line(suggestion.instruction),
            line(suggestion.explanation),
            f"*{decided.get(suggestion.id, 'not decided')}*",
        ]
        if suggestion.kind == "explain":
            content = quote(suggestion.source)
        else:
            content = fenced(cut(suggestion.source, *_MAX_CODE), "python")
        head = "" if number else "## Suggestions\n\n"
        yield f"{head}{' · '.join(filter(None, about))}\n\n{content}"


def _conversation(log: ConversationLog, redactor: Redactor) -> Iterator[str]:
    for number, part in enumerate(transcript(log, redactor)):
        yield part if number else f"## Conversation\n\n{part}"


def duration(seconds: float) -> str:
    """`4.8 s`, `2 min 5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _day(time: str) -> str:
    at = timestamp(time)
    if at is None:
        return line(time)
    day = datetime.fromtimestamp(at, UTC)
    return f"{day.day} {day:%B %Y, %H:%M} UTC"


class ExportFormat(StrEnum):
    """The format of an export, which is also the file's ending."""

    JSONL = "jsonl"
    MARKDOWN = "md"
    NOTEBOOK = "ipynb"

    @property
    def content_type(self) -> str:
        return _CONTENT_TYPES[self]


_CONTENT_TYPES = {
    ExportFormat.JSONL: "application/jsonl",
    ExportFormat.MARKDOWN: "text/markdown; charset=utf-8",
    ExportFormat.NOTEBOOK: "application/x-ipynb+json",
}


@dataclass(frozen=True)
class Export:
    content_type: str
    file_name: str
    body: bytes


def export(
    log: ConversationLog, kind: ExportFormat, tools: Mapping[str, Tool], redactor: Redactor
) -> Export:
    if kind is ExportFormat.JSONL:
        text = "".join(f"{line}\n" for line in _lines(log, redactor))
    else:
        sections = report(log, audit(log, tools), redactor)
        is_markdown = kind is ExportFormat.MARKDOWN
        markdown = "\n\n".join(sections) + "\n"
        text = markdown if is_markdown else _notebook(log.context.id, sections)
    return Export(kind.content_type, _file_name(log, kind, redactor), text.encode())


def _lines(log: ConversationLog, redactor: Redactor) -> Iterator[str]:
    """The context, then every event in order, with whole messages.

    In ASCII, so that no odd character in some text ends a line or cannot be written.
    """
    context = {"type": "context", "data": redactor.mask_value(log.context.model_dump())}
    yield json.dumps(context)
    for event in redactor.mask_events(log.events):
        yield json.dumps(event)


def _notebook(context_id: str, sections: list[str]) -> str:
    cells = [
        {
            "id": f"part-{number}",
            "cell_type": "markdown",
            "metadata": {},
            "source": section.splitlines(keepends=True),
        }
        for number, section in enumerate(sections, start=1)
    ]
    metadata = {"cowork": {"context_id": context_id}}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _file_name(log: ConversationLog, kind: ExportFormat, redactor: Redactor) -> str:
    """A name that is safe on any system and in headers."""
    words = re.findall(r"[a-z0-9]+", redactor.clean(title_of(log)).lower())
    title = "-".join(words)[:40].strip("-") or "conversation"
    day = re.match(r"\d{4}-\d\d-\d\d", log.context.created_at)
    return "-".join(part for part in ("cowork", day[0] if day else "", title) if part) + f".{kind}"
