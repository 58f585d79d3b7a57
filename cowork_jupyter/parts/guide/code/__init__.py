"""The code for a request: short cells that follow the notebook they go into.

Values of the user's, such as names of files and columns, get into code as literals only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..request import Request
from . import verbs
from .cells import Choices, CodeCell, Style, TableVariable
from .verbs import chart_file, draws, features, is_drawable
from .writer import Writer, engine_for

__all__ = [
    "Choices", "CodeCell", "Style", "TableVariable", "cells_for", "chart_file", "draws",
    "features", "is_drawable", "packages_for", "script_code", "script_name",
]  # fmt: skip

_CODE: dict[str, Callable[[Writer], None]] = {
    verb.__name__: verb
    for verb in (
        verbs.aggregate, verbs.compare, verbs.columns, verbs.distribution,
        verbs.duplicates, verbs.missing, verbs.outliers, verbs.preview, verbs.profile,
        verbs.relate, verbs.model, verbs.clean, verbs.export, verbs.join,
    )
}  # fmt: skip


def cells_for(request: Request, style: Style, choices: Choices | None = None) -> list[CodeCell]:
    writer = Writer(request, style, choices or Choices())
    _CODE[request.verb](writer)
    return writer.cells


def packages_for(request: Request) -> tuple[str, ...]:
    """Required packages, the essential ones first."""
    files = [table.path for table in request.tables]
    wanted = ["pandas", *map(engine_for, files), engine_for(request.output_file)]
    if draws(request):
        wanted.append("matplotlib")
    if request.verb == "model":
        wanted.append("sklearn")
    return tuple(dict.fromkeys(package for package in wanted if package))


def script_code(cells: Sequence[CodeCell]) -> str:
    imports = list(dict.fromkeys(line for cell in cells for line in cell.imports))
    parts = ["\n".join(imports)]
    for cell in cells:
        printed = _printed(cell) if cell.result else ""
        parts.append("\n".join(part for part in (cell.body, printed) if part))
    return "\n\n".join(part for part in parts if part) + "\n"


def _printed(cell: CodeCell) -> str:
    whole = ".to_string()" if cell.kind == "frame" else ""
    return f'print({cell.result}{whole}, end="\\n\\n")'


def script_name(request: Request) -> str:
    plain = re.sub(r"\W+", "_", request.table.stem, flags=re.ASCII).strip("_") or "table"
    return f"{request.verb}_{plain}"
