"""Where code runs: cells of the user's notebook, else just their kernel, else scripts."""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass, replace
from itertools import takewhile

from .cells import PACKAGES, WRITTEN_BY, Means
from .conversation import Result
from .notebook import cells_in
from .script import Script
from .words import first_line

CELL_TOOLS = ("insert_cell", "edit_cell", "run_cell", "run_code")
KERNEL_TOOLS = ("run_code",)
SCRIPT_TOOLS = ("create_file", "execute_command")
NO_KERNEL = "no_kernels"
"""The code of the error where no kernel can be had at all."""
_LOOK = (
    "print('packages:', *(lambda find: [name for name in "
    f"{PACKAGES!r} if find(name)])(__import__('importlib.util').util.find_spec))"
)
"""Leaves no name behind where it runs."""
_FOUND = re.compile(r"^packages:(.*)$", re.MULTILINE)
_MAX_SCRIPTS = 20
_ASKING = ("%%plan", "%%act", "%%ask")
"""How a cell begins whose text is a request to the agent."""
_EXISTS = "exists"
_NO_SUCH_COMMAND = 127


class CannotRun(Exception):
    """Code cannot be run at all; the words say why."""


@dataclass
class Workshop:
    """One place where code runs, found out by trying."""

    script: Script
    means: Means
    notebook: str | None
    python: str = "python3"
    _cell: tuple[str, str] | None = None
    """The cell that was written last, with its fingerprint; mended if it fails."""

    def path_of(self, path: str) -> str:
        """How code reaches a file of the workspace."""
        if not self.notebook:
            return path
        return posixpath.relpath(path, posixpath.dirname(self.notebook) or ".")

    def run(self, code: str, name: str) -> Result:
        """Write code down where the user sees it, run it, give what came out."""
        if self.notebook:
            return self._run_cell(code)
        if self.means.in_kernel:
            return self.script.call("run_code", code=code, where="notebook")
        return self._run_script(code, name)

    def done(self) -> None:
        """The cell is good; the next code gets one of its own."""
        self._cell = None

    def install(self, package: str) -> Result:
        """Install a package, which the user is asked about once more."""
        if self.notebook:
            return self.script.call(
                "run_code", code=f"%pip install -q {package}", path=self.notebook, start_kernel=True
            )
        if self.means.in_kernel:
            code = f"%pip install -q {package}"
            return self.script.call("run_code", code=code, where="notebook")
        command = f"{self.python} -m pip install -q {package}"
        return _by_exit_code(
            self.script.call("execute_command", command=command, needs_network=True)
        )

    def _run_cell(self, code: str) -> Result:
        call = self.script.call
        if self._cell:
            cell_id, mark = self._cell
            written = call(
                "edit_cell", path=self.notebook, cell_id=cell_id, fingerprint=mark, source=code
            )
        else:
            written = call("insert_cell", path=self.notebook, source=code, **self._place())
        if not written.ok:
            raise CannotRun(first_line(written.text))
        self._cell = (written.facts["cell_id"], written.facts["fingerprint"])
        return call("run_cell", path=self.notebook, cell_id=self._cell[0], start_kernel=True)

    def _place(self) -> dict[str, str]:
        """Below the cell that asked for it, and what was already written below that; else last."""
        if not self.script.may("read_notebook"):
            return {}
        run = self.script.run
        wanted = _on_one_line(run.goal if run.is_step else run.request)
        read = self.script.call("read_notebook", path=self.notebook)
        cells = cells_in(read.facts) if read.ok else []
        asking = [
            at
            for at, cell in enumerate(cells)
            if cell.source.startswith(_ASKING) and wanted in _on_one_line(cell.source)
        ]
        if not asking:
            return {}
        below = cells[asking[-1] + 1 :]
        written = list(takewhile(lambda cell: WRITTEN_BY in cell.source, below))
        return {"after": (written or [cells[asking[-1]]])[-1].id}

    def _run_script(self, code: str, name: str) -> Result:
        for number in range(1, _MAX_SCRIPTS):
            path = f"{name}.py" if number == 1 else f"{name}_{number}.py"
            made = self.script.call("create_file", path=path, content=code)
            if made.ok:
                command = f"{self.python} {shlex.quote(path)}"
                return _by_exit_code(self.script.call("execute_command", command=command))
            if made.code != _EXISTS:
                break
        raise CannotRun(first_line(made.text))


def find_workshop(script: Script) -> Workshop:
    """The notebook's kernel if it can be had, else scripts. Raises `CannotRun`."""
    notebook = script.here.notebook
    if notebook and script.may(*CELL_TOOLS):
        looked = script.call("run_code", code=_LOOK, path=notebook, start_kernel=True)
        found = _FOUND.search(looked.text)
        if looked.ok and found:
            return Workshop(script, Means(frozenset(found[1].split()), True, True), notebook)
        if looked.code != NO_KERNEL:
            raise CannotRun(first_line(looked.text))
    # Without any kernel there is `run_code` as well, which can write nothing then.
    if not notebook and script.may(*KERNEL_TOOLS, "list_variables"):
        looked = script.call("run_code", code=_LOOK, where="notebook")
        found = _FOUND.search(looked.text)
        if looked.ok and found:
            return Workshop(script, Means(frozenset(found[1].split()), False, True), None)
        if looked.code != NO_KERNEL:  # such as a user who does not want it
            raise CannotRun(first_line(looked.text))
    if not script.may(*SCRIPT_TOOLS):
        raise CannotRun("this role does not allow it. Switch to Actor and ask again.")
    looked = Result(False, "")
    for python in ("python3", "python"):
        command = f"{python} -c {shlex.quote(_LOOK)}"
        looked = _by_exit_code(script.call("execute_command", command=command))
        found = _FOUND.search(looked.text)
        if looked.ok and found:
            return Workshop(script, Means(frozenset(found[1].split()), False), None, python)
        if looked.facts.get("exit_code") != _NO_SUCH_COMMAND:
            break
    raise CannotRun(first_line(looked.text))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _by_exit_code(result: Result) -> Result:
    """A command that ran is a success only with exit code 0."""
    return replace(result, ok=result.facts.get("exit_code") == 0)
