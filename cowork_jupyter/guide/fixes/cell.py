"""A failing cell with its context, edits of its code, and the fix that a rule proposes."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from ...domain.suggestions import CellError, NearbyCell
from ...tools.kernel.state import Variable

_SEPARATORS = re.compile(r"[\W_]+")
MAX_LISTED = 12


def normalize_name(name: str) -> str:
    """Ignore case, spaces and punctuation: `Unit Price` and `unit_price` are equal."""
    return _SEPARATORS.sub("", name).casefold()


def nearest(
    name: str, known: Iterable[str], similarity: float = 0.65, *, parts: bool = False
) -> str | None:
    """The most similar known name; equal but for case and punctuation wins.

    With `parts`, fall back to the only name that contains this one or is contained in it.
    """
    names = [candidate for candidate in known if candidate != name]
    wanted = normalize_name(name)
    same = [candidate for candidate in names if normalize_name(candidate) == wanted]
    if same:
        return same[0]
    by_plain: dict[str, str] = {}
    for candidate in names:
        by_plain.setdefault(normalize_name(candidate), candidate)
    close = difflib.get_close_matches(wanted, by_plain, 1, similarity)
    if close:
        return by_plain[close[0]]
    if not parts or len(wanted) < 4:
        return None
    holding = [
        candidate
        for candidate in by_plain
        if candidate and (wanted in candidate or (len(candidate) > 3 and candidate in wanted))
    ]
    return by_plain[holding[0]] if len(holding) == 1 else None


def listed(names: Iterable[str]) -> str:
    all_names = [f"`{name}`" for name in names]
    more = len(all_names) - MAX_LISTED
    return ", ".join(all_names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


N = TypeVar("N", bound=ast.AST)
Edit = tuple[int, int, str]  # start and end offset, replacement

_LINE_MAGIC = re.compile(r"^(\s*)(?:[\w., ]{1,200}=\s*)?[%!].*$")
_PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")
MAX_SOURCE = 100_000


@dataclass(frozen=True)
class CellCode:
    """The source of a cell with offsets of its nodes; magics count as `pass`."""

    text: str

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def tree(self) -> ast.Module | None:
        if len(self.text) > MAX_SOURCE:
            return None
        try:
            return ast.parse(self._without_magics)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @property
    def parses(self) -> bool:
        return self.tree is not None

    @cached_property
    def _without_magics(self) -> str:
        lines = [_LINE_MAGIC.sub(r"\1pass", line) if _is_magic(line) else line
                 for line in self.lines]  # fmt: skip
        return "\n".join(lines)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        nodes = ast.walk(self.tree) if self.tree else ()
        return {child: node for node in nodes for child in ast.iter_child_nodes(node)}

    def find(self, kind: type[N], lines: Iterable[int] = ()) -> Iterator[N]:
        """Nodes in source order, those of the innermost statements at `lines` first."""
        seen: set[ast.AST] = set()
        for line in lines:
            for statement in self._statements(line):
                yield from self._within(statement, kind, seen)
        if self.tree:
            yield from self._within(self.tree, kind, seen)

    def _within(self, node: ast.AST, kind: type[N], seen: set[ast.AST]) -> Iterator[N]:
        found = [child for child in ast.walk(node) if isinstance(child, kind) and child not in seen]
        seen.update(found)
        yield from sorted(found, key=lambda child: self.span(child))

    def _statements(self, line: int) -> list[ast.stmt]:
        found = [
            node
            for node in (ast.walk(self.tree) if self.tree else ())
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
        ]
        return sorted(found, key=lambda node: (node.end_lineno or 0) - node.lineno)[:1]

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        while node in self.parents and not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node if isinstance(node, ast.stmt) else None

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def offset(self, line: int, column: int) -> int:
        """Convert a line (from 1) and a byte column to an offset."""
        if line > len(self.lines):
            return len(self.text)
        before = self.lines[line - 1].encode()[:column]
        return self._starts[line - 1] + len(before.decode("utf-8", "replace"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        start = getattr(node, "lineno", None)
        if start is None:
            return (0, len(self.text))
        node_end = (node.end_lineno or start, node.end_col_offset or 0)  # type: ignore[attr-defined]
        return self.offset(start, node.col_offset), self.offset(*node_end)  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def replacement(self, node: ast.AST, text: str) -> Edit:
        return (*self.span(node), text)

    def attribute(self, node: ast.Attribute, name: str) -> Edit:
        end = self.span(node)[1]
        return (end - len(node.attr), end, name)

    def keyword(self, call: ast.Call, name: str) -> ast.keyword | None:
        return next((keyword for keyword in call.keywords if keyword.arg == name), None)

    def remove_argument(self, argument: ast.AST) -> Edit:
        """Remove an argument and its comma."""
        start, end = self.span(argument)
        behind = re.compile(r"\s*,\s*").match(self.text, end)
        if behind:
            return (start, behind.end(), "")
        before = self.text[:start].rstrip()
        return (len(before) - 1 if before.endswith(",") else start, end, "")

    def append_argument(self, call: ast.Call, argument: str) -> Edit:
        """Add text before the closing parenthesis of a call."""
        end = self.span(call)[1] - 1
        return (end, end, argument)

    def apply_edits(self, *edits: Edit) -> str:
        """Apply all edits; of two that overlap, the later one in the text wins."""
        text, last = self.text, len(self.text) + 1
        for start, end, new in sorted(set(edits), key=lambda edit: -edit[0]):
            if end <= last:
                text, last = text[:start] + new + text[end:], start
        return text

    def insert_on_top(self, line: str) -> str:
        """Insert a line before the first statement."""
        place = 0
        while place < len(self.lines) and (
            self.lines[place].startswith(("#", "%%", "from __future__"))
            or not self.lines[place].strip()
        ):
            place += 1
        return "\n".join([*self.lines[:place], line, *self.lines[place:]])


def _is_magic(line: str) -> bool:
    is_line = not line.startswith("%%") or line.startswith(_PYTHON_MAGICS)
    return is_line and bool(_LINE_MAGIC.match(line))


def base_name(node: ast.AST) -> str:
    """The variable that an expression starts with: `df` in `df.groupby("a")["b"].sum()`."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case ast.Name(id=name):
                return name
            case _:
                return ""


def callee_name(call: ast.Call) -> str:
    """The last name of the callee: `read_csv` in `pd.read_csv(…)`."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def quote_like(text: str, like: str) -> str:
    """A string literal in the quotes of another one."""
    quote = "'" if like.lstrip("rRbBuUfF").startswith("'") else '"'
    if quote in text or "\\" in text or "\n" in text:
        return repr(text)
    return f"{quote}{text}{quote}"


_PLACE = re.compile(
    r"(?:Cell In|Input In)\s?\[(\d+|\*)\],? line:? ?(\d+)|File <ipython-input-(\d+)-\w+>:(\d+)"
)
_OLD_PLACE = re.compile(r"line (\d+)\)?$")
_IMPORT = re.compile(r"^[^\S\n]*import\s+([\w.]+)\s+as\s+(\w+)", re.MULTILINE)
_GROUPED = re.compile(r"'-?\d{1,3}(?:,\d{3})+(?:\.\d+)?'")
_MAX_TRACEBACK, _MAX_MESSAGE = 100_000, 2_000
TABLES = ("DataFrame", "Table")
_USUAL_ALIASES = {"pandas": "pd", "numpy": "np", "matplotlib.pyplot": "plt"}


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
        places = [(new or old, int(line or at)) for new, line, old, at in _PLACE.findall(text)]
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
        return f'{self.alias("pandas")}.to_numeric({column}, errors="coerce")'

    def variable(self, name: str) -> Variable | None:
        return next((variable for variable in self.variables if variable.name == name), None)

    def type_of(self, name: str) -> str:
        found = self.variable(name)
        return found.type.rpartition(".")[2] if found else ""

    def alias(self, module: str) -> str:
        """The notebook's alias of a module."""
        for cell in (*self.cells, NearbyCell(id="", source=self.source)):
            for name, alias in _IMPORT.findall(cell.source):
                if name == module:
                    return str(alias)
        return _USUAL_ALIASES[module]

    def with_import(self, text: str, module: str) -> str:
        """Add an import unless the kernel or the source has it."""
        alias = self.alias(module)
        known = {variable.name for variable in self.variables}
        if alias in known or re.search(rf"\bas {alias}\b", text):
            return text
        return CellCode(text).insert_on_top(f"import {module} as {alias}")

    def find(self, kind: type[N]) -> Iterator[N]:
        return self.code.find(kind, self.lines)

    def calls(self, *names: str) -> Iterator[ast.Call]:
        return (call for call in self.find(ast.Call) if callee_name(call) in names)

    def edit(self, why: str, *edits: Edit, imports: str = "") -> Fix:
        text = self.code.apply_edits(*edits)
        return Fix(why, self.with_import(text, imports) if imports else text)

    def replace(self, why: str, node: ast.AST, text: str, imports: str = "") -> Fix:
        return self.edit(why, self.code.replacement(node, text), imports=imports)

    def earlier(self) -> Iterator[tuple[int, NearbyCell]]:
        """The other code cells, numbered from 1."""
        for number, cell in enumerate(self.cells, 1):
            if cell.id != self.cell_id and cell.cell_type == "code":
                yield number, cell
