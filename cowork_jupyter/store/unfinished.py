"""Replies that ended early: what was streamed of them becomes a message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..domain.contexts import Job
from ..domain.events import Event, ReasoningStreamed, TextStreamed
from ..domain.message_data import Cut, TextData
from ..domain.messages import Message, TextPart
from ..domain.notices import Restart
from .transaction import Transaction


@dataclass
class _Streamed:
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    at: str = ""


def keep_shown(tx: Transaction, job: Job, cut: Cut) -> None:
    """Store what models have streamed in this job and no message holds, one message for each task.

    The words of replies that were started over are void.
    """
    roles = {task.id: task.role for task in job.tasks}
    for task_id, streamed in _by_task(tx.streamed_since_messages(job)):
        text, reasoning = "".join(streamed.texts).strip(), "".join(streamed.reasoning).strip()
        if not (text or reasoning):
            continue
        data = TextData(cut=cut)
        if reasoning:
            data.reasoning = reasoning
        message = Message(
            context_id=job.context_id,
            job_id=job.id,
            task_id=task_id,
            role="assistant",
            agent_role=roles.get(task_id or "", job.role),
            content=[TextPart(text=text)] if text else [],
            data=data,
            created_at=streamed.at,
        )
        tx.append_message(message)


def _by_task(events: list[Event]) -> Iterator[tuple[str | None, _Streamed]]:
    found: dict[str | None, _Streamed] = {}
    for event in events:
        streamed = found.setdefault(event.task_id, _Streamed())
        streamed.at = event.created_at
        match event.data:
            case TextStreamed(text=text):
                streamed.texts.append(text)
            case ReasoningStreamed(text=text):
                streamed.reasoning.append(text)
            case Restart():
                found[event.task_id] = _Streamed()
    yield from found.items()
