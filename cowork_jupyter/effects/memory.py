"""Remembers the last seen tables of each kernel, and code without a cell that ran there.

In memory only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..tools.kernel.state import KernelTables

MAX_KERNELS = 32
MAX_CODES = 50
MAX_CODE = 20_000


@dataclass
class _Remembered:
    tables: KernelTables | None = None
    codes: list[tuple[int, str]] = field(default_factory=list)
    """Code that is in no history, each with how many cells had run before it."""
    running: int = 0
    begun: int = 0


@dataclass
class KernelMemory:
    """Keyed by notebook; evicts the least recently used."""

    _kernels: dict[str, _Remembered] = field(default_factory=dict)

    def tables(self, notebook: str) -> KernelTables | None:
        remembered = self._kernels.get(notebook)
        return remembered.tables if remembered else None

    @contextmanager
    def running(self, notebook: str) -> Iterator[Callable[[], bool]]:
        """Wrap a run; yields a predicate that says whether no other run has overlapped it.

        Steps of a plan may run side by side: then their effects cannot be told apart.
        """
        kernel = self._of(notebook)
        kernel.running, kernel.begun = kernel.running + 1, kernel.begun + 1
        was_free, number = kernel.running == 1, kernel.begun
        try:
            yield lambda: was_free and kernel.begun == number
        finally:
            kernel.running -= 1

    def keep(self, notebook: str, tables: KernelTables) -> None:
        kernel = self._of(notebook)
        if kernel.tables and is_restarted(kernel.tables, tables):
            kernel.codes.clear()
        kernel.tables = tables

    def forget(self, notebook: str) -> None:
        self._of(notebook).tables = None

    def ran(self, notebook: str, code: str) -> None:
        """Record code that is in no cell, after what was seen last."""
        kernel = self._of(notebook)
        place = len(kernel.tables.history) if kernel.tables else 0
        kernel.codes = [*kernel.codes[1 - MAX_CODES :], (place, code[:MAX_CODE])]

    def earlier(self, notebook: str, history: Sequence[str]) -> list[str]:
        """All code that ran there so far in order: cells, and code that is in none."""
        kernel, whole = self._kernels.get(notebook), list(history)
        for place, code in reversed(kernel.codes if kernel else []):
            whole.insert(place, code)
        return whole

    def _of(self, notebook: str) -> _Remembered:
        kernel = self._kernels.pop(notebook, None) or _Remembered()
        self._kernels[notebook] = kernel
        while len(self._kernels) > MAX_KERNELS:
            del self._kernels[next(iter(self._kernels))]
        return kernel


def is_restarted(before: KernelTables, after: KernelTables) -> bool:
    return len(after.history) < len(before.history)


def has_run_at_most(cells: int, before: KernelTables, after: KernelTables) -> bool:
    """Whether no more cells ran in between. If so, nobody else's can have changed anything.

    Of a long history only the newest cells are known; that of IPython begins with an empty one.
    """
    old, new = (tuple(filter(None, tables.history)) for tables in (before, after))
    for count in range(cells + 1):
        unchanged = new[: max(len(new) - count, 0)]
        if len(unchanged) <= len(old) and old[len(old) - len(unchanged) :] == unchanged:
            return len(new) >= len(old)
    return False
