"""A reply as it comes: its words as events, soon but not one by one."""

from __future__ import annotations

import asyncio
from itertools import groupby

from ...domain.errors import CoworkError
from ...domain.events import ReasoningStreamed, TextStreamed
from ...domain.notices import Restart
from ...llm.chunks import Restarted
from ...llm.reply import Delta, TextDelta
from ..log import RunLog


class ReplyEvents:
    """Writes down what of a reply can be shown."""

    def __init__(self, log: RunLog) -> None:
        self.log = log
        self._unshown: list[Delta] = []
        self._failure: CoworkError | None = None

    def show(self, deltas: list[Delta]) -> None:
        """Show soon: what arrived in one piece from the network becomes one event."""
        if self._failure:
            raise self._failure
        if deltas and not self._unshown:
            asyncio.get_running_loop().call_soon(self._flush_soon)
        self._unshown += deltas

    def _flush_soon(self) -> None:
        """Nobody catches what the event loop's callbacks raise, so the next piece raises it."""
        try:
            self.flush()
        except CoworkError as error:
            self._failure = error

    def flush(self) -> None:
        unshown, self._unshown = self._unshown, []
        for kind, group in groupby(unshown, key=type):
            text = "".join(delta.text for delta in group)
            streamed = TextStreamed if kind is TextDelta else ReasoningStreamed
            self.log.event(streamed(text=text))

    def say_restarted(self, chunk: Restarted) -> None:
        """What was shown of this reply is void; the card takes it back."""
        self.flush()
        said = f"{chunk.reason} Retrying in {chunk.delay:.2g} s (attempt {chunk.attempt})."
        self.log.event(Restart(message=said, attempt=chunk.attempt, delay=chunk.delay))
