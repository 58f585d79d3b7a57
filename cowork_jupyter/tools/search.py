from __future__ import annotations

from collections import Counter
from typing import Annotated

from pydantic import Field

from ..domain.roles import Permission
from .base import ToolContext, ToolParameters, ToolResult, tool
from .find import Found, FoundLine, Search, find
from .ripgrep import Pattern

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
    found = await find(search, context.workspace)
    lines = [_grep_line(line) for line in found.lines]
    if not found.is_all:
        lines.append(
            f"[only the first {search.most} matches; narrow the pattern, the path or the glob]"
        )
    return _result(found, lines, f"'{parameters.pattern}'")


@tool(category="search", permissions=[Permission.READ_FILES], idempotent=True)
async def search_code(parameters: SearchCode, context: ToolContext) -> ToolResult:
    """Find literal text in code files and notebooks, best files first."""
    pattern = Pattern(parameters.text, literal=True, ignore_case=parameters.ignore_case)
    search = Search(pattern, parameters.path, CODE_FILES, _MAX_RANKED)
    found = await find(search, context.workspace)
    ranked = _ranked(found.lines, parameters.text)
    page = Found(
        ranked[: parameters.max_results], found.is_all and len(ranked) <= parameters.max_results
    )
    lines = _grouped(page.lines)
    if not page.is_all:
        lines.append("[there are more matches; use a longer text or a narrower path]")
    return _result(page, lines, f"'{parameters.text}'")


def _grep_line(line: FoundLine) -> str:
    return f"{line.document.label}:{line.number}{':' if line.is_match else '-'} {line.text}"


def _ranked(lines: list[FoundLine], text: str) -> list[FoundLine]:
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


def _grouped(lines: list[FoundLine]) -> list[str]:
    """Lines under the name of their document."""
    out: list[str] = []
    label = None
    for line in lines:
        if line.document.label != label:
            label = line.document.label
            out.append(label)
        out.append(f"  {line.number}: {line.text}")
    return out


def _result(found: Found, lines: list[str], what: str) -> ToolResult:
    matches = [
        {**line.document.facts, "line": line.number, "text": line.text} for line in found.matches
    ]
    paths = list(dict.fromkeys(line.document.path for line in found.matches))
    count = (
        f"{len(matches)}{'' if found.is_all else '+'} {'match' if len(matches) == 1 else 'matches'}"
    )
    files = f"{len(paths)} {'file' if len(paths) == 1 else 'files'}"
    return ToolResult(
        text="\n".join(lines) or f"Nothing matches {what}.",
        summary=f"found {count} of {what} in {files}",
        data={"paths": paths, "matches": matches, "truncated": not found.is_all},
    )
