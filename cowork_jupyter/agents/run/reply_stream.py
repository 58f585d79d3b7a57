"""A reply as it streams: its text as events, and its progress."""

from __future__ import annotations

from dataclasses import dataclass

from ...domain.events import ReasoningStreamed, TextStreamed
from ...domain.notices import ReplyProgress, Restart
from ...llm.chunks import Chunk, ReasoningChunk, Restarted, TextChunk, ToolCallChunk
from ...llm.reply import Delta, TextDelta
from ..log import RunLog
from .limits import RunLimits

_INTERVAL = 2.0
"""Seconds between two reports; a reply that is there sooner needs none."""

_CHARACTERS = 4
"""Per token, about, for servers that send many tokens in one piece."""


class ReplyEvents:
    def __init__(self, log: RunLog) -> None:
        self.log = log
        self._has_begun = False

    def show(self, deltas: list[Delta]) -> None:
        """Show the first words at once, later ones in batches."""
        for delta in deltas:
            kind = TextStreamed if isinstance(delta, TextDelta) else ReasoningStreamed
            self.log.stream(kind, delta.text, at_once=not self._has_begun)
            self._has_begun = True

    def say_restarted(self, chunk: Restarted) -> None:
        """What was shown of this reply is void; the card takes it back."""
        said = f"{chunk.reason} Retrying in {chunk.delay:.2g} s (attempt {chunk.attempt})."
        self.log.event(Restart(message=said, attempt=chunk.attempt, delay=chunk.delay))


@dataclass
class WritingProgress:
    limits: RunLimits
    log: RunLog
    window: int | None = None

    def __post_init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.limits.begin_reply()
        self._pieces = self._characters = 0
        self._since = self._reported = 0.0

    def watch(self, chunk: Chunk) -> None:
        """Account for a chunk. Raises LimitReached if the reply is too long."""
        match chunk:
            case TextChunk(text) | ReasoningChunk(text) | ToolCallChunk(arguments=text):
                self._add(text)
            case Restarted():
                self._begin()

    def _add(self, text: str) -> None:
        self._pieces += 1
        self._characters += len(text)
        written = max(self._pieces, self._characters // _CHARACTERS)
        # Tokens are guessed here, so nobody is cut off who keeps to the window.
        now = self.limits.progressed(written, 2 * self.window if self.window else None)
        if self._pieces == 1:
            self._since = self._reported = now
        elif now - self._reported >= _INTERVAL:
            self._reported = now
            self.log.event(
                ReplyProgress(
                    tokens=written,
                    rate=round(written / (now - self._since), 1),
                    turns_left=self.limits.turns_left,
                    seconds_left=round(self.limits.seconds_left, 1),
                )
            )
