"""A run, told in the terminal as it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...domain.data import Data
from ...domain.effects import DataEffect
from ...domain.events import (
    Event,
    EventType,
    ReasoningStreamed,
    TaskCompleted,
    TaskStarted,
    TextStreamed,
)
from ...domain.guidance import Guidance, GuidanceUsed, guidance_line
from ...domain.message_data import (
    PlanData,
    QuestionData,
    ReviewData,
    TextData,
    ToolCallData,
    ToolOutcome,
)
from ...domain.messages import Message, MessageType
from ...domain.notices import HeadlessDenial, ToolOutput
from ...domain.plan import Plan
from .screen import Screen
from .words import call_text, plan_text, review_text

_STEP_MARKS = {"completed": ("✓", "good"), "failed": ("✗", "bad")}
_KNOWN_DENIALS = ("denied", "denied_by_user")


class Narrator:
    """Turns events into lines. The last words of a run, and of each step of a plan, are results;
    all before them is the way.
    """

    def __init__(self, screen: Screen, plan: Plan | None = None) -> None:
        self._screen = screen
        self._steps = {step.id: f"{step.step_number}. {step.action}" for step in _steps(plan)}
        self._words: dict[str | None, str] = {}
        """What was said last, by task."""
        self._writing = ""
        self._guidance: set[str] = set()
        """What was said of it already."""

    def tell(self, event: Event) -> None:
        """What happened next."""
        match event.data:
            case TextStreamed(text=text) | ReasoningStreamed(text=text):
                self._writing = (self._writing + text)[-400:]
                self._screen.status(self._writing[-120:])
            case Message() as message:
                self._writing = ""
                self._tell_message(message)
            case ToolCallData() as call:
                self._tell_words(event.task_id)
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
        """The run has ended: its last words are what it was for."""
        for task_id in list(self._words):
            self._conclude(task_id)

    def _conclude(self, task_id: str | None) -> None:
        if words := self._words.pop(task_id, ""):
            self._screen.result(words)

    def _tell_message(self, message: Message) -> None:
        if message.role != "assistant":
            return
        words = _words_of(message)
        if words:
            self._tell_words(message.task_id)
            self._words[message.task_id] = words
        elif isinstance(message.data, QuestionData) and message.data.id is None:
            self._screen.line(f"? {message.text} (nobody can be asked)", "ask")

    def _tell_words(self, task_id: str | None) -> None:
        """What was said before something else happened."""
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
        """Once: every step of a plan is told the same."""
        said = guidance_line(used)
        if said not in self._guidance:
            self._guidance.add(said)
            self._screen.line(f"  {said}", "dim")

    def _step(self, step_id: str) -> str:
        return self._steps.get(step_id, step_id)


@dataclass
class CliOutcome:
    """What the events tell about how a run ended, besides its status."""

    made_plan: bool = False
    asks_for_changes: bool = False
    """Whether a reviewer does."""
    was_denied: bool = False
    """Whether a call was not run because nobody could be asked."""

    def take(self, event: Event) -> None:
        """Note what matters."""
        match event.data:
            case HeadlessDenial():
                self.was_denied = True
            case Message(message_type=MessageType.PLAN):
                self.made_plan = True
            case Message(data=ReviewData(verdict="request_changes"), task_id=None):
                self.asks_for_changes = True


def _words_of(message: Message) -> str:
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
