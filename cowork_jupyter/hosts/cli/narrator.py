"""A run told in the terminal: plans, reviews, requests and questions as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...domain.base_models import Data
from ...domain.contexts import StepStatus
from ...domain.effects import DataEffect
from ...domain.events import (
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
from ...domain.plan import Plan
from ...domain.replies import Question
from ...record.account import (
    MARKS,
    call_title,
    option_lines,
    plan_account,
    request_title,
    rollback_gap,
    warning_text,
)
from .screen import Screen, one_line


def plan_text(plan: Plan) -> str:
    account = plan_account(plan)
    lines = [f"Plan: {one_line(account.goal)}", ""]
    for step in account.steps:
        lines.append(f"{step.number:>3}. {one_line(step.action)}")
        lines += [f"     {name}: {one_line(text)}" for name, text in step.details.items()]
    lines += [""] * bool(account.notes)
    lines += [f"{title}: {one_line(text)}" for title, text in account.notes.items()]
    return "\n".join([*lines, *(["", one_line(account.rights)] if account.rights else [])])


def request_text(request: PermissionRequested) -> str:
    """Everything needed to allow a call or not."""
    preview = request.shown
    lines = [f"{request_title(request)} wants to run. Risk: {request.risk}."]
    lines += [f"  {why}" for why in request.why]
    lines += ["", *(f"  │ {line}" for line in preview.text.split("\n"))]
    if not preview.complete:
        lines.append("  │ … (too long to show in full)")
    if gap := rollback_gap(request):
        lines.append(f"  {gap}")
    return "\n".join(lines)


def question_text(question: Question) -> str:
    context = [question.context] if question.context else []
    options = [f"  {line}" for line in option_lines(question)]
    return "\n".join([question.question, *context, *options])


_STYLES = {StepStatus.COMPLETED: "good", StepStatus.FAILED: "bad"}
_KNOWN_DENIALS = ("denied", "denied_by_user")


class Narrator:
    """Turns events into lines. The last text of a run, and of each step of a plan, is a result;
    everything before is progress.
    """

    def __init__(self, screen: Screen, plan: Plan | None = None) -> None:
        self._screen = screen
        self._steps = {step.id: f"{step.step_number}. {step.action}" for step in _steps(plan)}
        self._texts: dict[str | None, str] = {}
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
                text = one_line(call_title(call.tool, call.parameters), 120)
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
                line = f"{MARKS.get(status, '–')} {self._step(step)} ({status})"
                self._screen.line(line, _STYLES.get(status, "dim"))
            case TaskStarted(step_id=step):
                self._screen.line(f"▶ {self._step(step)}", "bold")
            case ToolOutput(text=text):
                self._screen.status(text.strip().rpartition("\n")[2])
            case Data() as notice if event.type is EventType.NOTICE:
                if notice_text := getattr(notice, "message", None):
                    self._screen.line(f"  ! {notice_text}", "ask")
            case _:
                pass

    def finish(self) -> None:
        for task_id in list(self._texts):
            self._conclude(task_id)

    def _conclude(self, task_id: str | None) -> None:
        if text := self._texts.pop(task_id, ""):
            self._screen.result(text)

    def _tell_message(self, message: Message) -> None:
        if message.role != "assistant":
            return
        text = _text_of(message)
        if text:
            self._tell_earlier(message.task_id)
            self._texts[message.task_id] = text
        elif isinstance(message.data, QuestionData) and message.data.id is None:
            self._screen.line(f"? {message.text} (nobody can be asked)", "ask")

    def _tell_earlier(self, task_id: str | None) -> None:
        """Print text that turned out not to be the last as progress."""
        for line in self._texts.pop(task_id, "").splitlines():
            self._screen.line(f"  {line}")

    def _tell_result(self, outcome: ToolOutcome) -> None:
        self._screen.status("thinking")
        if outcome.ok:
            self._screen.line(f"  ✓ {one_line(outcome.summary)}", "dim")
            return
        denied = outcome.error is not None and outcome.error.code in _KNOWN_DENIALS
        self._screen.line(f"  ✗ {'not allowed' if denied else one_line(outcome.summary)}", "bad")

    def _tell_effect(self, effect: DataEffect) -> None:
        if effect.line:
            self._screen.line(f"    {effect.line}")
        for warning in effect.warnings:
            self._screen.line(f"    ! {warning_text(warning)}", "ask")

    def _tell_guidance(self, used: list[Guidance]) -> None:
        """Once: every step of a plan is given the same."""
        line = guidance_line(used)
        if line not in self._guidance:
            self._guidance.add(line)
            self._screen.line(f"  {line}", "dim")

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
            return review.text
        case TextData(problem=""):
            return message.text
    return ""


def _steps(plan: Plan | None) -> list[Any]:
    return plan.steps if plan else []
