"""A run told in the terminal: plans, reviews, requests and questions as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...domain.base_models import Data
from ...domain.effects import DataEffect
from ...domain.events import (
    ChosenScope,
    Event,
    EventType,
    HeadlessDenial,
    PermissionRequested,
    ReasoningStreamed,
    TaskCompleted,
    TaskStarted,
    TextStreamed,
    ToolOutput,
)
from ...domain.guidance import Guidance, GuidanceUsed, guidance_line
from ...domain.messages import (
    Message,
    MessageType,
    PlanData,
    QuestionData,
    ReviewData,
    TextData,
    ToolCallData,
    ToolOutcome,
)
from ...domain.plan import Plan, PlanStep
from ...domain.replies import Question, Review
from ...domain.team import agent_of, rights_of
from .screen import Screen, one_line

_MAIN = ("path", "command", "pattern", "query", "sql", "name", "code", "source", "role")
"""Parameters that best describe a call."""
_SCOPES = {
    "session": "in this conversation",
    "workspace": "in this workspace",
    "global": "everywhere",
}


def plan_text(plan: Plan) -> str:
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
    """Everything needed to allow a call or not."""
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
    """The lasting answers on offer, with their labels."""
    return [(scope, _SCOPES[scope]) for scope in request.scopes if scope in _SCOPES]


def question_text(question: Question) -> str:
    lines = [question.question]
    if question.context:
        lines.append(question.context)
    for number, option in enumerate(question.options, start=1):
        more = f" — {one_line(option.description)}" if option.description else ""
        chosen = " (default)" if option.value == question.default else ""
        lines.append(f"  {number}. {one_line(option.label)}{more}{chosen}")
    return "\n".join(lines)


_STEP_MARKS = {"completed": ("✓", "good"), "failed": ("✗", "bad")}
_KNOWN_DENIALS = ("denied", "denied_by_user")


class Narrator:
    """Turns events into lines. The last text of a run, and of each step of a plan, is a result;
    everything before is progress.
    """

    def __init__(self, screen: Screen, plan: Plan | None = None) -> None:
        self._screen = screen
        self._steps = {step.id: f"{step.step_number}. {step.action}" for step in _steps(plan)}
        self._words: dict[str | None, str] = {}
        """The latest text, by task."""
        self._writing = ""
        self._guidance: set[str] = set()
        """Lines already printed."""

    def tell(self, event: Event) -> None:
        match event.data:
            case TextStreamed(text=text) | ReasoningStreamed(text=text):
                self._writing = (self._writing + text)[-400:]
                self._screen.status(self._writing[-120:])
            case Message() as message:
                self._writing = ""
                self._tell_message(message)
            case ToolCallData() as call:
                self._tell_earlier(event.task_id)
                text = call_text(call.tool, call.parameters)
                self._screen.line(f"  → {text}", "dim")
                self._screen.status(text)
            case ToolOutcome() as outcome:
                self._tell_result(outcome)
            case DataEffect() as effect:
                self._tell_effect(effect)
            case GuidanceUsed(items=used):
                self._tell_guidance(used)
            case TaskCompleted(step_id=step, status=status):
                self._conclude(event.task_id)
                mark, style = _STEP_MARKS.get(status, ("–", "dim"))
                self._screen.line(f"{mark} {self._step(step)} ({status})", style)
            case TaskStarted(step_id=step):
                self._screen.line(f"▶ {self._step(step)}", "bold")
            case ToolOutput(text=text):
                self._screen.status(text.strip().rpartition("\n")[2])
            case Data() as notice if event.type is EventType.NOTICE:
                if said := getattr(notice, "message", None):
                    self._screen.line(f"  ! {said}", "ask")
            case _:
                pass

    def finish(self) -> None:
        for task_id in list(self._words):
            self._conclude(task_id)

    def _conclude(self, task_id: str | None) -> None:
        if words := self._words.pop(task_id, ""):
            self._screen.result(words)

    def _tell_message(self, message: Message) -> None:
        if message.role != "assistant":
            return
        words = _text_of(message)
        if words:
            self._tell_earlier(message.task_id)
            self._words[message.task_id] = words
        elif isinstance(message.data, QuestionData) and message.data.id is None:
            self._screen.line(f"? {message.text} (nobody can be asked)", "ask")

    def _tell_earlier(self, task_id: str | None) -> None:
        """Print text that turned out not to be the last as progress."""
        for line in self._words.pop(task_id, "").splitlines():
            self._screen.line(f"  {line}")

    def _tell_result(self, outcome: ToolOutcome) -> None:
        self._screen.status("thinking")
        if outcome.ok:
            self._screen.line(f"  ✓ {outcome.summary}", "dim")
            return
        denied = outcome.error is not None and outcome.error.code in _KNOWN_DENIALS
        self._screen.line(f"  ✗ {'not allowed' if denied else outcome.summary}", "bad")

    def _tell_effect(self, effect: DataEffect) -> None:
        if effect.line:
            self._screen.line(f"    {effect.line}")
        for warning in effect.warnings:
            where = f"line {warning.line}: " if warning.line else ""
            self._screen.line(f"    ! {where}{warning.message} {warning.advice}".rstrip(), "ask")

    def _tell_guidance(self, used: list[Guidance]) -> None:
        """Once: every step of a plan is given the same."""
        said = guidance_line(used)
        if said not in self._guidance:
            self._guidance.add(said)
            self._screen.line(f"  {said}", "dim")

    def _step(self, step_id: str) -> str:
        return self._steps.get(step_id, step_id)


@dataclass
class CliOutcome:
    """How a run ended, besides its status."""

    made_plan: bool = False
    asks_for_changes: bool = False
    was_denied: bool = False
    """Whether a call was not run because nobody could be asked."""

    def take(self, event: Event) -> None:
        match event.data:
            case HeadlessDenial():
                self.was_denied = True
            case Message(message_type=MessageType.PLAN):
                self.made_plan = True
            case Message(data=ReviewData(verdict="request_changes"), task_id=None):
                self.asks_for_changes = True


def _text_of(message: Message) -> str:
    match message.data:
        case PlanData() as plan:
            return plan_text(plan)
        case ReviewData() as review:
            return review_text(review)
        case TextData(problem=""):
            return message.text
    return ""


def _steps(plan: Plan | None) -> list[Any]:
    return plan.steps if plan else []
