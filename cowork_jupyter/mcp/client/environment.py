"""What all MCP servers of a service share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...domain.operations import Observe, ignore_operation

if TYPE_CHECKING:
    from ...llm.client import LanguageModel


@dataclass(frozen=True)
class Patience:
    """How long servers may take, in seconds."""

    start: float = 60.0
    """From its start to its list of tools."""
    first_look: float = 10.0
    """That a run waits to learn of tools it has never heard of."""
    longest_wait: float = 5.0
    """That a call waits for a server to be started again, before it fails."""
    pauses: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
    """Between a death and the next start, after one, two, … deaths in a row."""
    steady: float = 60.0
    """A server that has lived for this long has not died in a row."""
    stop: float = 10.0
    last_words: float = 2.0
    """That a call which broke off waits to learn how its server ended."""


@dataclass(frozen=True)
class McpEnvironment:
    folder: str
    """The workspace."""
    model: Callable[[], LanguageModel]
    patience: Patience = Patience()
    observe: Observe = ignore_operation
