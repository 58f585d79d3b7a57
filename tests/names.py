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
                yield node.name, f"{path.relative_to(ROOT)}:{node.lineno}"


def main() -> int:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name, place in public_classes(ROOT / "cowork_jupyter"):
        places[name].append(place)
    twice = {name: found for name, found in places.items() if len(found) > 1}
    for name in sorted(twice.keys() - BY_DESIGN):
        print(f"{name}: {', '.join(twice[name])}")
    return 1 if twice.keys() - BY_DESIGN else 0


if __name__ == "__main__":
    sys.exit(main())
