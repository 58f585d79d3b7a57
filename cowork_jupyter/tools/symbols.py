from __future__ import annotations

import ast
import asyncio
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from ..domain.roles import Permission
from ..workspace import Workspace
from .base import ToolContext, ToolParameters, ToolResult, tool
from .documents import Document, documents
from .find import Search, matching_files
from .ripgrep import Pattern
from .search import Where

SymbolKind = Literal["function", "class", "variable"]

_MAX_SOURCE_SIZE = 5_000_000
_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_PYTHON_CELL_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")
_MAX = 200


class SearchSymbol(ToolParameters):
    """A name, as `fit` or `Model.fit`."""

    name: Annotated[str, Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*$", max_length=500)]
    kind: SymbolKind | None = None
    path: Where = "."


@dataclass(frozen=True)
class Definition:
    name: str
    """With the classes and functions around it: `Model.fit`."""
    kind: SymbolKind
    line: int

    def is_called(self, name: str) -> bool:
        """Whether the name refers to this, qualified or not."""
        return f".{self.name}".endswith(f".{name}")


@tool(category="search", permissions=[Permission.READ_FILES], idempotent=True)
async def search_symbol(parameters: SearchSymbol, context: ToolContext) -> ToolResult:
    """Find where a Python function, class or variable is defined, in .py files and notebooks."""
    last = parameters.name.rpartition(".")[2]
    search = Search(Pattern(last, literal=True), parameters.path, ["*.{py,pyi,ipynb}"])
    paths = await matching_files(search, context.workspace)
    found = await asyncio.to_thread(_definitions_in, context.workspace, paths, parameters)
    page = found[:_MAX]
    lines = [f"{where.label}:{it.line}: {it.kind} {it.name}  {text}" for where, it, text in page]
    if len(found) > len(page):
        lines.append(f"[{len(found) - len(page)} more; add a kind or a path]")
    data: list[dict[str, Any]] = [
        {**where.facts, "line": it.line, "name": it.name, "kind": it.kind} for where, it, _ in page
    ]
    return ToolResult(
        text="\n".join(lines) or _none(parameters),
        summary=f"found {len(found)} definitions of {parameters.name}",
        data={"paths": list(dict.fromkeys(item["path"] for item in data)), "definitions": data},
    )


def _none(parameters: SearchSymbol) -> str:
    what = parameters.kind or "name"
    return f"No {what} '{parameters.name}' is defined here. Use grep to find where it is used."


def _definitions_in(
    workspace: Workspace, paths: Iterable[str], wanted: SearchSymbol
) -> list[tuple[Document, Definition, str]]:
    found = []
    for document, chunks in documents(workspace, paths):
        if document.cell and document.cell.kind != "code":
            continue
        source = b"".join(chunks).decode("utf-8", "replace")
        lines = source.split("\n")
        found += [
            (document, definition, lines[definition.line - 1].strip()[:200])
            for definition in definitions(source, wanted.name.rpartition(".")[2])
            if definition.is_called(wanted.name) and wanted.kind in (None, definition.kind)
        ]
    return found


def definitions(source: str, name: str) -> list[Definition]:
    """Definitions in this source, in order; of code that does not parse only those of `name`."""
    if name not in source or len(source) > _MAX_SOURCE_SIZE:
        return []
    for text in (source, _without_magics(source)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the user's code
                tree = ast.parse(text)
            return sorted(_definitions(tree.body, ""), key=lambda found: found.line)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return list(_definition_lines(source, name))


def _without_magics(source: str) -> str:
    """Replace IPython magics, keeping line numbers; cells in other languages become empty."""
    first = source.lstrip()
    if first.startswith("%%") and not first.startswith(_PYTHON_CELL_MAGICS):
        return ""
    return _MAGIC.sub(r"\1pass", source)


def _definitions(
    body: Iterable[ast.AST], around: str, in_function: bool = False
) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            is_class = isinstance(node, ast.ClassDef)
            yield Definition(around + node.name, "class" if is_class else "function", node.lineno)
            yield from _definitions(node.body, f"{around}{node.name}.", not is_class)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            if not in_function:
                yield from _assigned(node, around)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _definitions(ast.iter_child_nodes(node), around, in_function)


def _assigned(
    node: ast.Assign | ast.AnnAssign | ast.AugAssign, around: str
) -> Iterator[Definition]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield Definition(around + part.id, "variable", part.lineno)


def _definition_lines(source: str, name: str) -> Iterator[Definition]:
    """Fallback: what looks like a definition, line by line."""
    looks = re.compile(
        rf"^(?:\s*(?P<function>(?:async\s+)?def)\s+{name}\b|\s*(?P<klass>class)\s+{name}\b"
        rf"|{name}\s*(?::[^=]+)?=(?!=))"
    )
    for number, line in enumerate(source.split("\n"), 1):
        found = looks.match(line)
        if found:
            kind: SymbolKind = "variable"
            if found["function"] or found["klass"]:
                kind = "function" if found["function"] else "class"
            yield Definition(name, kind, number)
