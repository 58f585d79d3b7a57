"""A failing cell: its code, what is known around it, names that are alike, and the fix for it."""

from __future__ import annotations

import ast
import re
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from ....domain.suggestions import CellError, NearbyCell
from ....domain.user_code import as_python
from ....tools.kernel.state import Variable
from ..reading.tokens import words_of

KNOWN = tomllib.loads(Path(__file__).with_name("known.toml").read_text(encoding="utf-8"))
N = TypeVar("N", bound=ast.AST)
Edit = tuple[int, int, str]  # start and end offset, replacement

_MAX_SOURCE = 100_000


@contextmanager
def _quietly() -> Iterator[None]:
    """What Python cannot read ends the block."""
    errors = (SyntaxError, ValueError, RecursionError, MemoryError)
    with suppress(*errors), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True)
class CellCode:
    """The source of a cell with offsets of its nodes; magics count as empty assignments."""

    text: str

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def tree(self) -> ast.Module | None:
        python = as_python(self.text) if len(self.text) <= _MAX_SOURCE else None
        with _quietly():
            return ast.parse(python) if python is not None else None

    @property
    def compiles(self) -> bool:
        """More than to parse: a `return` outside of a function does not compile."""
        if self.tree is not None:
            with _quietly():
                compile(self.tree, "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
                return True
        return False

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        nodes = ast.walk(self.tree) if self.tree else ()
        return {child: node for node in nodes for child in ast.iter_child_nodes(node)}

    def find(self, kind: type[N], lines: Iterable[int] = ()) -> Iterator[N]:
        """Nodes in source order; with lines, those of the innermost statement at each."""
        statements = [statement for line in lines if (statement := self._statement(line))]
        seen: set[ast.AST] = set()
        roots: list[ast.AST] = [*statements] or ([self.tree] if self.tree else [])
        for root in roots:
            nodes = [node for node in ast.walk(root) if isinstance(node, kind) and node not in seen]
            seen.update(nodes)
            yield from sorted(nodes, key=self.span)

    def _statement(self, line: int) -> ast.stmt | None:
        around = [
            node
            for node in (ast.walk(self.tree) if self.tree else ())
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
        ]
        return min(around, key=lambda node: (node.end_lineno or 0) - node.lineno, default=None)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def is_called(self, node: ast.AST) -> bool:
        parent = self.parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def _offset(self, line: int, column: int) -> int:
        """Lines count from 1, columns in bytes."""
        if line > len(self.lines):
            return len(self.text)
        before = self.lines[line - 1].encode()[:column]
        return self._starts[line - 1] + len(before.decode("utf-8", "replace"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        start = getattr(node, "lineno", None)
        if start is None:
            return (0, len(self.text))
        end = (node.end_lineno or start, node.end_col_offset or 0)  # type: ignore[attr-defined]
        return self._offset(start, node.col_offset), self._offset(*end)  # type: ignore[attr-defined]

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
        if behind := re.compile(r"\s*,\s*").match(self.text, end):
            return (start, behind.end(), "")
        before = self.text[:start].rstrip()
        return (len(before) - 1 if before.endswith(",") else start, end, "")

    def append_argument(self, call: ast.Call, argument: str) -> Edit:
        end = self.span(call)[1] - 1
        return (end, end, f", {argument}" if call.args or call.keywords else argument)

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


_SEPARATORS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
_MAX_LENGTH = 100
_OTHER_START = 0.9  # first letters are seldom wrong: `paid` is not `unpaid`


def nearest(
    name: str, known: Iterable[str], similarity: float = 0.75, *, parts: bool = False
) -> str | None:
    """The most similar known name; None if there is none, or if several are equally similar.

    With `parts`, fall back to the only name that has all words of this one, or the reverse.
    """
    if len(name) > _MAX_LENGTH:
        return None
    names = [other for other in dict.fromkeys(known) if other != name]
    likeness = {other: _likeness(name, other) for other in names}
    best = max(likeness.values(), default=0.0)
    if best >= similarity:
        return _only([other for other in names if likeness[other] == best])
    words = set(words_of(name))
    if not parts or sum(map(len, words)) < 4:
        return None
    return _only([other for other in names if _has_words(words, set(words_of(other)))])


def _only(names: list[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _has_words(words: set[str], others: set[str]) -> bool:
    return words < others or (others < words and sum(map(len, others)) > 3)


def _likeness(name: str, other: str) -> float:
    """Words that both have do not count: `customer_id` is not like `customer_name`."""
    plain, other_plain = _plain(name), _plain(other)
    if plain == other_plain:
        return 1.0
    if _DIGITS.findall(name) != _DIGITS.findall(other) or not (plain and other_plain):
        return 0.0
    words, other_words = words_of(name), words_of(other)
    own = "".join(word for word in words if word not in other_words)
    others = "".join(word for word in other_words if word not in words)
    likeness = min(_ratio(plain, other_plain), _ratio(own, others)) if own and others else 0.0
    is_other = plain[0] != other_plain[0] and likeness < _OTHER_START
    return 0.0 if is_other else likeness


def _plain(name: str) -> str:
    """Without case, spaces and punctuation: `Unit Price` and `unit_price` are equal."""
    return _SEPARATORS.sub("", name).casefold()


def _ratio(name: str, other: str) -> float:
    return SequenceMatcher(None, name, other).ratio()
