"""Fails if two public classes of the package have the same name: `python -m tests.names`."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
BY_DESIGN = {"Cowork"}
"""`c.Cowork` in settings, and what notebooks import."""


def public_classes(folder: Path) -> Iterator[tuple[str, str]]:
    """The name of each, and where it is."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, f"{path.relative_to(folder.parent).as_posix()}:{node.lineno}"


def main() -> int:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name, place in public_classes(ROOT / "cowork_jupyter"):
        places[name].append(place)
    twice = {
        name: found
        for name, found in sorted(places.items())
        if len(found) > 1 and name not in BY_DESIGN
    }
    for name, found in twice.items():
        print(f"{name}: {', '.join(found)}")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
