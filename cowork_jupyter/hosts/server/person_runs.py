"""Cells that a person has just run, as the tab tells in which they did.

Code in a kernel can say of itself that it is such a cell. So what only a person may ask for is
believed only if a tab has told of it, and only once. It imports nothing heavy: tabs connect before
anybody uses the agent.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...domain.cell_commands import CellCommand

MAX_SECONDS = 600.0
"""A tab says when a cell has ended, but not of one that was deleted while it waited its turn."""
MAX_CELLS = 200


@dataclass
class _PersonRun:
    source: str
    at: float

    @cached_property
    def commands(self) -> list[CellCommand]:
        """What it asks for, and nobody has taken yet."""
        from ...domain.cell_commands import commands_in

        return commands_in(self.source)


class PersonRuns:
    """The cells that were run in one tab and have not ended."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], _PersonRun] = {}

    def begin(self, path: str, cell_id: str, source: str) -> None:
        """A person has run this cell of the notebook at that path."""
        self._runs.pop((path, cell_id), None)
        self._runs[path, cell_id] = _PersonRun(source, monotonic())
        while len(self._runs) > MAX_CELLS:
            del self._runs[next(iter(self._runs))]

    def end(self, path: str, cell_id: str | None) -> None:
        """That cell has ended, or all of the notebook have."""
        self._runs = {
            key: run
            for key, run in self._runs.items()
            if key[0] != path or cell_id not in (None, key[1])
        }

    def take(self, path: str, cell_id: str, wanted: Collection[CellCommand]) -> bool:
        """Whether the cell asks for one of these. What it asks for once counts once."""
        run = self._runs.get((path, cell_id))
        if run is None or monotonic() - run.at > MAX_SECONDS:
            return False
        found = next((command for command in run.commands if command in wanted), None)
        if found is None:
            return False
        run.commands.remove(found)
        return True
