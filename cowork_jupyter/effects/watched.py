"""A run of code with the tables around it: what effects and warnings are found from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from ..domain.effects import TableState
from ..tools.kernel.state import Look

Answer = Mapping[str, JsonValue]
"""What our code in the kernel found, by names that its kind of look defines."""


@dataclass(frozen=True)
class WatchedRun:
    """One run of code, seen from both sides."""

    code: str
    earlier: Sequence[str] = ()
    """What ran in the same kernel before, oldest first."""
    before: Mapping[str, TableState] = field(default_factory=dict)
    """Tables by their names."""
    after: Mapping[str, TableState] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()
    """Names that stand for another table than before, or for one whose content changed."""
    answers: Mapping[Look, Answer] = field(default_factory=dict)
    """What was asked about tables before or after the run, where it could be answered."""
