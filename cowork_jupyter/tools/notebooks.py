"""Notebook files as cells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cell:
    """`index` counts from 0; older notebooks have no ids."""

    index: int
    id: str
    kind: str
    source: str

    @property
    def label(self) -> str:
        """`cell 3 · a1b2`."""
        return f"cell {self.index} · {self.id}" if self.id else f"cell {self.index}"


def is_notebook(path: str) -> bool:
    return path.lower().endswith(".ipynb")


def cells_of(data: bytes) -> list[Cell]:
    """Raises ValueError if it is not a notebook."""
    try:
        document = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply to be a notebook") from error
    if not isinstance(document, dict):
        raise ValueError("not a notebook")
    return [_cell(index, raw) for index, raw in enumerate(_raw_cells(document))]


def _raw_cells(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cells of format 4, or of the worksheets of format 3."""
    sheets = document.get("worksheets")
    for holder in [document, *(sheets if isinstance(sheets, list) else [])]:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        yield from (cell for cell in cells or [] if isinstance(cell, dict))


def _cell(index: int, raw: dict[str, Any]) -> Cell:
    source = raw.get("source", raw.get("input", ""))
    text = source if isinstance(source, str) else "".join(map(str, source or []))
    return Cell(index, str(raw.get("id", "")), str(raw.get("cell_type", "")), text)


def rendered(cells: list[Cell]) -> str:
    return "\n\n".join(f"[{cell.label} · {cell.kind}]\n{cell.source.rstrip()}" for cell in cells)
