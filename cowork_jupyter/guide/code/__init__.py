"""The code for a request: short cells that follow the notebook they go into.

Values of the user's, such as names of files and columns, get into code as literals only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..request import Request
from . import pandas_tables, polars_tables
from .cells import CellBuilder, Choices, CodeCell, Style, TableVariable
from .loading import engine_for
from .with_pandas import PandasWriter
from .with_polars import PolarsWriter

__all__ = [
    "Choices", "CodeCell", "Style", "TableVariable", "cells_for", "packages_for",
    "script_code", "script_name",
]  # fmt: skip


def cells_for(request: Request, style: Style, choices: Choices | None = None) -> list[CodeCell]:
    if request.verb == "model" and style.frames == "polars":  # models want tables of pandas
        style = replace(style, frames="pandas", loaded_tables={})
    builder = CellBuilder(style, choices or Choices())
    is_polars = style.frames == "polars"
    writer = PolarsWriter(builder, request) if is_polars else PandasWriter(builder, request)
    match request.verb:
        case "aggregate":
            writer.aggregate()
        case "compare":
            writer.compare()
        case "preview":
            writer.preview()
        case verb:
            getattr(polars_tables if is_polars else pandas_tables, verb)(writer)
    return builder.cells


def packages_for(request: Request, style: Style) -> tuple[str, ...]:
    """Required packages, the essential ones first."""
    engines = [engine_for(table) for table in (request.table, request.other) if table]
    frames = "pandas" if request.verb == "model" else style.frames
    wanted = [frames, *engines]
    if request.chart or request.verb in ("distribution", "relate"):
        wanted.append(style.charts)
    if request.verb == "model":
        wanted.append("sklearn")
    return tuple(dict.fromkeys(package for package in wanted if package))


def script_code(cells: Sequence[CodeCell], style: Style) -> str:
    imports = list(dict.fromkeys(line for cell in cells for line in cell.imports))
    parts = ["\n".join(imports)]
    for cell in cells:
        printed = _printed(cell, style) if cell.result else ""
        parts.append("\n".join(part for part in (cell.body, printed) if part))
    return "\n\n".join(part for part in parts if part) + "\n"


def _printed(cell: CodeCell, style: Style) -> str:
    if cell.kind == "frame" and style.frames == "pandas":
        return f'print({cell.result}.to_string(), end="\\n\\n")'
    return f'print({cell.result}, end="\\n\\n")'


def script_name(request: Request) -> str:
    plain = re.sub(r"\W+", "_", request.table.stem, flags=re.ASCII).strip("_") or "table"
    return f"{request.verb}_{plain}"
