"""Fails if modules of the package import each other in a circle: `python -m tests.circles`.

An import inside a function or for type checking counts too: it only hides the circle.
"""

from __future__ import annotations

import sys
from graphlib import CycleError, TopologicalSorter

import grimp


def circle_in(package: str) -> list[str]:
    """The modules of one circle, each importing the next; empty if there is none."""
    graph = grimp.build_graph(package, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def main() -> int:
    if circle := circle_in("cowork_jupyter"):
        print(" imports ".join(circle))
    return 1 if circle else 0


if __name__ == "__main__":
    sys.exit(main())
