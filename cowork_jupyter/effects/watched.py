"""A run of code with the tables around it: what effects and warnings are found from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from ..domain.effects import TableState
from ..tools.kernel.state import Look

Answer = Mapping[str, JsonValue]
"""The reply of our code in the kernel; its keys depend on the kind of look."""


@dataclass(frozen=True)
class WatchedRun:
    code: str
    earlier: Sequence[str] = ()
    """What ran in the same kernel before, oldest first."""
    before: Mapping[str, TableState] = field(default_factory=dict)
    """Tables by name."""
    after: Mapping[str, TableState] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()
    """Names of tables that were rebound, or whose content changed."""
    answers: Mapping[Look, Answer] = field(default_factory=dict)
    """Replies to looks before or after the run, where they could be answered."""
