"""What each turn has used, and what that tells of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...domain.contexts import Usage
from ...domain.notices import Notice
from ...llm.history import IMAGE_TOKENS
from ...llm.known_models import KnownModels
from ...llm.reader import ReplyReader
from ...llm.reply import Reply
from ...llm.tokens import TokenCounter
from ..log import RunLog
from .budget import Budget
from .limits import RunLimits
from .message_words import pictures_in, words_of

_LESSONS = (1, 2, 4, 8, 16, 32)
"""Turns after which the counter compares: what it can learn, it has learnt soon."""

_TRUNCATED, _TOO_SHORT_TO_TRUNCATE = 0.5, 2_000
"""A server that counts less than this part of so many tokens has not read them all."""
_TOO_LITTLE = 1_000
"""No window is that small: such a server does not count what it had cached."""


@dataclass
class Accounting:
    """Keeps the account of one run, and learns from what servers report."""

    log: RunLog
    limits: RunLimits
    budget: Budget
    counter: TokenCounter
    known: KnownModels
    _truncates: bool = False

    async def charge(
        self, reader: ReplyReader, messages: list[dict[str, Any]], name: str, *, is_free: bool
    ) -> None:
        """Put on the account what a turn has used, as the server says, else as it seems."""
        spent = reader.usage
        if spent.total_tokens:
            # What a picture costs is not to be learnt for words.
            is_lesson = self.limits.turns in _LESSONS and not sum(map(pictures_in, messages))
            if not self._was_truncated(spent, messages, name) and is_lesson:
                self.counter.learn(map(words_of, messages), spent.prompt_tokens)
        elif not is_free and (reader.reply.raw or reader.reply.reasoning):
            spent = self._estimate(reader.reply, messages)
        self.limits.tokens += spent.total_tokens
        turn = spent.model_copy(update={"turns": 1, "seconds": self.limits.lap()})
        await self.budget.spend(turn, name, self.log.task_id)

    def _was_truncated(self, spent: Usage, messages: list[dict[str, Any]], name: str) -> bool:
        """Some servers cut off what is too long, and only their count of it tells."""
        sent, read = (
            sum(self.counter(words_of(message)) for message in messages),
            spent.prompt_tokens,
        )
        if sent < _TOO_SHORT_TO_TRUNCATE or not _TOO_LITTLE <= read < sent * _TRUNCATED:
            return False
        self.known.learn_window(name, read)
        said = (
            f"{name} read only {read:,} of about {sent:,} tokens: its server cuts off what "
            "is longer. Less is sent from now on. Give the server a larger context if you can."
        )
        if not self._truncates:
            self.log.event(Notice(code="truncated", message=said))
        self._truncates = True
        return True

    def _estimate(self, reply: Reply, messages: list[dict[str, Any]]) -> Usage:
        """Keep limits also with a server that does not tell what was spent."""
        sent = sum(self.counter(words_of(message)) for message in messages)
        sent += sum(map(pictures_in, messages)) * IMAGE_TOKENS
        written = self.counter(reply.raw) + self.counter(reply.reasoning)
        return Usage(
            prompt_tokens=sent,
            completion_tokens=written,
            total_tokens=sent + written,
            estimated=True,
        )
