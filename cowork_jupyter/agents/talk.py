"""One question to the model: the history that fits, the answer as it streams."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from ..domain.events import EventType
from ..domain.messages import Message, MessageType
from ..llm.chunks import Request, Restarted
from ..llm.client import Model
from ..llm.conversation import to_api_messages
from ..llm.failures import ContextOverflow
from ..llm.history import optimize_history_by_tokens
from ..llm.reader import ReplyReader
from ..llm.reply import Delta, Reply, TextDelta
from ..llm.tokens import TokenCounter
from .limits import Limits
from .log import RunLog

HISTORY_TOKENS = 24_000
"""What of the conversation is sent, unless the model turns out to read less."""


@dataclass
class Talk:
    """Asks the model on behalf of one run."""

    model: Model
    log: RunLog
    limits: Limits
    system: str
    """The system prompt."""
    model_name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    """What the tool protocol adds to each request."""
    counter: TokenCounter = field(default_factory=TokenCounter)
    history_tokens: int = HISTORY_TOKENS

    async def ask(self) -> Reply:
        """Ask once; a conversation too long for the model is shortened and sent once more."""
        try:
            return await self._ask()
        except ContextOverflow as error:
            self.history_tokens //= 2
            self.log.event(
                EventType.NOTICE,
                {"code": error.code, "message": f"{error.message} Sending less of the past."},
            )
            return await self._ask()

    async def _ask(self) -> Reply:
        messages = to_api_messages(self.system, self._history())
        request = Request(messages, model=self.model_name, arguments=self.arguments)
        reader = ReplyReader()
        self.limits.turns += 1
        try:
            async with aclosing(self.model.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Restarted):
                        self._say_restarted(chunk)
                    self._show(reader.feed(chunk))
            self._show(reader.finish())
        finally:
            self._account(reader, messages)
        return reader.reply

    def _history(self) -> list[Message]:
        store, context_id = self.log.journal.store, self.log.context_id
        revision = store.plan(context_id)
        return optimize_history_by_tokens(
            self._sendable(store.newest_messages(context_id, self.log.task_id)),
            self.history_tokens,
            self.counter,
            goal=store.goal(context_id, self.log.job_id),
            plan=f"The current plan:\n{revision.plan.model_dump_json()}" if revision else None,
        )

    @staticmethod
    def _sendable(newest_first: Iterator[Message]) -> Iterator[Message]:
        """Errors were told to the user, not to the model."""
        return (one for one in newest_first if one.message_type is not MessageType.ERROR)

    def _show(self, deltas: list[Delta]) -> None:
        for delta in deltas:
            is_text = isinstance(delta, TextDelta)
            kind = EventType.TEXT_DELTA if is_text else EventType.REASONING_DELTA
            self.log.event(kind, {"text": delta.text})

    def _say_restarted(self, chunk: Restarted) -> None:
        """What was shown of this reply is void; the card takes it back."""
        self.log.event(
            EventType.NOTICE,
            {
                "code": "restarted",
                "message": f"{chunk.reason} Trying again in {chunk.delay:.1f} s.",
                "attempt": chunk.attempt,
                "delay": chunk.delay,
            },
        )

    def _account(self, reader: ReplyReader, messages: list[dict[str, Any]]) -> None:
        usage = reader.usage
        if not usage.total_tokens:
            return
        self.limits.tokens += usage.total_tokens
        self.counter.learn([str(one["content"]) for one in messages], usage.prompt_tokens)
        data = {**usage.model_dump(), "model": self.model_name or self.model.name}
        with self.log.journal.transaction() as tx:
            job = tx.job(self.log.job_id)
            tx.save_job(job.model_copy(update={"usage": job.usage + usage}))
            self.log.append(tx, EventType.USAGE, data)
