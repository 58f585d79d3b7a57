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
    """Turns events into lines. The last words of a run are its result, all before is the way."""

    def __init__(self, screen: Screen, plan: Plan | None = None) -> None:
        self._screen = screen
        self._steps = {step.id: f"{step.step_number}. {step.action}" for step in _steps(plan)}
        self._words = ""
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
                self._tell_words()
                text = call_text(data["tool"], data["parameters"])
                self._screen.line(f"  → {text}", "dim")
                self._screen.status(text)
            case EventType.TOOL_RESULT:
                self._tell_result(data)
            case EventType.TASK_STARTED:
                self._screen.line(f"▶ {self._step(data)}", "bold")
            case EventType.TASK_COMPLETED:
                self._tell_words()
                mark, style = _STEP_MARKS.get(data["status"], ("–", "dim"))
                self._screen.line(f"{mark} {self._step(data)} ({data['status']})", style)
            case EventType.NOTICE:
                self._tell_notice(data)
            case _:
                pass

    def finish(self) -> None:
        """The run has ended: its last words are what it was for."""
        if self._words:
            self._screen.result(self._words)
        self._words = ""

    def _tell_message(self, message: Message) -> None:
        if message.role != "assistant" or "problem" in message.data:
            return
        if message.message_type is MessageType.REVIEW:
            self._tell_words()
            self._words = review_text(message.data)
        elif message.message_type is MessageType.PLAN:
            self._tell_words()
            self._words = plan_text(Plan.model_validate(message.data))
        elif message.message_type is MessageType.QUESTION:
            self._tell_words()
            if "id" not in message.data:  # it was only written down
                self._screen.line(f"? {message.text} (nobody is there to answer)", "ask")
        elif message.message_type is MessageType.TEXT and message.text:
            self._tell_words()
            self._words = message.text

    def _tell_words(self) -> None:
        """What was said before something else happened."""
        for line in self._words.splitlines():
            self._screen.line(f"  {line}")
        self._words = ""

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


def _steps(plan: Plan | None) -> list[Any]:
    return plan.steps if plan else []
