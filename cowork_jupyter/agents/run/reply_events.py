"""A reply as it comes: its words as events."""

from __future__ import annotations

from ...domain.events import ReasoningStreamed, TextStreamed
from ...domain.notices import Restart
from ...llm.chunks import Restarted
from ...llm.reply import Delta, TextDelta
from ..log import RunLog


class ReplyEvents:
    """Writes down what of a reply can be shown."""

    def __init__(self, log: RunLog) -> None:
        self.log = log
        self._has_begun = False

    def show(self, deltas: list[Delta]) -> None:
        """Show the first words at once, the others soon and not one by one."""
        for delta in deltas:
            kind = TextStreamed if isinstance(delta, TextDelta) else ReasoningStreamed
            self.log.stream(kind, delta.text, at_once=not self._has_begun)
            self._has_begun = True

    def say_restarted(self, chunk: Restarted) -> None:
        """What was shown of this reply is void; the card takes it back."""
        said = f"{chunk.reason} Retrying in {chunk.delay:.2g} s (attempt {chunk.attempt})."
        self.log.event(Restart(message=said, attempt=chunk.attempt, delay=chunk.delay))
