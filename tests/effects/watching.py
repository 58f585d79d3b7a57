"""Runs notebooks in this process and watches them, the way a kernel is watched."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cowork_jupyter.domain.effects import DataWarning
from cowork_jupyter.effects.data_linter import WatchedRun
from cowork_jupyter.effects.finding import unanswered
from cowork_jupyter.parts.warnings.linter import RuleLinter
from cowork_jupyter.tools.kernel.inside import queries_text
from cowork_jupyter.tools.kernel.inside.states import table_states_on
from cowork_jupyter.tools.kernel.state import KernelQuery, KernelTables

from .notebooks import Notebook

LINTER = RuleLinter()
SECONDS = 5.0
"""What is tested here is what warnings find, not how fast this machine is."""


@dataclass(frozen=True)
class Watched:
    notebook: Notebook
    warnings: tuple[DataWarning, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(one.code for one in self.warnings)


def watched(notebook: Notebook) -> Watched:
    """Run it from top to bottom, in a folder of its own."""
    import matplotlib as mpl
    from matplotlib import pyplot

    mpl.use("Agg")
    found: list[DataWarning] = []
    space: dict[str, Any] = {"__name__": "__main__"}
    with _in_folder(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for place, cell in enumerate(notebook.cells):
            found += _run(space, cell, notebook.cells[:place])
            pyplot.close("all")  # as at the end of a cell
    return Watched(notebook, tuple(found))


@contextlib.contextmanager
def _in_folder() -> Iterator[None]:
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _run(space: dict[str, Any], cell: str, earlier: tuple[str, ...]) -> list[DataWarning]:
    known = _tables(space, [], after=False)
    queries = LINTER.queries(cell, known.tables, earlier)
    before = _tables(space, queries, after=False)
    execute(cell, space)
    after = _tables(space, unanswered(queries, before), after=True)
    changed = {
        name for name, identity in after.identities.items()
        if before.identities.get(name) != identity
    }  # fmt: skip
    run = WatchedRun(
        code=cell,
        earlier=earlier,
        before=before.tables,
        after=after.tables,
        replaced=frozenset(changed),
        answers={**before.answers, **after.answers},
    )
    return [about for _of, about in LINTER.warnings(run)]


def execute(cell: str, space: dict[str, Any]) -> None:
    """As IPython does, without what it shows."""
    exec(compile(ast.parse(cell), "<cell>", "exec"), space)


def _tables(space: dict[str, Any], queries: list[KernelQuery], *, after: bool) -> KernelTables:
    text = table_states_on(space, {}, [], queries_text(queries, after), SECONDS)
    return KernelTables.of(json.loads(text))
