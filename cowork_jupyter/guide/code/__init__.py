"""The code for a request: short cells that follow the notebook they go into.

Values of the user's, such as names of files and columns, get into code as literals only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..request import Request
from . import pandas_tables, polars_tables
from .pandas_tables import output_of
from .reading import engine_for
from .sheet import Choices, CodeCell, Sheet, Style, TableVariable
from .with_pandas import PandasWriter
from .with_polars import PolarsWriter

__all__ = [
    "Choices",
    "CodeCell",
    "Style",
    "TableVariable",
    "cells_for",
    "output_of",
    "packages_for",
    "scratch_code",
    "script_code",
    "script_name",
]


def cells_for(request: Request, style: Style, choices: Choices | None = None) -> list[CodeCell]:
    if request.verb == "model" and style.frames == "polars":  # models want tables of pandas
        style = replace(style, frames="pandas", loaded={})
    sheet = Sheet(style, choices or Choices())
    if style.frames == "polars":
        _polars_cells(PolarsWriter(sheet, request))
    else:
        _pandas_cells(PandasWriter(sheet, request))
    return sheet.cells


def _pandas_cells(writer: PandasWriter) -> None:
    match writer.request.verb:
        case "aggregate":
            writer.aggregate()
        case "compare":
            writer.compare()
        case "clean":
            pandas_tables.clean(writer)
        case "join":
            pandas_tables.join(writer)
        case "model":
            pandas_tables.model(writer)
        case verb:
            _PANDAS_LOOKS[verb](writer)


def _polars_cells(writer: PolarsWriter) -> None:
    match writer.request.verb:
        case "aggregate":
            writer.aggregate()
        case "compare":
            writer.compare()
        case verb:
            _POLARS_TABLES[verb](writer)


_PANDAS_LOOKS: dict[str, Callable[[PandasWriter], None]] = {
    "profile": pandas_tables.profile,
    "columns": pandas_tables.columns,
    "preview": pandas_tables.preview,
    "distribution": pandas_tables.distribution,
    "relate": pandas_tables.relate,
    "outliers": pandas_tables.outliers,
    "missing": pandas_tables.missing,
    "duplicates": pandas_tables.duplicates,
}
_POLARS_TABLES: dict[str, Callable[[PolarsWriter], None]] = {
    "profile": polars_tables.profile,
    "columns": polars_tables.columns,
    "preview": polars_tables.preview,
    "distribution": polars_tables.distribution,
    "relate": polars_tables.relate,
    "outliers": polars_tables.outliers,
    "missing": polars_tables.missing,
    "duplicates": polars_tables.duplicates,
    "clean": polars_tables.clean,
    "join": polars_tables.join,
}


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


def scratch_code(request: Request, style: Style) -> str:
    """A script without charts that prints its results."""
    plain = Style(
        frames=style.frames,
        charts=style.charts,
        packages=style.packages - {style.charts},
        folder=style.folder,
    )
    return script_code(cells_for(request, plain), plain)


def script_name(request: Request) -> str:
    plain = re.sub(r"\W+", "_", request.table.stem, flags=re.ASCII).strip("_") or "table"
    return f"{request.verb}_{plain}"
