"""Notebooks on disk, as Jupyter writes them, and what the tools make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.tools.notebook.state import NotebookState
from cowork_jupyter.tools.notebook.stored import parse_notebook, serialize_notebook, state_of


def code(source: str, cell_id: str = "", **more: Any) -> dict[str, Any]:
    """A code cell."""
    empty: dict[str, Any] = {"metadata": {}, "outputs": []}
    cell = {"cell_type": "code", "execution_count": None, **empty}
    return {**cell, "source": source.splitlines(keepends=True), "id": cell_id or "a", **more}


def document(*cells: dict[str, Any], minor: int = 5) -> dict[str, Any]:
    """A notebook; before 4.5 cells have no ids."""
    kept = [{k: v for k, v in cell.items() if minor >= 5 or k != "id"} for cell in cells]
    return {"cells": kept, "metadata": {}, "nbformat": 4, "nbformat_minor": minor}


class Disk:
    """The notebooks of one test."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, *cells: dict[str, Any], name: str = "n.ipynb", minor: int = 5) -> Path:
        path = self.root / name
        path.write_bytes(serialize_notebook(document(*cells, minor=minor)))
        return path

    def state(self, name: str = "n.ipynb") -> NotebookState:
        return state_of(name, parse_notebook(name, (self.root / name).read_bytes()))

    def sources(self, name: str = "n.ipynb") -> list[str]:
        return [cell.source for cell in self.state(name).cells]

    def fingerprint(self, cell_id: str) -> str:
        return self.state().cell(cell_id).fingerprint

    def raw(self, name: str = "n.ipynb") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / name).read_text())
        return found


@pytest.fixture
def disk(root: Path) -> Disk:
    return Disk(root)
