"""A real IPython shell in this process: cells fail in it as they do in a notebook."""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from cowork_jupyter.domain.suggestions import CellError, NearbyCell
from cowork_jupyter.guide.fixes import FailingCell
from cowork_jupyter.tools.kernel.inside.report import report_on
from cowork_jupyter.tools.kernel.state import Variable, Variables

_CELL = re.compile(r"<ipython-input-(\d+)-")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


_NO_HISTORY = Config({"HistoryManager": {"enabled": False, "hist_file": ":memory:"}})


class Shell(InteractiveShell):
    """Keeps what a kernel would send of a failure; shows nothing."""

    failure: CellError | None = None

    quick = True
    """Whether tracebacks tell only the cells: to quote the code of libraries takes long."""

    def showtraceback(self, *args: Any, **options: Any) -> None:
        if not self.quick:
            return super().showtraceback(*args, **options)
        etype, evalue, tb = sys.exc_info()
        assert etype is not None
        frames = [_CELL.match(one.filename) for one in traceback.extract_tb(tb)]
        lines = [one.lineno for one in traceback.extract_tb(tb)]
        told = [
            f"Cell In[{one[1]}], line {at}" for one, at in zip(frames, lines, strict=True) if one
        ]
        return self._showtraceback(etype, evalue, told)

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        text = _ESCAPES.sub("", "\n".join(stb))
        self.failure = CellError(name=etype.__name__, value=str(evalue), traceback=text)

    def _format_exception_for_storage(self, *_: Any, **__: Any) -> None:
        """Nobody reads the history; to tell all of a failure for it takes a second."""

    def system(self, cmd: str) -> None:
        """Nothing is installed by a test."""

    system_piped = system_raw = system

    def enable_gui(self, gui: Any = None) -> None:
        """There is none."""


@cache
def _shell() -> tuple[Shell, dict[str, Any]]:
    """The only one, and the names it began with: to make one takes longer than its cells."""
    shell = Shell(config=_NO_HISTORY)  # type: ignore[no-untyped-call]
    atexit.unregister(shell.atexit_operations)
    shell.run_line_magic = lambda *_, **__: None  # type: ignore[method-assign]
    return shell, dict(shell.user_ns)


class Notebook:
    """Cells that ran, or not, with no names but theirs. It ends where the next begins."""

    def __init__(self, cells: Sequence[str] = (), unrun: Sequence[str] = ()) -> None:
        self.shell, self.hidden = _shell()
        self.shell.user_ns.clear()
        self.shell.user_ns.update(self.hidden)
        self.cells = [
            NearbyCell(id=f"c{n}", source=one, has_run=True) for n, one in enumerate(cells)
        ]
        self.cells += [NearbyCell(id=f"u{n}", source=one) for n, one in enumerate(unrun)]
        for cell in cells:
            failure = self.run(cell)
            assert failure is None, failure.traceback

    def run(self, source: str) -> CellError | None:
        """How the cell failed; None if it did not."""
        self.shell.failure = None
        said = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(said):
            warnings.simplefilter("ignore")
            self.shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
        return self.shell.failure

    def variables(self, source: str) -> Iterator[Variable]:
        """As our code in the kernel tells them."""
        space = self.shell.user_ns
        for one in Variables.of("", json.loads(report_on(space, self.hidden, None))).items:
            is_named = re.search(rf"\b{one.name}\b", source) and one.type.endswith(
                ("DataFrame", "Series", "ndarray")
            )
            told = json.loads(report_on(space, self.hidden, one.name)) if is_named else None
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
