"""Charges the usage of each turn to its job, and learns about the model from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...domain.contexts import Usage
from ...domain.notices import Notice
from ...llm.known_models import KnownModels
from ...llm.reader import ReplyReader
from ...llm.tokens import TokenCounter
from ..log import RunLog
from .budget import Budget
from .limits import RunLimits
from .message_words import estimate_usage, pictures_in, words_of

_LESSONS = (1, 2, 4, 8, 16, 32)
"""Turns after which the token counter is calibrated; later ones would teach it nothing new."""

_TRUNCATED, _TOO_SHORT_TO_TRUNCATE = 0.5, 2_000
"""A server that reports less than this share of so many tokens has truncated the prompt."""
_TOO_LITTLE = 1_000
"""No context window is this small: such a server leaves cached tokens out of its count."""


@dataclass
class Accounting:
    log: RunLog
    limits: RunLimits
    budget: Budget
    counter: TokenCounter
    known: KnownModels
    _truncates: bool = False

    async def charge(
        self, reader: ReplyReader, messages: list[dict[str, Any]], name: str, *, is_free: bool
    ) -> None:
        """Charge one turn: what the server reports, else an estimate."""
        spent = reader.usage
        if spent.total_tokens:
            # What a picture costs is not to be learnt for words.
            is_lesson = self.limits.turns in _LESSONS and not sum(map(pictures_in, messages))
            if not self._was_truncated(spent, messages, name) and is_lesson:
                self.counter.learn(map(words_of, messages), spent.prompt_tokens)
        elif not is_free and (reader.reply.raw or reader.reply.reasoning):
            reply = reader.reply
            written = self.counter(reply.raw) + self.counter(reply.reasoning)
            spent = estimate_usage(messages, written, self.counter)
        self.limits.tokens += spent.total_tokens
        turn = spent.model_copy(update={"turns": 1, "seconds": self.limits.lap()})
        await self.budget.spend(turn, name, self.log.task_id)

    def _was_truncated(self, spent: Usage, messages: list[dict[str, Any]], name: str) -> bool:
        """Some servers silently truncate long prompts; only their token count gives that away."""
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
