from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...domain.operations import Observe, unobserved

if TYPE_CHECKING:
    from ...llm.client import LanguageModel


@dataclass(frozen=True)
class Patience:
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
    """The workspace."""
    model: Callable[[], LanguageModel]
    patience: Patience = Patience()
    observe: Observe = unobserved
