from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_HEADING = re.compile(r"^#{1,3}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class NotebookFacts:
    heading: str = ""
    imports: frozenset[str] = frozenset()


def notebook_facts(data: bytes) -> NotebookFacts:
    """Empty for a broken file."""
    try:
        cells = list(_cells(json.loads(data)))
    except (ValueError, RecursionError):
        return NotebookFacts()
    headings = (_HEADING.search(source) for kind, source in cells if kind == "markdown")
    heading = next((found[1] for found in headings if found), "")
    code = [source for kind, source in cells if kind == "code"]
    return NotebookFacts(heading, frozenset(name for source in code for name in imported(source)))


def imported(code: str) -> set[str]:
    """The packages that code imports."""
    return set(_IMPORT.findall(code))


def _cells(content: Any) -> Iterator[tuple[str, str]]:
    cells = content.get("cells") if isinstance(content, dict) else None
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict):
            source = cell.get("source", "")
            lines = source if isinstance(source, list) else [source]
            yield str(cell.get("cell_type")), "".join(map(str, lines))
