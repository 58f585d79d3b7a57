"""Plans, reviews, requests and questions as text to read in a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...domain.events import ChosenScope, PermissionRequested
from ...domain.plan import Plan, PlanStep
from ...domain.replies import Question, Review
from ...domain.team import agent_of, rights_of
from .screen import one_line

_MAIN = ("path", "command", "pattern", "query", "sql", "name", "code", "source", "role")
"""Parameters that say best what a call is about."""
_SCOPES = {
    "session": "in this conversation",
    "workspace": "in this workspace",
    "global": "everywhere",
}


def plan_text(plan: Plan) -> str:
    """The whole plan, as one approves it."""
    lines = [f"Plan: {one_line(plan.goal)}", ""]
    for step in plan.steps:
        lines += _step_lines(step, plan)
    if plan.estimated_total_time:
        lines += ["", f"Time: {one_line(plan.estimated_total_time)}"]
    for title, texts in (("Needs", plan.prerequisites), ("Risks", plan.risks)):
        lines += [""] * bool(texts) + [f"{title}: {one_line(text)}" for text in texts]
    rights = rights_of(plan)
    lines += ["", one_line(rights)] if rights else []
    return "\n".join(lines)


def _step_lines(step: PlanStep, plan: Plan) -> Iterator[str]:
    yield f"{step.step_number:>3}. {one_line(step.action)}"
    numbers = {plan_step.id: str(plan_step.step_number) for plan_step in plan.steps}
    facts = {
        "by": agent_of(step) or (step.role.spec.label if step.role else ""),
        "why": step.reason,
        "tools": ", ".join(step.tools_needed),
        "files": ", ".join(step.files),
        "after": ", ".join(numbers[dependency] for dependency in step.depends_on),
        "time": step.estimated_time,
    }
    for name, text in facts.items():
        if text:
            yield f"     {name}: {one_line(text)}"


def review_text(review: Review) -> str:
    """A review: the verdict, then what was found and where."""
    lines = [f"Review: {review.verdict.replace('_', ' ')}", review.summary]
    for finding in review.findings:
        place = ":".join(str(part) for part in (finding.file, finding.line) if part)
        head = f"- {finding.severity} {place}".rstrip()
        lines.append(f"{head}: {one_line(finding.comment)}")
        if finding.suggestion:
            lines.append(f"  {one_line(finding.suggestion)}")
    return "\n".join(lines)


def call_text(tool: str, parameters: Mapping[str, Any]) -> str:
    """A tool call in one line: `read_file sales.csv`."""
    about = next((parameters[name] for name in _MAIN if parameters.get(name)), "")
    return f"{tool} {one_line(str(about), 120)}".strip()


def request_text(request: PermissionRequested) -> str:
    """Everything that one has to know to allow a call or not."""
    preview, about = request.shown, request.resource
    is_said = about == request.tool or about in preview.text
    what = request.tool if is_said else f"{request.tool} ({about})"
    lines = [f"{what} wants to run. Risk: {request.risk}."]
    lines += [f"  {why}" for why in request.why]
    lines += ["", *(f"  │ {line}" for line in preview.text.split("\n"))]
    if not preview.complete:
        lines.append("  │ … (too long to show in full)")
    if request.uncovered:
        lines.append(f"  A rollback cannot undo: {'; '.join(request.uncovered)}")
    return "\n".join(lines)


def scopes_text(request: PermissionRequested) -> list[tuple[ChosenScope, str]]:
    """The lasting answers that are offered: what each is called, and in which words."""
    return [(scope, _SCOPES[scope]) for scope in request.scopes if scope in _SCOPES]


def question_text(question: Question) -> str:
    """A question with its options, numbered from one."""
    lines = [question.question]
    if question.context:
        lines.append(question.context)
    for number, option in enumerate(question.options, start=1):
        more = f" — {one_line(option.description)}" if option.description else ""
        chosen = " (default)" if option.value == question.default else ""
        lines.append(f"  {number}. {one_line(option.label)}{more}{chosen}")
    return "\n".join(lines)
