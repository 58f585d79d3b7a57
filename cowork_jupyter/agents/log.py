"""Where a run records events and messages, marked as its own."""

from __future__ import annotations

from dataclasses import dataclass

from ..domain.base_models import Data
from ..domain.events import Event, EventData
from ..domain.messages import Message, MessageRole, TextData, TextPart, message_type_of
from ..domain.redaction import Mask
from ..domain.roles import AgentRole
from ..store import Transaction
from ..store.journal import Journal, Streamed


@dataclass(frozen=True)
class RunLog:
    journal: Journal
    context_id: str
    job_id: str
    role: AgentRole
    task_id: str | None = None

    @property
    def notebook(self) -> str | None:
        """The notebook of the conversation, by its current name."""
        return self.journal.store.context(self.context_id).notebook

    @property
    def mask(self) -> Mask:
        return self.journal.store.mask

    def event(self, data: EventData) -> Event:
        return self.journal.record(self.context_id, data, self.job_id, self.task_id)

    def stream(self, kind: Streamed, text: str, *, at_once: bool = False) -> None:
        whose = (self.context_id, self.job_id, self.task_id)
        self.journal.stream(kind, text, *whose, at_once=at_once)

    def append(self, tx: Transaction, data: EventData) -> None:
        tx.append_event(self.context_id, data, self.job_id, self.task_id)

    def message(self, speaker: MessageRole, text: str, data: Data | None = None) -> Message:
        """A message of this run, not stored yet. Its data determine its type; plain text
        without.
        """
        data = data or TextData()
        return Message(
            context_id=self.context_id,
            job_id=self.job_id,
            task_id=self.task_id,
            role=speaker,
            agent_role=self.role,
            message_type=message_type_of(data),
            content=[TextPart(text=text)] if text else [],
            data=data,
        )

    def say(self, speaker: MessageRole, text: str, data: Data | None = None) -> Message:
        message = self.message(speaker, text, data)
        self.journal.record_message(message)
        return message
