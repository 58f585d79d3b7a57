"""Hidden state of a notebook: what would be missing if it ran anew."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .names import names_in
from .state import CellState

_OF_IPYTHON = {"get_ipython", "display", "In", "Out", "exit", "quit"}


@dataclass(frozen=True)
class HiddenFindings:
    kind: Literal["out_of_order", "defined_later", "undefined"]
    cell_id: str
    message: str
    name: str = ""


def hidden_state(cells: Sequence[CellState]) -> list[HiddenFindings]:
    """Cells that ran out of order, and names that no cell above them defines."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    return [*_out_of_order(cells), *_missing_names(code)]


def _out_of_order(cells: Sequence[CellState]) -> Iterator[HiddenFindings]:
    highest, before = 0, 0
    for number, cell in enumerate(cells, 1):
        count = cell.execution_count
        if cell.cell_type != "code" or count is None:
            continue
        if count < highest:
            said = f"It ran as [{count}], before cell {before} above it, which ran as"
            yield HiddenFindings("out_of_order", cell.id, f"{said} [{highest}].")
        else:
            highest, before = count, number


def _missing_names(cells: Sequence[CellState]) -> Iterator[HiddenFindings]:
    names = [found for cell in cells if (found := names_in(cell.source)) is not None]
    if len(names) < len(cells) or any(cell_names.everything for cell_names in names):
        return  # some names cannot be known, so nothing is said about any
    anywhere = frozenset().union(*(cell_names.made for cell_names in names))
    known = set(dir(builtins)) | _OF_IPYTHON
    for cell, own_names in zip(cells, names, strict=True):
        for name in sorted(own_names.used - own_names.made - known):
            if name.startswith("_"):
                continue
            if name in anywhere:
                said = f"It uses '{name}', which only a cell below it defines."
                yield HiddenFindings("defined_later", cell.id, said, name)
            else:
                said = f"It uses '{name}', which no cell defines."
                yield HiddenFindings("undefined", cell.id, said, name)
        known |= own_names.made
