"""Fails for two kinds of names in the package: `python -m tests.names`.

Two public classes with the same name, and things called one, told, left or shown (also `_told`,
`SHOWN`): such a name does not say what the thing is.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
BY_DESIGN = {"Cowork"}
"""`c.Cowork` in settings, and what notebooks import."""
VAGUE = {"one", "told", "left", "shown"}
DATA_FIELDS = {"PermissionRequest.shown", "PermissionRequested.shown"}
"""Fields that are stored and sent, so their names stay."""


def public_classes(folder: Path) -> Iterator[tuple[str, str]]:
    """The name of each, and where it is."""
    for path, tree in _modules(folder):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, _place(path, node)


def vague_names(folder: Path) -> Iterator[tuple[str, str]]:
    """Whatever is given a vague name, and where."""
    for path, tree in _modules(folder):
        fields = set(_data_fields(tree))
        for node in ast.walk(tree):
            name = _bound_by(node) or ""
            if name.strip("_").lower() in VAGUE and node not in fields:
                yield name, _place(path, node)


def _bound_by(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.MatchAs(name=name) | ast.MatchStar(name=name) | ast.ExceptHandler(name=name):
            return name
        case ast.arg(arg=name) | ast.MatchMapping(rest=name):
            return name
        case ast.alias(name=name, asname=other):
            return other or name
    return None


def _data_fields(tree: ast.Module) -> Iterator[ast.AST]:
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for declared in classes:
        for statement in declared.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name) as field):
                    if f"{declared.name}.{name}" in DATA_FIELDS:
                        yield field


def _modules(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path.relative_to(folder.parent), ast.parse(path.read_text(encoding="utf-8"))


def _place(path: Path, node: ast.AST) -> str:
    return f"{path.as_posix()}:{getattr(node, 'lineno', 1)}"


def main() -> int:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name, place in public_classes(ROOT / "cowork_jupyter"):
        places[name].append(place)
    problems = [
        f"{name}: {', '.join(found)}"
        for name, found in sorted(places.items())
        if len(found) > 1 and name not in BY_DESIGN
    ]
    problems += [
        f"{place}: '{name}' does not say what it is"
        for name, place in vague_names(ROOT / "cowork_jupyter")
    ]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
