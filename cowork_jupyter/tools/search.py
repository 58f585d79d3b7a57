"""Tools that search files, notebooks, Python definitions and the conversation."""

from __future__ import annotations

import ast
import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from ..domain.plurals import count_of
from ..domain.roles import Permission
from ..domain.user_code import as_python, parse_code
from ..workspace import Workspace
from .base import Remark, ToolContext, ToolParameters, ToolResult, tool
from .documents import Document, documents
from .find import FoundLine, Pattern, Search, SearchResult, find, matching_files

CODE_FILES = [
    "*.{py,pyi,pyx,ipynb,r,R,Rmd,qmd,jl,scala,java,kt,c,h,cc,cpp,hpp,cu,rs,go,swift,rb,php,lua}",
    "*.{js,jsx,mjs,ts,tsx,vue,svelte,html,css,scss,sql,sh,bash,zsh,ps1,toml,yaml,yml,cfg,ini}",
    "*.{m,mm,f90,stan,tf,proto,cmake,gradle,nix}",
    "{Makefile,Dockerfile,Snakefile,Jenkinsfile,dvc.yaml}",
]
_DEFINES = ("def ", "class ", "async def ", "function ", "fn ", "func ", "const ", "type ")
_MAX_RANKED = 1000

Where = Annotated[str, Field(description="Folder or file, relative to the workspace.")]


class Grep(ToolParameters):
    """A regular expression, and where to look for it."""

    pattern: Annotated[
        str,
        Field(
            min_length=1,
            max_length=10_000,
            description="ripgrep regular expression, one line; escape literal braces.",
        ),
    ]
    path: Where = "."
    glob: Annotated[
        str | None,
        Field(
            max_length=1000, description="Search only these files, e.g. '*.py' or 'src/**/*.md'."
        ),
    ] = None
    ignore_case: bool = False
    max_results: Annotated[int, Field(ge=1, le=2000)] = 200
    context_lines: Annotated[int, Field(ge=0, le=20)] = 0


class SearchCode(ToolParameters):
    """A piece of code to look for, literally."""

    text: Annotated[str, Field(min_length=1, max_length=10_000)]
    path: Where = "."
    ignore_case: bool = False
    max_results: Annotated[int, Field(ge=1, le=500)] = 50


@tool(category="search", permissions=[Permission.READ_FILES], idempotent=True)
async def grep(parameters: Grep, context: ToolContext) -> ToolResult:
    """Find lines that match a regular expression, in files and in the cells of notebooks.

    Hidden files, binary files and what .gitignore names are left out.
    """
    search = Search(
        Pattern(parameters.pattern, ignore_case=parameters.ignore_case),
        parameters.path,
        [parameters.glob] if parameters.glob else [],
        parameters.max_results,
        parameters.context_lines,
    )
    result = await find(search, context.workspace)
    lines = [_grep_line(line) for line in result.lines]
    if not result.is_all:
        lines.append(
            f"[only the first {search.max_matches} matches; narrow the pattern, the path or the "
            "glob]"
        )
    return _result(result, lines, f"'{parameters.pattern}'")


@tool(category="search", permissions=[Permission.READ_FILES], idempotent=True)
async def search_code(parameters: SearchCode, context: ToolContext) -> ToolResult:
    """Find literal text in code files and notebooks, best files first."""
    pattern = Pattern(parameters.text, literal=True, ignore_case=parameters.ignore_case)
    search = Search(pattern, parameters.path, CODE_FILES, _MAX_RANKED)
    result = await find(search, context.workspace)
    ranked = _rank_lines(result.lines, parameters.text)
    page = SearchResult(
        ranked[: parameters.max_results], result.is_all and len(ranked) <= parameters.max_results
    )
    lines = _group_lines(page.lines)
    if not page.is_all:
        lines.append("[there are more matches; use a longer text or a narrower path]")
    return _result(page, lines, f"'{parameters.text}'")


def _grep_line(line: FoundLine) -> str:
    return f"{line.document.label}:{line.number}{':' if line.is_match else '-'} {line.text}"


def _rank_lines(lines: list[FoundLine], text: str) -> list[FoundLine]:
    """Files that define it first, then those that use it most; tests after what they test."""
    uses = Counter(line.document.path for line in lines)
    defines = {line.document.path for line in lines if _is_definition(line.text, text)}

    def rank(line: FoundLine) -> tuple[bool, bool, int, str]:
        path = line.document.path
        return (path not in defines, "test" in path.lower(), -uses[path], path)

    return sorted(lines, key=rank)


def _is_definition(line: str, text: str) -> bool:
    start = line.strip().removeprefix("export ").removeprefix("pub ")
    return any(start.startswith(f"{word}{text}") for word in _DEFINES) or start.startswith(
        (f"{text} =", f"{text}:", f"{text} <-")
    )


def _group_lines(lines: list[FoundLine]) -> list[str]:
    out: list[str] = []
    label = None
    for line in lines:
        if line.document.label != label:
            label = line.document.label
            out.append(label)
        out.append(f"  {line.number}: {line.text}")
    return out


def _result(page: SearchResult, lines: list[str], what: str) -> ToolResult:
    matches = [
        {**line.document.facts, "line": line.number, "text": line.text} for line in page.matches
    ]
    paths = list(dict.fromkeys(line.document.path for line in page.matches))
    count = (
        f"{len(matches)}{'' if page.is_all else '+'} {'match' if len(matches) == 1 else 'matches'}"
    )
    return ToolResult(
        text="\n".join(lines) or f"Nothing matches {what}.",
        summary=f"found {count} of {what} in {count_of(len(paths), 'file')}",
        data={"paths": paths, "matches": matches, "truncated": not page.is_all},
    )


SymbolKind = Literal["function", "class", "variable"]

_MAX_SOURCE_SIZE = 5_000_000
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
    hits = await asyncio.to_thread(_definitions_in, context.workspace, paths, parameters)
    page = hits[:_MAX]
    lines = [f"{where.label}:{it.line}: {it.kind} {it.name}  {text}" for where, it, text in page]
    if len(hits) > len(page):
        lines.append(f"[{len(hits) - len(page)} more; add a kind or a path]")
    data: list[dict[str, Any]] = [
        {**where.facts, "line": it.line, "name": it.name, "kind": it.kind} for where, it, _ in page
    ]
    return ToolResult(
        text="\n".join(lines) or _no_definition(parameters),
        summary=f"found {len(hits)} definitions of {parameters.name}",
        data={"paths": list(dict.fromkeys(item["path"] for item in data)), "definitions": data},
    )


def _no_definition(parameters: SearchSymbol) -> str:
    what = parameters.kind or "name"
    return f"No {what} '{parameters.name}' is defined here. Use grep to find where it is used."


def _definitions_in(
    workspace: Workspace, paths: Iterable[str], wanted: SearchSymbol
) -> list[tuple[Document, Definition, str]]:
    matches = []
    for document, chunks in documents(workspace, paths):
        if document.cell and document.cell.kind != "code":
            continue
        source = b"".join(chunks).decode("utf-8", "replace")
        lines = source.split("\n")
        matches += [
            (document, definition, lines[definition.line - 1].strip()[:200])
            for definition in definitions(source, wanted.name.rpartition(".")[2])
            if definition.is_called(wanted.name) and wanted.kind in (None, definition.kind)
        ]
    return matches


def definitions(source: str, name: str) -> list[Definition]:
    """Definitions in this source, in order; of code that does not parse only those of `name`."""
    if name not in source or len(source) > _MAX_SOURCE_SIZE:
        return []
    if as_python(source) is None:
        return []
    tree = parse_code(source)
    if tree is not None:
        with suppress(RecursionError):
            return sorted(_definitions(tree.body, ""), key=lambda definition: definition.line)
    return list(_definition_lines(source, name))


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
                yield from _assigned_names(node, around)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _definitions(ast.iter_child_nodes(node), around, in_function)


def _assigned_names(
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
        match = looks.match(line)
        if match:
            kind: SymbolKind = "variable"
            if match["function"] or match["klass"]:
                kind = "function" if match["function"] else "class"
            yield Definition(name, kind, number)


class Recall(ToolParameters):
    """What is looked for."""

    query: Annotated[str, Field(min_length=1, max_length=1000, description="Words to look for.")]
    limit: Annotated[int, Field(ge=1, le=20, description="Maximum number of excerpts.")] = 5


@tool(category="conversation", permissions=[Permission.READ_FILES], idempotent=True, travels=False)
async def recall(parameters: Recall, context: ToolContext) -> ToolResult:
    """Find what was said earlier in this conversation: the user's words and answers, plans,
    results of steps.
    """
    query = parameters.query
    remarks = context.recall(query, parameters.limit)
    text = "\n\n".join(map(_line, remarks))
    nothing = f"Nothing in this conversation matches '{query}'. Try other words."
    count = count_of(len(remarks), "excerpt")
    return ToolResult(text or nothing, f"recalled {count} for '{query}'")


def _line(remark: Remark) -> str:
    step = f", step {remark.step_id}" if remark.step_id else ""
    return f"[{remark.at}] {remark.speaker}{step}: {remark.text}"
