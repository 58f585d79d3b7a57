"""The code of a cell: its nodes, where they stand, and edits that leave all else as it is."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ....domain.user_code import as_python

N = TypeVar("N", bound=ast.AST)
Edit = tuple[int, int, str]  # start and end offset, replacement

_MAX_SOURCE = 100_000


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
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return None if python is None else ast.parse(python)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @property
    def compiles(self) -> bool:
        """More than to parse: a `return` outside of a function does not compile."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.tree is not None and bool(
                    compile(self.tree, "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
                )
        except (SyntaxError, ValueError, RecursionError, MemoryError):
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
