"""By which ids a client knows what it is told: the same live and when it is loaded."""

from __future__ import annotations

from collections import Counter

from ...domain.messages import Message, MessageType


class MessageIds:
    """What a run says has its id while it is being said, so it is named by its place in the run;
    whatever else is stored, by its own id.
    """

    def __init__(self) -> None:
        self._said: Counter[str | None] = Counter()

    def of_next(self, job_id: str | None) -> str:
        """The id of what this run is saying now."""
        return f"{job_id}.{self._said[job_id] + 1}"

    def take(self, message: Message) -> str:
        """The id of a stored message. Each must come once, in their order."""
        if not is_spoken(message):
            return message.id
        found = self.of_next(message.job_id)
        self._said[message.job_id] += 1
        return found


def is_spoken(message: Message) -> bool:
    """Whether it came as deltas: words of a run itself, not of a step or a tool."""
    is_text = message.message_type is MessageType.TEXT
    return message.role == "assistant" and is_text and message.task_id is None
