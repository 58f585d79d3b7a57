"""The log, read for the audit: which tools were called, and when each task was worked on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..domain.contexts import DONE
from ..domain.events import Event, EventType
from ..domain.messages import Message, MessageType

Span = tuple[float, float]
"""From when to when, in seconds."""

_NOTHING_DONE = frozenset({"unknown_tool", "bad_parameters"})
_ASKED = (EventType.QUESTION_ASKED, EventType.PERMISSION_REQUEST)
_ANSWERED = (EventType.QUESTION_ANSWERED, EventType.PERMISSION_RESOLVED)


@dataclass
class Use:
    """One call of a tool, and what came of it."""

    tool: str
    call: Message
    """The message that shows it: the call, or a result whose call is missing."""
    message_ids: list[str]
    result: Message | None = None

    @property
    def asked(self) -> bool:
        """Whether the user was asked before it ran."""
        return self.result is not None and self.result.data.get("approved") is True

    @property
    def ok(self) -> bool:
        """Whether it gave a result; a call that was cut off did not."""
        return self.result is not None and self.result.data.get("ok") is True

    @property
    def summary(self) -> str:
        """What came of it, in one line."""
        said = self.result.data.get("summary") if self.result else None
        return " ".join(said.split()) if isinstance(said, str) else ""

    @property
    def did_nothing(self) -> bool:
        """Whether the call made no sense, so that nothing can have happened."""
        error = self.result.data.get("error") if self.result else None
        return isinstance(error, dict) and str(error.get("code")) in _NOTHING_DONE

    @property
    def paths(self) -> list[str]:
        """The files that it says it dealt with."""
        facts = self.result.data.get("facts") if self.result and self.ok else None
        return texts(facts.get("paths")) if isinstance(facts, dict) else []


def tool_uses(messages: Iterable[Message]) -> list[Use]:
    """All calls, in order, each with its result."""
    uses: list[Use] = []
    open_uses: dict[str, Use] = {}
    for message in messages:
        call_id = str(message.data.get("call_id") or message.id)
        if message.message_type is MessageType.TOOL_CALL:
            open_uses[call_id] = _use(message)
            uses.append(open_uses[call_id])
        elif message.message_type is MessageType.TOOL_RESULT:
            if call_id not in open_uses:
                open_uses[call_id] = _use(message)
                uses.append(open_uses[call_id])
            use = open_uses.pop(call_id)
            use.result = message
            use.message_ids = list(dict.fromkeys([*use.message_ids, message.id]))
    return uses


def _use(message: Message) -> Use:
    return Use(str(message.data.get("tool") or "unknown"), message, [message.id])


@dataclass
class Work:
    """When one task was worked on. The time that it waited for the user does not count."""

    starts: list[Event] = field(default_factory=list)
    end: Event | None = None
    done: Event | None = None
    """What says that it was completed, or skipped, for the first time."""
    _spans: list[Span] = field(default_factory=list)
    _since: float | None = None
    _last: float = 0.0
    _waits_for: set[str] = field(default_factory=set)

    @property
    def spans(self) -> list[Span]:
        """The times of work; if it still goes on, up to the last that is known of it."""
        going_on = [] if self._since is None else [(self._since, max(self._since, self._last))]
        return [*self._spans, *going_on]

    def read(self, event: Event) -> None:
        """Take in the task's next event."""
        at = moment(event.created_at)
        if at is None:
            return
        self._last = at
        if event.type is EventType.TASK_STARTED:
            self.starts.append(event)
            self.end = None
            self._waits_for.clear()
            self._since = at if self._since is None else self._since
        elif event.type is EventType.TASK_COMPLETED:
            self._finish(event, at)
        elif event.type in _ASKED:
            self._pause(at)
            self._waits_for.add(str(event.data.get("id")))
        elif event.type in _ANSWERED:
            self._go_on(event, at)

    def _finish(self, event: Event, at: float) -> None:
        self._pause(at)
        self.end = event
        if self.done is None and str(event.data.get("status")) in DONE:
            self.done = event

    def _go_on(self, event: Event, at: float) -> None:
        self._waits_for.discard(str(event.data.get("id")))
        if self.starts and self.end is None and self._since is None and not self._waits_for:
            self._since = at

    def _pause(self, at: float) -> None:
        if self._since is not None:
            self._spans.append((self._since, max(self._since, at)))
            self._since = None


def work_by_task(events: Iterable[Event]) -> dict[str, Work]:
    """What the events tell of each task."""
    work: dict[str, Work] = {}
    for event in events:
        if event.task_id:
            work.setdefault(event.task_id, Work()).read(event)
    return work


def seconds_in(spans: Iterable[Span]) -> float:
    """How long the spans are together; what they have in common counts once."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return round(total, 3)


def moment(time: str) -> float | None:
    """A stored time as seconds; None for what older versions may have stored."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def texts(value: Any) -> list[str]:
    """The texts in what should be a list of texts."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
