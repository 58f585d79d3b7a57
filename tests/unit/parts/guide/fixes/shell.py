"""Cells that fail as they do in a notebook, in this process; on request in a real IPython shell."""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import re
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from cowork_jupyter.domain.suggestions import CellError, NearbyCell
from cowork_jupyter.parts.guide.fixes import FailingCell
from cowork_jupyter.tools.kernel.inside.report import report_on
from cowork_jupyter.tools.kernel.state import Variable, Variables

_NO_HISTORY = Config({"HistoryManager": {"enabled": False, "hist_file": ":memory:"}})
_FILE = "<cell>"


class Shell(InteractiveShell):
    """Keeps what a kernel would send of a failure; shows nothing. It takes long to quote code."""

    failure: CellError | None = None

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(stb))
        self.failure = CellError(name=etype.__name__, value=str(evalue), traceback=text)

    def system(self, cmd: str) -> None:
        """Nothing is run by a test."""

    system_piped = system_raw = system


def failure_in_ipython(source: str, names: dict[str, Any]) -> CellError | None:
    shell = Shell(config=_NO_HISTORY, user_ns=names)  # type: ignore[no-untyped-call]
    atexit.unregister(shell.atexit_operations)
    shell.run_cell(source)  # type: ignore[no-untyped-call]
    return shell.failure


class Notebook:
    """Cells that ran, or not, with no names but theirs."""

    is_ipython = False

    def __init__(self, cells: Sequence[str] = (), unrun: Sequence[str] = ()) -> None:
        self.names: dict[str, Any] = {}
        self.cells = [
            NearbyCell(id=f"c{n}", source=one, has_run=True) for n, one in enumerate(cells)
        ]
        self.cells += [NearbyCell(id=f"u{n}", source=one) for n, one in enumerate(unrun)]
        for cell in cells:
            failure = self.run(cell)
            assert failure is None, failure.traceback

    def run(self, source: str) -> CellError | None:
        """How the cell failed; None if it did not."""
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            if self.is_ipython:
                return failure_in_ipython(source, self.names)
            try:
                exec(compile(source, _FILE, "exec"), self.names)
            except Exception as error:
                frames = traceback.extract_tb(error.__traceback__)
                told = [f"Cell In[1], line {one.lineno}" for one in frames if one.filename == _FILE]
                name, text = type(error).__name__, "\n".join(told)
                return CellError(name=name, value=str(error), traceback=text)
        return None

    def variables(self, source: str) -> Iterator[Variable]:
        """As our code in the kernel tells them."""
        hidden = {"__builtins__": None}
        for one in Variables.of("", json.loads(report_on(self.names, hidden, None))).items:
            is_named = re.search(rf"\b{one.name}\b", source) and one.type.endswith(
                ("DataFrame", "Series", "ndarray")
            )
            told = json.loads(report_on(self.names, hidden, one.name)) if is_named else None
            yield Variable.of(one.name, told) if told else one

    def failed(self, source: str, folder: Path | None = None) -> FailingCell:
        """The cell as the guide is told of it."""
        error = self.run(source)
        assert error is not None, f"it does not fail:\n{source}"
        files = [str(one.relative_to(folder)) for one in folder.rglob("*")] if folder else []
        return FailingCell(
            source=source,
            error=error,
            cell_id="here",
            cells=(*self.cells, NearbyCell(id="here", source=source, has_run=True)),
            variables=tuple(self.variables(source)),
            files=tuple(files),
        )
