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
)
from ..domain.message_data import CallData, ToolCallData, ToolResultData
from ..domain.messages import Message, MessageType
from ..domain.moves import current_path

Span = tuple[float, float]
"""Start and end, in seconds."""

_NOTHING_DONE = frozenset({"unknown_tool", "bad_parameters"})


@dataclass
class LoggedUse:
    tool: str
    call: Message
    """The call, or a result whose call is missing."""
    message_ids: list[str]
    result: Message | None = None
    moves: Sequence[FileMoved] = ()
    """What was renamed or moved since."""

    @property
    def call_id(self) -> str | None:
        return self.call.data.call_id if isinstance(self.call.data, CallData) else None

    @property
    def parameters(self) -> dict[str, Any]:
        return self.call.data.parameters if isinstance(self.call.data, ToolCallData) else {}

    @property
    def outcome(self) -> ToolResultData | None:
        """None if there is no result, or none that can be parsed."""
        found = self.result.data if self.result else None
        return found if isinstance(found, ToolResultData) else None

    @property
    def asked(self) -> bool:
        """Whether the user approved it before it ran."""
        return self.outcome is not None and self.outcome.approved

    @property
    def ok(self) -> bool:
        """False if it was cut off."""
        return self.outcome is not None and self.outcome.ok

    @property
    def summary(self) -> str:
        return " ".join(self.outcome.summary.split()) if self.outcome else ""

    @property
    def did_nothing(self) -> bool:
        """Whether the call was invalid, so that nothing can have happened."""
        error = self.outcome.error if self.outcome else None
        return error is not None and error.code in _NOTHING_DONE

    @property
    def paths(self) -> list[str]:
        """The files that it reports, by their current names."""
        paths = self.outcome.facts.paths if self.outcome and self.ok else []
        return [current_path(path, self.moves) for path in paths]

    @property
    def diff(self) -> str:
        return self.outcome.facts.diff or "" if self.outcome else ""


def tool_uses(messages: Iterable[Message], moves: Sequence[FileMoved] = ()) -> list[LoggedUse]:
    """All calls in order, each with its result; files by their names after these moves."""
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
    """When one task was worked on, excluding waits for the user."""

    starts: list[Event] = field(default_factory=list)
    end: Event | None = None
    done: Event | None = None
    """The event of its first completion, or of skipping it."""
    _spans: list[Span] = field(default_factory=list)
    _since: float | None = None
    _last: float = 0.0
    _waits_for: set[str] = field(default_factory=set)

    @property
    def spans(self) -> list[Span]:
        """If it is still running, up to its last known event."""
        going_on = [] if self._since is None else [(self._since, max(self._since, self._last))]
        return [*self._spans, *going_on]

    def read(self, event: Event) -> None:
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
    work: dict[str, TaskTiming] = {}
    for event in events:
        if event.task_id:
            work.setdefault(event.task_id, TaskTiming()).read(event)
    return work


def seconds_in(spans: Iterable[Span]) -> float:
    """Total length of the spans; overlaps count once."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return round(total, 3)


def moment(time: str) -> float | None:
    """None for formats that older versions may have stored."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
