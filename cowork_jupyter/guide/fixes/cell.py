"""A cell that failed, with all that rules may know of it; and what a rule makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ...domain.suggestions import CellError, NearbyCell
from ...tools.kernel.state import Variable
from .code import CellCode

_PLACE = re.compile(
    r"(?:Cell In|Input In)\s?\[(\d+|\*)\],? line:? ?(\d+)|File <ipython-input-(\d+)-\w+>:(\d+)"
)
_OLD_PLACE = re.compile(r"line (\d+)\)?$")
_IMPORT = re.compile(r"^\s*import\s+([\w.]+)\s+as\s+(\w+)", re.MULTILINE)
_GROUPED = re.compile(r"'-?\d{1,3}(?:,\d{3})+(?:\.\d+)?'")
_MAX_TRACEBACK, _MAX_MESSAGE = 100_000, 2_000
TABLES = ("DataFrame", "Table")


@dataclass(frozen=True)
class Fix:
    """What a rule says: why it failed, and how the cell would work; None: not by a change here."""

    why: str
    source: str | None = None


@dataclass(frozen=True)
class FailingCell:
    """The cell, its error, and what is around it."""

    source: str
    error: CellError
    cell_id: str = ""
    cells: tuple[NearbyCell, ...] = ()
    """All cells of the notebook, in order."""
    variables: tuple[Variable, ...] = ()
    """What the kernel has; tables that the cell names with their columns."""
    files: tuple[str, ...] = ()
    """Paths in the workspace, as code in this notebook names them."""
    tried: frozenset[str] = field(default=frozenset())
    """What was proposed already."""

    @cached_property
    def code(self) -> CellCode:
        return CellCode(self.source)

    @property
    def message(self) -> str:
        """What the error says, without what would take long to search."""
        return self.error.value[:_MAX_MESSAGE]

    @cached_property
    def lines(self) -> list[int]:
        """The lines of the cell that were running, the innermost first."""
        text = self.error.traceback[:_MAX_TRACEBACK]
        places = [
            (number or old_number, int(line or at))
            for number, line, old_number, at in _PLACE.findall(text)
        ]
        if places:
            own = [line for number, line in places if number == places[0][0]]
            return list(dict.fromkeys(reversed(own)))
        found = _OLD_PLACE.search(self.message[-200:])
        return [int(found[1])] if found else []

    @property
    def line(self) -> int | None:
        """The innermost of them."""
        return self.lines[0] if self.lines else None

    @cached_property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """The columns and their types of each table that the cell names."""
        return {
            variable.name: variable.columns
            for variable in self.variables
            if variable.type.endswith(TABLES) and variable.columns
        }

    def numbers_in(self, column: str, table: str = "") -> str:
        """An expression that reads a column of text as numbers, commas between thousands too."""
        known = self.variable(table)
        if known and any(_GROUPED.search(line) for line in known.lines):
            column += '.str.replace(",", "")'
        return f'{self.alias("pandas", "pd")}.to_numeric({column}, errors="coerce")'

    def variable(self, name: str) -> Variable | None:
        return next((variable for variable in self.variables if variable.name == name), None)

    def type_of(self, name: str) -> str:
        """The type of a variable, without the package it is from."""
        found = self.variable(name)
        return found.type.rpartition(".")[2] if found else ""

    def alias(self, module: str, usual: str) -> str:
        """What the notebook calls a module."""
        for cell in (*self.cells, NearbyCell(id="", source=self.source)):
            for name, alias in _IMPORT.findall(cell.source):
                if name == module:
                    return str(alias)
        return usual

    def with_import(self, text: str, module: str, usual: str) -> str:
        """The new source, with the import that it needs where the kernel has none."""
        alias = self.alias(module, usual)
        known = {variable.name for variable in self.variables}
        if alias in known or re.search(rf"\bas {alias}\b", text):
            return text
        return CellCode(text).with_line_on_top(f"import {module} as {alias}")

    def earlier(self) -> Iterator[tuple[int, NearbyCell]]:
        """The other code cells with their numbers as people count them."""
        for number, cell in enumerate(self.cells, 1):
            if cell.id != self.cell_id and cell.cell_type == "code":
                yield number, cell
