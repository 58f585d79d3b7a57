"""A run, told in the terminal as it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..domain.events import Event, EventType
from ..domain.messages import Message, MessageType
from ..domain.plan import Plan
from .screen import Screen
from .words import call_text, plan_text, review_text

_STEP_MARKS = {"completed": ("✓", "good"), "failed": ("✗", "bad")}
_NOBODY = "denied_headless"
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

    def tell(self, event: Event) -> None:
        """What happened next."""
        data = event.data
        match event.type:
            case EventType.TEXT_DELTA | EventType.REASONING_DELTA:
                self._writing = (self._writing + data["text"])[-400:]
                self._screen.status(self._writing[-120:])
            case EventType.MESSAGE:
                self._writing = ""
                self._tell_message(Message.model_validate(data))
            case EventType.TOOL_CALL:
                self._tell_words(event.task_id)
                text = call_text(data["tool"], data["parameters"])
                self._screen.line(f"  → {text}", "dim")
                self._screen.status(text)
            case EventType.TOOL_RESULT:
                self._tell_result(data)
            case EventType.TASK_STARTED:
                self._screen.line(f"▶ {self._step(data)}", "bold")
            case EventType.TASK_COMPLETED:
                self._conclude(event.task_id)
                mark, style = _STEP_MARKS.get(data["status"], ("–", "dim"))
                self._screen.line(f"{mark} {self._step(data)} ({data['status']})", style)
            case EventType.NOTICE:
                self._tell_notice(data)
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
        if message.role != "assistant" or "problem" in message.data:
            return
        words = _words_of(message)
        if words:
            self._tell_words(message.task_id)
            self._words[message.task_id] = words
        elif message.message_type is MessageType.QUESTION and "id" not in message.data:
            self._screen.line(f"? {message.text} (nobody is there to answer)", "ask")

    def _tell_words(self, task_id: str | None) -> None:
        """What was said before something else happened."""
        for line in self._words.pop(task_id, "").splitlines():
            self._screen.line(f"  {line}")

    def _tell_result(self, data: dict[str, Any]) -> None:
        self._screen.status("thinking")
        if data["ok"]:
            self._screen.line(f"  ✓ {data['summary']}", "dim")
            return
        denied = (data["error"] or {}).get("code") in _KNOWN_DENIALS
        self._screen.line(f"  ✗ {'not allowed' if denied else data['summary']}", "bad")

    def _tell_notice(self, data: dict[str, Any]) -> None:
        if "message" in data:
            self._screen.line(f"  ! {data['message']}", "ask")
        elif data.get("code") == "tool-output":
            self._screen.status(str(data["text"]).strip().rpartition("\n")[2])

    def _step(self, data: dict[str, Any]) -> str:
        return self._steps.get(data["step_id"], str(data["step_id"]))


@dataclass
class Outcome:
    """What the events tell about how a run ended, besides its status."""

    made_plan: bool = False
    was_denied: bool = False
    """Whether a call was not run because nobody could be asked."""

    def take(self, event: Event) -> None:
        """Note what matters."""
        if event.type is EventType.NOTICE:
            self.was_denied |= event.data.get("code") == _NOBODY
        elif event.type is EventType.MESSAGE:
            self.made_plan |= event.data["message_type"] == MessageType.PLAN


def _words_of(message: Message) -> str:
    match message.message_type:
        case MessageType.PLAN:
            return plan_text(Plan.model_validate(message.data))
        case MessageType.REVIEW:
            return review_text(message.data)
        case MessageType.TEXT:
            return message.text
    return ""


def _steps(plan: Plan | None) -> list[Any]:
    return plan.steps if plan else []
