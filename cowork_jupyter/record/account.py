"""The account of a run: what there is to tell of plans, calls, requests, questions and reviews.

The card's Markdown, exports, the terminal and other editors draw it, each in its own form. Texts
are as they were written: whoever draws them makes them harmless.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain.contexts import StepStatus, Task
from ..domain.effects import DataWarning
from ..domain.events import CallRequest, ChosenScope
from ..domain.plan import Plan, PlanStep
from ..domain.replies import Question, Review
from ..domain.team import agent_of, rights_of

MARKS = {
    StepStatus.RUNNING: "▶",
    StepStatus.WAITING: "⏸",
    StepStatus.COMPLETED: "✓",
    StepStatus.FAILED: "✗",
    StepStatus.SKIPPED: "–",
    StepStatus.CANCELLED: "⊘",
    StepStatus.INTERRUPTED: "⊘",
}
SCOPES: dict[ChosenScope, str] = {
    "once": "once",
    "session": "in this conversation",
    "workspace": "in this workspace",
    "global": "everywhere",
}
_MAIN = ("path", "command", "pattern", "query", "sql", "name", "code", "source", "role")
"""Parameters that best describe a call."""


@dataclass(frozen=True)
class StepAccount:
    number: int
    action: str
    mark: str
    by: str
    """An agent or a role; empty for whoever executes the plan."""
    files: Sequence[str]
    details: Mapping[str, str]
    error: str


@dataclass(frozen=True)
class PlanAccount:
    goal: str
    steps: Sequence[StepAccount]
    notes: Mapping[str, str]
    rights: str


def plan_account(plan: Plan, tasks: Sequence[Task] = ()) -> PlanAccount:
    assumed = [
        each.text if each.status == "open" else f"{each.text} ({each.correction or each.status})"
        for each in plan.assumptions
    ]
    notes = {
        "Time": plan.estimated_total_time,
        "Needs": "; ".join(plan.prerequisites),
        "Risks": "; ".join(plan.risks),
        "Assumes": "; ".join(assumed),
    }
    errors = {task.step_id: task.error or "" for task in tasks}
    steps = [_step_account(step, plan, errors.get(step.id, "")) for step in plan.steps]
    return PlanAccount(plan.goal, steps, _filled(notes), rights_of(plan))


def _step_account(step: PlanStep, plan: Plan, error: str) -> StepAccount:
    numbers = {plan_step.id: str(plan_step.step_number) for plan_step in plan.steps}
    by = agent_of(step) or (step.role.spec.label if step.role else "")
    details = {
        "by": by,
        "why": step.reason,
        "tools": ", ".join(step.tools_needed),
        "files": ", ".join(step.files),
        "after": ", ".join(numbers[dependency] for dependency in step.depends_on),
        "time": step.estimated_time,
    }
    return StepAccount(
        number=step.step_number,
        action=step.action,
        mark=MARKS.get(step.status, ""),
        by=by,
        files=step.files,
        details=_filled(details),
        error=error if step.status is StepStatus.FAILED else "",
    )


def _filled(texts: Mapping[str, str]) -> Mapping[str, str]:
    return {name: text for name, text in texts.items() if text}


def call_title(tool: str, parameters: Mapping[str, Any]) -> str:
    """A call in one line: `read_file sales.csv`."""
    about = next((parameters[name] for name in _MAIN if parameters.get(name)), "")
    return " ".join(f"{tool} {about}".split())


def request_title(request: CallRequest) -> str:
    """What wants to run: the tool, and what it is about where the preview does not say so."""
    about = request.resource
    is_shown = about == request.tool or about in request.shown.text
    return request.tool if is_shown else f"{request.tool} ({about})"


def rollback_gap(request: CallRequest) -> str:
    gap = "; ".join(request.uncovered)
    return f"A rollback cannot undo: {gap}." if gap else ""


def option_lines(question: Question) -> list[str]:
    lines = []
    for number, option in enumerate(question.options, start=1):
        more = f" — {' '.join(option.description.split())}" if option.description else ""
        default = " (default)" if option.value == question.default else ""
        lines.append(f"{number}. {' '.join(option.label.split())}{more}{default}")
    return lines


def verdict(review: Review) -> str:
    return review.verdict.replace("_", " ")


def warning_text(warning: DataWarning) -> str:
    where = f"line {warning.line}: " if warning.line else ""
    return f"{where}{warning.message} {warning.advice}".rstrip()
