"""Dependencies between cells: hidden state, and results that are out of date."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .names import CellNames, names_in
from .state import CellState

_OF_IPYTHON = {"get_ipython", "display", "In", "Out", "exit", "quit"}


@dataclass(frozen=True)
class HiddenFindings:
    kind: Literal["out_of_order", "defined_later", "undefined"]
    cell_id: str
    message: str
    name: str = ""


def hidden_state(cells: Sequence[CellState]) -> list[HiddenFindings]:
    code = [cell for cell in cells if cell.cell_type == "code"]
    return [*_out_of_order(cells), *_missing_names(code)]


def _out_of_order(cells: Sequence[CellState]) -> Iterator[HiddenFindings]:
    highest, before = 0, 0
    for number, cell in enumerate(cells, 1):
        count = cell.execution_count
        if cell.cell_type != "code" or count is None:
            continue
        if count < highest:
            message = f"It ran as [{count}], before cell {before} above it, which ran as"
            yield HiddenFindings("out_of_order", cell.id, f"{message} [{highest}].")
        else:
            highest, before = count, number


def _missing_names(cells: Sequence[CellState]) -> Iterator[HiddenFindings]:
    names = [found for cell in cells if (found := names_in(cell.source)) is not None]
    if len(names) < len(cells) or any(cell_names.everything for cell_names in names):
        return  # some names cannot be known, so nothing is said about any
    anywhere = frozenset().union(*(cell_names.made for cell_names in names))
    defined = set(dir(builtins)) | _OF_IPYTHON
    for cell, own_names in zip(cells, names, strict=True):
        for name in sorted(own_names.used - own_names.made - defined):
            if name.startswith("_"):
                continue
            if name in anywhere:
                message = f"It uses '{name}', which only a cell below it defines."
                yield HiddenFindings("defined_later", cell.id, message, name)
            else:
                message = f"It uses '{name}', which no cell defines."
                yield HiddenFindings("undefined", cell.id, message, name)
        defined |= own_names.made


@dataclass(frozen=True)
class StaleCell:
    cell_id: str
    cell: int
    """Its place in the notebook, from 1."""
    name: str
    changed_id: str


@dataclass(frozen=True)
class CellTimes:
    """When a code cell ran and changed, in ticks of a clock that all cells of a notebook share."""

    id: str
    source: str
    ran: int | None
    """None if it did not run in this kernel."""
    changed: int | None
    """When it ran, or was edited after that."""


def stale_cells(cells: Sequence[CellState], cell_id: str) -> list[StaleCell]:
    """Cells that depend on what this one defines, also transitively, in order."""
    all_names = [(names_in(cell.source) if cell.cell_type == "code" else None) for cell in cells]
    here = next((at for at, cell in enumerate(cells) if cell.id == cell_id), None)
    if here is None:
        return []
    return [
        StaleCell(cells[at].id, at + 1, name, cell_id)
        for at, name in sorted(_dependents(all_names, here).items())
        if cells[at].execution_count is not None
    ]


def outdated_cells(cells: Sequence[CellTimes]) -> list[StaleCell]:
    """Cells that ran before a change of another one on which they depend, in order."""
    all_names = [names_in(cell.source) for cell in cells]
    stale: dict[int, StaleCell] = {}
    for here, cause in enumerate(cells):
        older = {
            at
            for at, cell in enumerate(cells)
            if cell.ran is not None and cause.changed is not None and cell.ran < cause.changed
        }
        for at, name in _dependents(all_names, here).items() if older else ():
            if at in older:
                stale.setdefault(at, StaleCell(cells[at].id, at + 1, name, cause.id))
    return [stale[at] for at in sorted(stale)]


def _dependents(all_names: Sequence[CellNames | None], here: int) -> dict[int, str]:
    """Places of the cells that need what this one defines, each with such a name."""
    names = all_names[here]
    if names is None:
        return {}
    above = _needed_above(all_names[:here], names)
    old = set(names.made | names.changed)
    for cell_names in all_names[:here]:
        _add_functions(cell_names, old)
    return above | _needed_below(all_names, here, old)


def _needed_above(above: Sequence[CellNames | None], names: CellNames) -> dict[int, str]:
    """Cells above it that can have what they need only from it."""
    made: set[str] = set()
    names_by_cell = {}
    for at, cell_names in enumerate(above):
        if cell_names is None:
            continue
        if needed := sorted((cell_names.needed & names.made) - made):
            names_by_cell[at] = needed[0]
        made |= cell_names.made
    return names_by_cell


def _needed_below(
    all_names: Sequence[CellNames | None], here: int, old: set[str]
) -> dict[int, str]:
    """Cells below; `old` are names whose values are out of date."""
    names_by_cell = {}
    for at in range(here + 1, len(all_names)):
        names = all_names[at]
        if names is None:
            continue
        if needed := sorted(names.needed & old):
            names_by_cell[at] = needed[0]
            old |= names.made | names.changed
        else:
            old -= names.made
        _add_functions(names, old)
    return names_by_cell


def _add_functions(names: CellNames | None, old: set[str]) -> None:
    """Calling a function needs what it refers to; defining it does not."""
    for name, inside in (names.in_functions if names else {}).items():
        if inside & old:
            old.add(name)
