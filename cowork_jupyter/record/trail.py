"""The log, read for the audit: which tools were called, and when each task was worked on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..domain.contexts import DONE, StepStatus
from ..domain.events import (
    Event,
    FileMoved,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
    TaskCompleted,
    TaskStarted,
    current_path,
)
from ..domain.message_data import CallData, ToolCallData, ToolResultData
from ..domain.messages import Message, MessageType

Span = tuple[float, float]
"""From when to when, in seconds."""

_NOTHING_DONE = frozenset({"unknown_tool", "bad_parameters"})


@dataclass
class LoggedUse:
    """One call of a tool, and what came of it."""

    tool: str
    call: Message
    """The message that shows it: the call, or a result whose call is missing."""
    message_ids: list[str]
    result: Message | None = None
    moves: Sequence[FileMoved] = ()
    """What was renamed or moved since."""

    @property
    def call_id(self) -> str | None:
        """What events know it by."""
        return self.call.data.call_id if isinstance(self.call.data, CallData) else None

    @property
    def parameters(self) -> dict[str, Any]:
        """What the tool was called with."""
        return self.call.data.parameters if isinstance(self.call.data, ToolCallData) else {}

    @property
    def outcome(self) -> ToolResultData | None:
        """What the result says; None if there is none, or none that can be read."""
        found = self.result.data if self.result else None
        return found if isinstance(found, ToolResultData) else None

    @property
    def asked(self) -> bool:
        """Whether the user was asked before it ran."""
        return self.outcome is not None and self.outcome.approved

    @property
    def ok(self) -> bool:
        """Whether it gave a result; a call that was cut off did not."""
        return self.outcome is not None and self.outcome.ok

    @property
    def summary(self) -> str:
        """What came of it, in one line."""
        return " ".join(self.outcome.summary.split()) if self.outcome else ""

    @property
    def did_nothing(self) -> bool:
        """Whether the call made no sense, so that nothing can have happened."""
        error = self.outcome.error if self.outcome else None
        return error is not None and error.code in _NOTHING_DONE

    @property
    def paths(self) -> list[str]:
        """The files that it says it dealt with, as they are called now."""
        paths = self.outcome.facts.paths if self.outcome and self.ok else []
        return [current_path(path, self.moves) for path in paths]

    @property
    def diff(self) -> str:
        """What it says it changed."""
        return self.outcome.facts.diff or "" if self.outcome else ""


def tool_uses(messages: Iterable[Message], moves: Sequence[FileMoved] = ()) -> list[LoggedUse]:
    """All calls, in order, each with its result; files by their names after these moves."""
    uses: list[LoggedUse] = []
    open_uses: dict[str, LoggedUse] = {}
    for message in messages:
        call_id = message.data.call_id if isinstance(message.data, CallData) else message.id
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
    for use in uses:
        use.moves = moves
    return uses


def _use(message: Message) -> LoggedUse:
    match message.data:
        case ToolCallData(tool=str(tool)) | ToolResultData(tool=str(tool)) if tool:
            return LoggedUse(tool, message, [message.id])
    return LoggedUse("unknown", message, [message.id])


@dataclass
class TaskTiming:
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
        match event.data:
            case TaskCompleted(status=status):
                self._finish(event, status, at)
            case TaskStarted():
                self.starts.append(event)
                self.end = None
                self._waits_for.clear()
                self._since = at if self._since is None else self._since
            case QuestionAsked(id=asked) | PermissionRequested(id=asked):
                self._pause(at)
                self._waits_for.add(asked)
            case QuestionAnswered(id=asked) | PermissionResolved(id=asked):
                self._go_on(asked, at)

    def _finish(self, event: Event, status: StepStatus, at: float) -> None:
        self._pause(at)
        self.end = event
        if self.done is None and status in DONE:
            self.done = event

    def _go_on(self, asked: str, at: float) -> None:
        self._waits_for.discard(asked)
        if self.starts and self.end is None and self._since is None and not self._waits_for:
            self._since = at

    def _pause(self, at: float) -> None:
        if self._since is not None:
            self._spans.append((self._since, max(self._since, at)))
            self._since = None


def work_by_task(events: Iterable[Event]) -> dict[str, TaskTiming]:
    """What the events tell of each task."""
    work: dict[str, TaskTiming] = {}
    for event in events:
        if event.task_id:
            work.setdefault(event.task_id, TaskTiming()).read(event)
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
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
