"""Stores and shows tool calls: each before it runs, its output, and its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...domain.effects import CellChange, CellDecision, CellEdit, DataEffect
from ...domain.errors import CoworkError
from ...domain.events import CellChanged, ToolOutput
from ...domain.figures import Figure
from ...domain.guidance import GuidanceUsed
from ...domain.identity import new_id
from ...domain.messages import ErrorBody, ToolCallData, ToolOutcome, ToolResultData
from ...domain.operations import OK, UNKNOWN_TOOL, Decided, ToolCalled
from ...domain.redaction import MaskedStream
from ...domain.replies import ToolCall
from ...effects.finding import text_for_model
from ...store import Transaction
from ...store.journal import Journal
from ...tools.base import CallAuthorization, ToolResult
from ...tools.registry import ResolvedCall
from ..log import RunLog
from .tool_environment import ToolEnvironment

MAX_SHOWN_OUTPUT = 64 * 1024
"""Characters of live output per call; the result has all of it."""

_MISUSE = {"unknown_tool", "bad_parameters"}


@dataclass
class CallRecord:
    """A tool call from its request to its outcome."""

    call: ToolCall
    resolved: ResolvedCall | CoworkError
    """Why it cannot be made, if it cannot."""
    id: str = field(default_factory=partial(new_id, "call"))
    clearance: CallAuthorization = field(default_factory=CallAuthorization)
    """What was decided, once it was."""
    error: CoworkError | None = None
    result: ToolResult | None = None
    effects: list[DataEffect] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    """The numbers in text that it wrote into a notebook."""
    began: float | None = None
    waited: float = 0.0
    """Seconds since then in which the user was asked."""

    @property
    def is_answered(self) -> bool:
        return self.error is not None or self.result is not None

    @property
    def misused(self) -> bool:
        """Whether the model called an unknown tool, or called one wrongly."""
        return self.error is not None and self.error.code in _MISUSE

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began - self.waited if self.began else 0.0


@dataclass(frozen=True)
class CallLog:
    tools: ToolEnvironment
    log: RunLog

    def begin(self, calls: Sequence[CallRecord]) -> None:
        with self.log.journal.transaction() as tx:
            for record in calls:
                called = ToolCallData(
                    call_id=record.id,
                    tool=record.call.tool,
                    parameters=record.call.parameters,
                )
                tx.append_message(self.log.message("assistant", "", called))
                self.log.append(tx, called)

    def deny(self, record: CallRecord) -> None:
        """Report a call beyond the role's ceiling to the operator."""
        name, job_id = self._known_name(record.call), self.log.job_id
        self.tools.observe(Decided(record.id, "deny", name, "ceiling", "", job_id))

    def succeed(self, record: CallRecord, result: ToolResult) -> None:
        record.result = result
        outcome = ToolOutcome(call_id=record.id, ok=True, summary=result.summary, error=None)
        _note_time(outcome, record)
        data = ToolResultData.of(outcome, record.call.tool, result.facts)
        if record.clearance.approved:
            data.approved = True
        if record.clearance.sensitive:
            data.sensitive = True
        if record.figures:
            data.figures = record.figures
        if result.guidance:
            data.guidance = result.guidance
        self._end(record, outcome, data, result.text)

    def fail(self, record: CallRecord, error: CoworkError) -> None:
        record.error = error
        # The advice says what to do; the flag is for those who count on it.
        again = "" if error.retryable else " (not retryable)"
        lines = [f"Error: {error.message}{again}", error.advice, text_for_model(record.effects)]
        failure = ErrorBody.model_validate(error.as_dict())
        outcome = ToolOutcome(call_id=record.id, ok=False, summary=error.message, error=failure)
        _note_time(outcome, record)
        data = ToolResultData.of(outcome, record.call.tool)
        self._end(record, outcome, data, "\n".join(filter(None, lines)))

    def _end(
        self, record: CallRecord, outcome: ToolOutcome, data: ToolResultData, text: str
    ) -> None:
        message, result = self.log.message("tool", text, data), record.result
        message.content += result.images if result else ()
        with self.log.journal.transaction() as tx:
            if result and result.cell_edit:
                record_edit(tx, self.log, result.cell_edit)
            tx.append_message(message)
            self.log.append(tx, outcome)
            if result and result.guidance:
                self.log.append(tx, GuidanceUsed(items=[result.guidance]))
            for effect in record.effects:
                facts = {"task_id": self.log.task_id, "call_id": record.id}
                self.log.append(tx, effect.model_copy(update=facts))
        status = record.error.code if record.error else OK
        called = (record.id, self._known_name(record.call), status, record.seconds, self.log.job_id)
        self.tools.observe(ToolCalled(*called))

    def _known_name(self, call: ToolCall) -> str:
        """The tool's name for operator logs, which must not contain a model's own words."""
        return call.tool if self.tools.registry.get(call.tool) else UNKNOWN_TOOL


def _note_time(outcome: ToolOutcome, record: CallRecord) -> None:
    if seconds := round(record.seconds, 1):
        outcome.seconds = seconds


class LiveOutput:
    """Streams the output of a running call, masked and up to a limit."""

    def __init__(self, call_id: str, log: RunLog, listener: Callable[[str], None]) -> None:
        self._call_id = call_id
        self._log = log
        self._listener = listener
        self._stream = MaskedStream(log.mask)
        self._room = MAX_SHOWN_OUTPUT

    def add(self, text: str) -> None:
        self._show(self._stream.add(text))

    def finish(self) -> None:
        self._show(self._stream.rest())

    def _show(self, text: str) -> None:
        text = text[: self._room]
        self._room -= len(text)
        if text:
            self._log.event(ToolOutput(call_id=self._call_id, text=text))
            self._listener(text)


def record_edit(tx: Transaction, log: RunLog, edit: CellEdit) -> None:
    new = CellChange(**edit.model_dump(), context_id=log.context_id, job_id=log.job_id)
    pending = tx.pending_cell_changes(edit.notebook)
    earlier = next((change for change in pending if change.cell_id == edit.cell_id), None)
    _save_changes(tx, earlier.followed_by(new) if earlier else [new])


def record_decision(
    journal: Journal, ids: Sequence[str], decision: CellDecision
) -> list[CellChange]:
    """Store the user's decision; what was decided before stays as it was."""
    with journal.transaction() as tx:
        changes = [tx.cell_change(change_id) for change_id in dict.fromkeys(ids)]
        decided = [change.decided(decision) for change in changes if change.decision is None]
        _save_changes(tx, decided)
        return [tx.cell_change(change.id) for change in changes]


def _save_changes(tx: Transaction, changes: Iterable[CellChange]) -> None:
    for change in changes:
        tx.save_cell_change(change)
        event = CellChanged(
            notebook=change.notebook, cell_id=change.cell_id, decision=change.decision
        )
        tx.append_event(change.context_id, event, change.job_id)
