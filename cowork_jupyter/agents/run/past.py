"""The past of a conversation, as far as one run may send it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from itertools import chain

from ...domain.message_data import TextData, ToolCallData, ToolResultData
from ...domain.messages import Message, MessageType
from ...domain.notices import HistorySummary
from ...llm.frames import spelled
from ..log import RunLog


class Past:
    """The sendable messages, newest first, each read from the store once per run."""

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._store = log.journal.store
        self.summary = self._stored_summary()
        """Stands for everything before the messages that are read."""
        self._known: deque[Message] = deque()
        self._older: Iterator[Message] | None = None
        self._last = 0

    def newest_first(self) -> Iterator[Message]:
        """New messages, those read before, and on from there; lazily."""
        older = self._read_news()
        for message in chain(self._known, self._read_on(older)):
            if self.summary and message.id == self.summary.last:
                return
            yield message

    def ends_with_result(self) -> bool:
        newest = next(self.newest_first(), None)
        return newest is not None and isinstance(newest.data, ToolResultData)

    def failed_calls(self) -> list[str]:
        """The parameters of calls that failed since anything else happened, newest first."""
        failed: list[str] = []
        for message in self.newest_first():
            if isinstance(message.data, ToolCallData):
                failed.append(json.dumps(message.data.parameters, sort_keys=True))
            elif not isinstance(message.data, ToolResultData) or message.data.ok:
                break
        return failed

    def thoughts(self) -> dict[str, str]:
        """The model's reasoning before each call of this job, by call id.

        Calls of one turn share the reasoning that was stored just before them.
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
        for message in map(spelled, filter(self._is_sent, older)):
            self._known.append(message)
            yield message

    def _stored_summary(self) -> HistorySummary | None:
        log = self._log
        notice = self._store.newest_notice(log.context_id, "history_summary", log.task_id)
        data = notice.data if notice else None
        return data if isinstance(data, HistorySummary) else None

    def _is_sent(self, message: Message) -> bool:
        """Of other tasks only results are sent; `recall` finds the rest.

        The result of a task delegated in this job is sent as the result of that call already.
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
            self._known.extendleft(map(spelled, filter(self._is_sent, news)))
        return self._older


def _is_sendable(message: Message) -> bool:
    """Errors were told to the user, not the model; reasoning without text is no turn."""
    if message.message_type is MessageType.TEXT:
        return bool(message.content)
    return message.message_type is not MessageType.ERROR
