"""How much of the model's window a session takes, and what it has cost."""

from __future__ import annotations

from dataclasses import dataclass

from acp import schema

from ...domain.contexts import Usage
from ...domain.events import UsageCharged
from ...service import CoworkService


@dataclass
class SessionUsage:
    """The account of one session, as its client is told."""

    service: CoworkService
    session_id: str
    _last: UsageCharged | None = None

    def take(self, charged: UsageCharged) -> None:
        """A turn of the conversation itself: what it read and wrote is what there is of it."""
        self._last = charged

    def update(self) -> schema.UsageUpdate | None:
        """None where nobody knows how large the window is: a made-up size would mislead."""
        size = self.service.factory.llm.known.window(self._last.model) if self._last else None
        if self._last is None or size is None:
            return None
        spent = sum((job.usage for job in self.service.jobs.of(self.session_id)), Usage())
        cost = None
        if spent.cost is not None:
            cost = schema.Cost(amount=spent.cost, currency=spent.currency)
        used = self._last.total_tokens
        return schema.UsageUpdate(session_update="usage_update", used=used, size=size, cost=cost)
