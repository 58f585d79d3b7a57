"""Fails if modules of the package import each other in a circle: `python -m tests.circles`.

An import inside a function or for type checking counts too: it only hides the circle.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent


def modules_in(folder: Path) -> dict[str, Path]:
    """The files of a package by the names of their modules."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if path.stem == "__init__" else parts)] = path
    return found


def imported(module: str, path: Path) -> Iterator[tuple[str, str]]:
    """Each module that a file names in an import, with a name that it takes from it."""
    depth = module.count(".") + (path.stem == "__init__")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")[: depth - node.level + 1] if node.level else []
            base = ".".join([*package, *([node.module] if node.module else [])])
            yield from ((base, one.name) for one in node.names)


def circle_in(folder: Path) -> list[str]:
    """The modules of one circle, each importing the next; empty if there is none."""
    modules = modules_in(folder)
    graph = {
        module: {
            f"{base}.{name}" if f"{base}.{name}" in modules else base
            for base, name in imported(module, path)
        }
        - {module}
        for module, path in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def main() -> int:
    if circle := circle_in(ROOT / "cowork_jupyter"):
        print(" imports ".join(circle))
    return 1 if circle else 0


if __name__ == "__main__":
    sys.exit(main())
