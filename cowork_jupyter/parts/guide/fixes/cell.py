"""A failing cell with what is known around it, and the fix that a rule proposes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ....domain.suggestions import CellError, NearbyCell
from ....tools.kernel.state import Variable
from .code import CellCode, Edit, N, base_name, callee_name

_PLACE = re.compile(r"(?:Cell In ?\[|File <ipython-input-)(\d+)[^\s:]{0,40}(?: line |:)(\d+)")
_PLACE_OF_SYNTAX = re.compile(r"line (\d+)\)?$")
_PANDAS = re.compile(r"^[^\S\n]*import\s+pandas\s+as\s+(\w+)", re.MULTILINE)
_MAX_TRACEBACK, _MAX_MESSAGE = 100_000, 2_000
_TABLES = ("DataFrame", "Table")
_TEXT = ("str", "object", "String", "Utf8", "large_string")
_NUMBER = ("int", "float", "uint", "double", "decimal")


@dataclass(frozen=True)
class Fix:
    """The cause of an error; `source` is None if no change of the cell surely helps."""

    why: str
    source: str | None = None


@dataclass(frozen=True)
class KnownColumn:
    """A column of a table in the kernel, with the texts of its first rows."""

    name: str
    table: str
    dtype: str
    texts: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        return self.dtype.startswith(_TEXT)

    @property
    def is_number(self) -> bool:
        return self.dtype.lower().startswith(_NUMBER)

    @property
    def is_date(self) -> bool:
        return self.dtype.lower().startswith(("date", "timestamp"))


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
        places = _PLACE.findall(text)
        if places:
            own = [int(line) for number, line in places if number == places[0][0]]
            return list(dict.fromkeys(reversed(own)))
        found = _PLACE_OF_SYNTAX.search(self.message[-200:])
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
            if variable.type.endswith(_TABLES) and variable.columns
        }

    def column(self, node: ast.AST) -> KnownColumn | None:
        """The known column that `df["a"]`, `df.a` or the name of a Series stands for."""
        table, name = base_name(node), ""
        match node:
            case ast.Subscript(slice=ast.Constant(value=str(key))):
                name = key
            case ast.Attribute(value=ast.Name(), attr=attribute):
                name = attribute
            case ast.Name() if self.type_of(table) == "Series":
                variable = self.variable(table)
                name = next(iter(variable.columns), "") if variable else ""
        return self.known_column(table, name)

    def known_column(self, table: str, name: str) -> KnownColumn | None:
        variable = self.variable(table)
        if variable is None or name not in variable.columns:
            return None
        texts = tuple(variable.first_texts(name))
        return KnownColumn(name, table, variable.columns[name], texts)

    def variable(self, name: str) -> Variable | None:
        return next((variable for variable in self.variables if variable.name == name), None)

    def type_of(self, name: str) -> str:
        found = self.variable(name)
        return found.type.rpartition(".")[2] if found else ""

    @cached_property
    def pandas(self) -> str:
        """The notebook's alias of pandas."""
        sources = (self.source, *(cell.source for cell in self.cells))
        found = next(filter(None, map(_PANDAS.search, sources)), None)
        return found[1] if found else "pd"

    def find(self, kind: type[N]) -> Iterator[N]:
        """Nodes of the statements that failed, if these are known."""
        return self.code.find(kind, self.lines)

    def calls(self, *names: str) -> Iterator[ast.Call]:
        return (call for call in self.find(ast.Call) if callee_name(call) in names)

    def edit(self, why: str, *edits: Edit) -> Fix:
        """Import pandas with what needs it, unless the kernel or the source has it."""
        text, alias = self.code.apply_edits(*edits), self.pandas
        is_used = any(f"{alias}." in new for _start, _end, new in edits)
        if is_used and not self.variable(alias) and not re.search(rf"\bas {alias}\b", text):
            text = CellCode(text).insert_on_top(f"import pandas as {alias}")
        return Fix(why, text)

    def replace(self, why: str, node: ast.AST, text: str) -> Fix:
        return self.edit(why, self.code.replacement(node, text))

    def earlier(self) -> Iterator[tuple[int, NearbyCell]]:
        """The other code cells, numbered from 1."""
        for number, cell in enumerate(self.cells, 1):
            if cell.id != self.cell_id and cell.cell_type == "code":
                yield number, cell
