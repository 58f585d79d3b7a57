"""What came before in a conversation, as far as one run may send it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from itertools import chain

from ...domain.message_data import TextData, ToolCallData, ToolResultData
from ...domain.messages import Message, MessageType
from ...domain.notices import HistorySummary
from ...llm.frames import spell_out_result
from ..log import RunLog


class Past:
    """The messages that may be sent, newest first, each read from the store once in a run."""

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._store = log.journal.store
        self.summary = self._stored_summary()
        """Of all that came before the messages that are read."""
        self._known: deque[Message] = deque()
        self._older: Iterator[Message] | None = None
        self._last = 0

    def newest_first(self) -> Iterator[Message]:
        """What is new since the last time, what was read before, and on from there."""
        older = self._read_news()
        for message in chain(self._known, self._read_on(older)):
            if self.summary and message.id == self.summary.last:
                return
            yield message

    def ends_with_result(self) -> bool:
        """Whether the newest message is what came of a call."""
        newest = next(self.newest_first(), None)
        return newest is not None and isinstance(newest.data, ToolResultData)

    def failed_calls(self) -> list[str]:
        """What was called and failed since anything else happened, the newest first."""
        failed: list[str] = []
        for message in self.newest_first():
            if isinstance(message.data, ToolCallData):
                failed.append(json.dumps(message.data.parameters, sort_keys=True))
            elif not isinstance(message.data, ToolResultData) or message.data.ok:
                break
        return failed

    def thoughts(self) -> dict[str, str]:
        """What the model thought before each call of this job, by the call's id.

        Calls of one turn share the thought that was stored just before them.
        """
        found: dict[str, str] = {}
        thought = ""
        for message in self._store.job_messages(self._log.job_id):
            if message.task_id != self._log.task_id:
                continue
            if isinstance(message.data, ToolCallData):
                found[message.data.call_id] = thought
            elif isinstance(message.data, TextData) and message.role == "assistant":
                thought = message.data.reasoning or ""
            else:
                thought = ""
        return found

    def _read_on(self, older: Iterator[Message]) -> Iterator[Message]:
        for message in map(spell_out_result, filter(self._is_sent, older)):
            self._known.append(message)
            yield message

    def _stored_summary(self) -> HistorySummary | None:
        log = self._log
        notice = self._store.newest_notice(log.context_id, "history_summary", log.task_id)
        data = notice.data if notice else None
        return data if isinstance(data, HistorySummary) else None

    def _is_sent(self, message: Message) -> bool:
        """Of others' tasks only what came of them; how they went about it, `recall` finds.

        What came of a task that was delegated in this job is a result of that call already.
        """
        is_own = message.task_id == self._log.task_id
        is_news = message.job_id != self._log.job_id
        is_outcome = is_news and message.message_type is MessageType.TASK_RESULT
        return _is_sendable(message) and (is_own or is_outcome)

    def _read_news(self) -> Iterator[Message]:
        context_id, task_id = self._log.context_id, self._log.task_id
        before, self._last = self._last, self._store.last_seq(context_id)
        if self._older is None:
            self._older = self._store.newest_messages(context_id, task_id)
        else:
            news = self._store.messages(context_id, before).items
            news = [message for message in news if task_id in (None, message.task_id)]
            self._known.extendleft(map(spell_out_result, filter(self._is_sent, news)))
        return self._older


def _is_sendable(message: Message) -> bool:
    """Errors were told to the user, not to the model; thoughts without words are no turn."""
    if message.message_type is MessageType.TEXT:
        return bool(message.content)
    return message.message_type is not MessageType.ERROR
