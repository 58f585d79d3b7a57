"""Runs cells as a kernel does: one after the other in one namespace, the last expression shown."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from cowork_jupyter.guide.code import Choices, CodeCell, Style, cells_for
from cowork_jupyter.guide.request import Request
from cowork_jupyter.guide.tables import Table, table_of

mpl.use("Agg")
EVERYTHING = frozenset({"pandas", "polars", "matplotlib", "seaborn", "plotly", "sklearn"})


class Notebook:
    """A namespace and what its cells have shown."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.shown: list[Any] = []

    def run(self, cells: Sequence[CodeCell]) -> list[Any]:
        """The results of those cells that have one."""
        self.shown = [value for cell in cells if (value := self._run(cell.source)) is not None]
        return self.shown

    def _run(self, source: str) -> Any:
        tree = ast.parse(source)
        last = tree.body[-1]
        if not isinstance(last, ast.Expr):
            exec(compile(tree, "cell", "exec"), self.names)
            return None
        exec(compile(ast.Module(tree.body[:-1], []), "cell", "exec"), self.names)
        return eval(compile(ast.Expression(last.value), "cell", "eval"), self.names)


def written(path: Path, text: str) -> Table:
    """A file with this text, as the guide sees it."""
    path.write_text(text, encoding="utf-8")
    table = table_of(path.name, text, lines=text.count("\n"))
    assert table
    return table


def results(request: Request, style: Style, choices: Choices | None = None) -> list[Any]:
    """What the cells for a request show; each of them runs a second time with the same result."""
    notebook = Notebook()
    cells = cells_for(request, style, choices or Choices(overwrite=True))
    first = [_lines(value) for value in notebook.run(cells)]
    assert [_lines(value) for value in notebook.run(cells)] == first, "run again, it is the same"
    return notebook.shown


def _lines(value: Any) -> list[str]:
    """In any order: polars promises none among equals."""
    return sorted(str(value).splitlines())
