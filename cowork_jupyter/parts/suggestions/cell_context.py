"""What is known around a cell when a suggestion for it is wanted.

The page sends the cells as it shows them. What it cannot know is looked up at the same time, within
a moment and as far as the role may read unasked: which cells are private, and what the variables
are that the cell names.
"""

from __future__ import annotations

import asyncio
import builtins
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

from ...agents.log import RunLog
from ...agents.notebook.lookup import settle
from ...agents.run.tool_environment import ToolEnvironment
from ...domain.errors import CoworkError
from ...domain.suggestions import NearbyCell, SuggestionRequest
from ...tools.kernel.state import Variable
from ...tools.notebook.names import CellNames, names_in

SECONDS = 0.3
_MAX_INSPECTED = 4
_MAX_SOURCE = 20_000
_TABLES = ("DataFrame", "Table", "Series", "ndarray")
_NAME = re.compile(r"[^\W\d]\w*")
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True)
class NotebookFacts:
    private: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[Variable, ...] = ()
    language: str = ""


@dataclass(frozen=True)
class CellContext:
    """The notebook around a cell, as a model may know it."""

    cells: tuple[NearbyCell, ...] = ()
    variables: tuple[Variable, ...] = ()
    """All of the kernel; tables that the cell names with their contents."""
    private: tuple[str, ...] = ()
    """Sources of private cells, which must not show up anywhere else."""
    is_private: bool = False
    language: str = ""

    @classmethod
    def of(cls, request: SuggestionRequest, looked: NotebookFacts) -> Self:
        return cls(
            cells=tuple(cell for cell in request.cells if cell.id not in looked.private),
            variables=looked.variables,
            private=tuple(looked.private.values()),
            is_private=request.cell_id in looked.private,
            language=looked.language,
        )

    def named_in(self, source: str) -> list[Variable]:
        known = {
            variable.name: variable for variable in self.variables if variable.type != "module"
        }
        return [known[name] for name in names_of(source) if name in known]


async def read_notebook_facts(
    tools: ToolEnvironment,
    log: RunLog,
    notebook: str | None,
    request: SuggestionRequest,
    seconds: float = SECONDS,
) -> NotebookFacts:
    """What can be looked up in this time. Never raises."""
    if not notebook:
        return NotebookFacts()
    may_read = tools.unasked_workspace(log, "read_notebook", path=notebook)
    may_list = tools.unasked_workspace(log, "list_variables", path=notebook)
    found: list[Variable] = []
    reading = (
        asyncio.ensure_future(tools.gate.notebooks.glance(may_read, notebook)) if may_read else None
    )

    async def list_and_inspect() -> None:
        """Keeps each finding, even if there is no time for the next."""
        assert may_list is not None
        listed = await tools.kernels.variables(may_list, notebook)
        found.extend(listed.items)
        names = set(names_of(f"{request.source}\n{request.instruction}"))
        tables = [
            place
            for place, variable in enumerate(found)
            if variable.name in names and variable.type.endswith(_TABLES)
        ]

        async def inspect(place: int) -> None:
            with suppress(CoworkError):
                found[place] = await tools.kernels.inspect(may_list, notebook, found[place].name)

        await asyncio.gather(*map(inspect, tables[:_MAX_INSPECTED]))

    listing = asyncio.ensure_future(list_and_inspect()) if may_list else None
    lookups = [task for task in (reading, listing) if task is not None]
    if lookups:
        await settle(seconds, *lookups)
    state = None
    if reading and reading.done() and not reading.cancelled() and not reading.exception():
        state = reading.result()
    if state is None:
        return NotebookFacts(variables=tuple(found))
    private = {cell.id: cell.source for cell in state.cells if cell.is_private}
    return NotebookFacts(private, tuple(found), state.language)


def names_of(source: str) -> list[str]:
    found = dict.fromkeys(_NAME.findall(source[:_MAX_SOURCE]))
    return [name for name in found if name not in _BUILTINS]


@lru_cache(maxsize=1_000)
def cell_names(source: str) -> CellNames:
    return (names_in(source) if len(source) <= _MAX_SOURCE else None) or CellNames()


def related_cells(
    cell_id: str, cells: Sequence[NearbyCell], source: str, nearest: int = 2
) -> list[NearbyCell]:
    """Other cells that matter for one: those that define the names it uses, the newest for each
    name, then its neighbours; the most important first.
    """
    place = next((at for at, cell in enumerate(cells) if cell.id == cell_id), len(cells))
    wanted = set(names_of(source))
    found: dict[str, NearbyCell] = {}
    before = [cell for cell in reversed(cells[:place]) if cell.source.strip()]
    for cell in before:
        if cell.cell_type == "code" and wanted and (made := wanted & cell_names(cell.source).made):
            wanted -= made
            found.setdefault(cell.id, cell)
    for cell in [*before[:nearest], *cells[place + 1 : place + 2]]:
        if cell.source.strip():
            found.setdefault(cell.id, cell)
    return list(found.values())


def in_notebook_order(
    cells: Iterable[NearbyCell], all_cells: Sequence[NearbyCell]
) -> list[NearbyCell]:
    wanted = {cell.id for cell in cells}
    return [cell for cell in all_cells if cell.id in wanted]
