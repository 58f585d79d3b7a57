"""Where a run writes down what happens: events and messages, marked with whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..bus import Journal
from ..domain.events import Event, EventType
from ..domain.messages import Message, MessageRole, MessageType, TextPart
from ..domain.roles import AgentRole
from ..store import Transaction


@dataclass(frozen=True)
class RunLog:
    """The journal as one run sees it."""

    journal: Journal
    context_id: str
    job_id: str
    role: AgentRole
    task_id: str | None = None
    notebook: str | None = None
    """The notebook that the conversation belongs to."""

    def event(self, kind: EventType, data: dict[str, Any]) -> Event:
        """Make something known."""
        return self.journal.record(self.context_id, kind, data, self.job_id, self.task_id)

    def append(self, tx: Transaction, kind: EventType, data: dict[str, Any]) -> None:
        """Make something known together with other changes."""
        tx.append_event(self.context_id, kind, data, self.job_id, self.task_id)

    def message(
        self,
        speaker: MessageRole,
        text: str,
        kind: MessageType = MessageType.TEXT,
        data: dict[str, Any] | None = None,
    ) -> Message:
        """A message of this run, not stored yet."""
        return Message(
            context_id=self.context_id,
            job_id=self.job_id,
            task_id=self.task_id,
            role=speaker,
            agent_role=self.role,
            message_type=kind,
            content=[TextPart(text=text)] if text else [],
            data=data or {},
        )

    def say(
        self,
        speaker: MessageRole,
        text: str,
        kind: MessageType = MessageType.TEXT,
        data: dict[str, Any] | None = None,
    ) -> Message:
        """Store a message of this run."""
        message = self.message(speaker, text, kind, data)
        self.journal.record_message(message)
        return message
