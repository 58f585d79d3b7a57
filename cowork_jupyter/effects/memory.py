"""What was seen last in each kernel, and the code without a cell that ran there. In memory only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..tools.kernel.state import KernelTables

MAX_KERNELS = 32
MAX_CODES = 50
MAX_CODE = 20_000
"""Characters of a piece of code that is remembered."""


@dataclass
class _Remembered:
    tables: KernelTables | None = None
    codes: list[tuple[int, str]] = field(default_factory=list)
    """Code that no history has, each with how many cells had run before it."""
    running: int = 0
    """Runs that go on now."""
    begun: int = 0
    """Runs that ever began."""


@dataclass
class KernelMemory:
    """By the notebooks whose kernels they are; those that nobody has used longest are forgotten."""

    _kernels: dict[str, _Remembered] = field(default_factory=dict)

    def tables(self, notebook: str) -> KernelTables | None:
        """What was seen there last."""
        found = self._kernels.get(notebook)
        return found.tables if found else None

    @contextmanager
    def running(self, notebook: str) -> Iterator[Callable[[], bool]]:
        """Around a run there; gives what says whether no other has been there at the same time.

        Steps of a plan may run side by side: what each of them did can then not be told apart.
        """
        kernel = self._of(notebook)
        kernel.running, kernel.begun = kernel.running + 1, kernel.begun + 1
        was_free, number = kernel.running == 1, kernel.begun
        try:
            yield lambda: was_free and kernel.begun == number
        finally:
            kernel.running -= 1

    def keep(self, notebook: str, tables: KernelTables) -> None:
        """Remember what was seen there now."""
        kernel = self._of(notebook)
        if kernel.tables and is_restarted(kernel.tables, tables):
            kernel.codes.clear()
        kernel.tables = tables

    def forget(self, notebook: str) -> None:
        """What was seen there is no more what there is."""
        self._of(notebook).tables = None

    def ran(self, notebook: str, code: str) -> None:
        """Code that stands in no cell has run there, after what was seen last."""
        kernel = self._of(notebook)
        place = len(kernel.tables.history) if kernel.tables else 0
        kernel.codes = [*kernel.codes[1 - MAX_CODES :], (place, code[:MAX_CODE])]

    def earlier(self, notebook: str, history: Sequence[str]) -> list[str]:
        """All code that ran there so far, in its order: cells, and what stands in none."""
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
    """Whether the kernel began anew in between: what it had run is forgotten."""
    return len(after.history) < len(before.history)


def has_run_at_most(cells: int, before: KernelTables, after: KernelTables) -> bool:
    """Whether no more cells ran in between. If so, nobody else's can have changed anything.

    Of a long history only the newest cells are known; that of IPython begins with an empty one.
    """
    old, new = (tuple(filter(None, tables.history)) for tables in (before, after))
    for count in range(cells + 1):
        known = new[: max(len(new) - count, 0)]
        if len(known) <= len(old) and old[len(old) - len(known) :] == known:
            return len(new) >= len(old)
    return False
