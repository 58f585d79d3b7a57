from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...domain.operations import Observe, ignore_operation
from ...domain.redaction import Mask
from ...policy.visible import visible

if TYPE_CHECKING:
    from ...llm.client import LanguageModel


@dataclass(frozen=True)
class Timeouts:
    """Time limits of servers, in seconds."""

    start: float = 60.0
    """From its start to its list of tools."""
    first_look: float = 10.0
    """Wait of a run for servers whose tools are unknown."""
    longest_wait: float = 5.0
    """Wait of a call for a restarting server, before it fails."""
    pauses: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
    """Between a death and the next start, after one, two, … deaths in a row."""
    steady: float = 60.0
    """After this time, a death does not count as one in a row."""
    stop: float = 10.0
    last_words: float = 2.0
    """Wait of an aborted call for the cause of its server's death."""


@dataclass(frozen=True)
class McpEnvironment:
    folder: str
    model: Callable[[], LanguageModel]
    patience: Timeouts = Timeouts()
    observe: Observe = ignore_operation


MAX_KEPT = 16_000


class OutputTail:
    """The end of a server's stderr, for diagnosis. Stored raw; `text` masks secrets."""

    def __init__(self) -> None:
        self.mask = Mask()
        self._text = ""

    def add(self, text: str) -> None:
        self._text += text[-2 * MAX_KEPT :]
        if len(self._text) > 2 * MAX_KEPT:
            self._text = self._text[-MAX_KEPT:].partition("\n")[2] or self._text[-MAX_KEPT:]

    def add_line(self, text: str) -> None:
        self.add(("" if not self._text or self._text.endswith("\n") else "\n") + text + "\n")

    def text(self) -> str:
        return visible(self.mask(self._text[-MAX_KEPT:]))

    def last_line(self) -> str:
        lines = [line for line in self.text().splitlines() if line.strip()]
        return lines[-1].strip()[:300] if lines else ""
