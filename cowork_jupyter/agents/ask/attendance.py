"""A user who may or may not be present."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...domain.replies import Question
from ...store import Asker
from ..log import RunLog
from .inquiries import Inquiries
from .user import Nobody, NobodyApproves, PermissionRequest, Ruling


@dataclass(frozen=True)
class WhenAttended:
    """The user of a host that only finds out later whether somebody sits in front of it."""

    inquiries: Inquiries
    is_attended: Callable[[], bool]

    async def ask(self, question: Question, log: RunLog, asker: Asker = "") -> str | None:
        return await (self.inquiries if self.is_attended() else Nobody()).ask(question, log, asker)

    def left_open(self, asker: Asker, log: RunLog) -> Question | None:
        return self.inquiries.left_open(asker, log) if self.is_attended() else None

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        approver = self.inquiries if self.is_attended() else NobodyApproves()
        return await approver.decide(request, log)

    def announce(self, request: PermissionRequest, log: RunLog) -> None:
        if self.is_attended():
            self.inquiries.announce(request, log)

    def forget(self, call_id: str) -> None:
        self.inquiries.forget(call_id)
