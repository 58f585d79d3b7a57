"""What finds mistakes in code that works on data: it is asked before a run, and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from ..domain.effects import DataWarning, TableState
from ..tools.kernel.state import KernelQuery

Answer = Mapping[str, JsonValue]
"""The reply of our code in the kernel; its keys depend on the kind of query."""
TableWarning = tuple[str, DataWarning]
"""With the name of the table it is about, or ""."""


@dataclass(frozen=True)
class WatchedRun:
    code: str
    earlier: Sequence[str] = ()
    """What ran in the same kernel before, oldest first."""
    before: Mapping[str, TableState] = field(default_factory=dict)
    after: Mapping[str, TableState] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()
    """Names of tables that were rebound, or whose content changed."""
    answers: Mapping[KernelQuery, Answer] = field(default_factory=dict)


class DataLinter(Protocol):
    def queries(
        self, code: str, tables: Mapping[str, TableState], earlier: Sequence[str] = ()
    ) -> Sequence[KernelQuery]:
        """What to ask about tables around a run of this code, `tables` being the current ones.

        Ask before the run, and what had no answer then once more after it; those with
        `KernelQuery.after` only then, those with `KernelQuery.before` only before. `earlier` is
        what ran in that kernel, oldest first.
        """
        ...

    def warnings(self, run: WatchedRun) -> Sequence[TableWarning]: ...


class NoLinter:
    def queries(self, *_: object) -> Sequence[KernelQuery]:
        return ()

    def warnings(self, *_: object) -> Sequence[TableWarning]:
        return ()


NO_LINTER = NoLinter()
