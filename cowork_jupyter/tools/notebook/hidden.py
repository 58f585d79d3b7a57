"""State that a notebook has and its text does not show: what would be missing if it ran anew."""

from __future__ import annotations

import builtins
import re
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .state import CellState

_OF_IPYTHON = {"get_ipython", "display", "In", "Out", "exit", "quit"}
_MAGIC = re.compile(r"^(\s*)(?:([\w., ]+?)\s*=\s*)?[%!].*$", re.MULTILINE)


@dataclass(frozen=True)
class HiddenFindings:
    """One thing that cannot be seen by reading the notebook from top to bottom."""

    kind: Literal["out_of_order", "defined_later", "undefined"]
    cell_id: str
    message: str
    name: str = ""


@dataclass(frozen=True)
class _Names:
    """The global names of one cell."""

    cell: CellState
    made: frozenset[str]
    used: frozenset[str]
    """Those that it needs from elsewhere as it runs, not those inside of functions."""
    everything: bool = False
    """Whether it imports names that cannot be known."""


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
    names = [one for cell in cells if (one := _names_of(cell)) is not None]
    if len(names) < len(cells) or any(one.everything for one in names):
        return  # somewhere are names that cannot be known, so nothing is said about any
    anywhere = frozenset().union(*(one.made for one in names)) if names else frozenset()
    known = set(dir(builtins)) | _OF_IPYTHON
    for one in names:
        for name in sorted(one.used - known):
            if name.startswith("_"):
                continue
            if name in anywhere:
                said = f"It uses '{name}', which only a cell below it defines."
                yield HiddenFindings("defined_later", one.cell.id, said, name)
            else:
                said = f"It uses '{name}', which no cell defines."
                yield HiddenFindings("undefined", one.cell.id, said, name)
        known |= one.made


def _names_of(cell: CellState) -> _Names | None:
    """None if the cell cannot be understood; a cell of another language has no names."""
    if cell.source.lstrip().startswith("%%"):
        return _Names(cell, frozenset(), frozenset())
    text = _MAGIC.sub(lambda found: f"{found[1]}{found[2] or '_'} = None", cell.source)
    try:
        table = symtable.symtable(text, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return None
    symbols = table.get_symbols()
    made = {
        symbol.get_name()
        for symbol in symbols
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    } | _globals_made(table)
    used = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
    stars = re.search(r"^\s*from\s+\S+\s+import\s+\*", text, re.MULTILINE) is not None
    return _Names(cell, frozenset(made), frozenset(used - made), stars)


def _globals_made(table: symtable.SymbolTable) -> set[str]:
    """What functions define by `global`."""
    made: set[str] = set()
    for child in table.get_children():
        for symbol in child.get_symbols():
            if symbol.is_declared_global() and symbol.is_assigned():
                made.add(symbol.get_name())
        made |= _globals_made(child)
    return made
