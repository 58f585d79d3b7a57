"""Runs cells as a kernel does: one after the other in one namespace, the last expression shown."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from cowork_jupyter.parts.guide.code import CodeCell, Style, cells_for
from cowork_jupyter.parts.guide.request import Request
from cowork_jupyter.parts.guide.tables import Table

from ..desk import known

mpl.use("Agg")


class Notebook:
    def __init__(self, **names: Any) -> None:
        self.names: dict[str, Any] = names

    def run(self, cells: Sequence[CodeCell]) -> list[Any]:
        """The results of those cells that have one."""
        return [value for cell in cells if (value := self._run(cell.source)) is not None]

    def _run(self, source: str) -> Any:
        *body, last = ast.parse(source).body
        value = last.value if isinstance(last, ast.Expr) else None
        exec(compile(ast.Module(body if value else [*body, last], []), "cell", "exec"), self.names)
        return eval(compile(ast.Expression(value), "cell", "eval"), self.names) if value else None


def written(name: str, text: str) -> Table:
    """A file with this text, as the guide sees it."""
    Path(name).write_text(text, encoding="utf-8")
    return known(name, text, lines=text.count("\n"))


def results(request: Request, style: Style | None = None, **names: Any) -> list[Any]:
    """What the cells for a request show; each of them runs a second time with the same result."""
    notebook = Notebook(**names)
    cells = cells_for(request, style or Style())
    first = notebook.run(cells)
    assert list(map(str, notebook.run(cells))) == list(map(str, first))
    return first
