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
    """The cause of an error; `source` is None if no change of the cell helps."""

    why: str
    source: str | None = None


@dataclass(frozen=True)
class FailingCell:
    source: str
    error: CellError
    cell_id: str = ""
    cells: tuple[NearbyCell, ...] = ()
    variables: tuple[Variable, ...] = ()  # tables that the cell names have their columns
    files: tuple[str, ...] = ()  # as code in this notebook names them
    tried: frozenset[str] = field(default=frozenset())  # earlier proposals

    @cached_property
    def code(self) -> CellCode:
        return CellCode(self.source)

    @property
    def message(self) -> str:
        """Truncated, to bound the time of searches."""
        return self.error.value[:_MAX_MESSAGE]

    @cached_property
    def lines(self) -> list[int]:
        """The lines of the cell on the stack, innermost first."""
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
        return self.lines[0] if self.lines else None

    @cached_property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """Column types of each table that the cell names."""
        return {
            variable.name: variable.columns
            for variable in self.variables
            if variable.type.endswith(TABLES) and variable.columns
        }

    def numbers_in(self, column: str, table: str = "") -> str:
        """Code that parses a text column as numbers, with thousands separators if it has any."""
        known = self.variable(table)
        if known and any(_GROUPED.search(line) for line in known.lines):
            column += '.str.replace(",", "")'
        return f'{self.alias("pandas", "pd")}.to_numeric({column}, errors="coerce")'

    def variable(self, name: str) -> Variable | None:
        return next((variable for variable in self.variables if variable.name == name), None)

    def type_of(self, name: str) -> str:
        found = self.variable(name)
        return found.type.rpartition(".")[2] if found else ""

    def alias(self, module: str, usual: str) -> str:
        """The notebook's alias of a module."""
        for cell in (*self.cells, NearbyCell(id="", source=self.source)):
            for name, alias in _IMPORT.findall(cell.source):
                if name == module:
                    return str(alias)
        return usual

    def with_import(self, text: str, module: str, usual: str) -> str:
        """Add an import unless the kernel or the source has it."""
        alias = self.alias(module, usual)
        known = {variable.name for variable in self.variables}
        if alias in known or re.search(rf"\bas {alias}\b", text):
            return text
        return CellCode(text).with_line_on_top(f"import {module} as {alias}")

    def earlier(self) -> Iterator[tuple[int, NearbyCell]]:
        """The other code cells, numbered from 1."""
        for number, cell in enumerate(self.cells, 1):
            if cell.id != self.cell_id and cell.cell_type == "code":
                yield number, cell
