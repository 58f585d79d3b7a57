"""Where code runs: cells of the user's notebook, else their kernel, else scripts."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .code import CodeCell, Style, script_code
from .findings import OutputText
from .notebook import GuideCell, cells_in
from .notebook_style import style_of
from .script import CallResult, Script
from .texts import first_line

CELL_TOOLS = ("insert_cell", "edit_cell", "run_cell", "run_code")
KERNEL_TOOLS = ("run_code",)
SCRIPT_TOOLS = ("create_file", "execute_command")
NO_KERNEL = "no_kernels"  # error code if no kernel is available
PACKAGES = ("pandas", "polars", "matplotlib", "seaborn", "plotly", "sklearn", "openpyxl", "pyarrow")
# defines no names where it runs
_LIST_PACKAGES = (
    "print('packages:', *(lambda find: [name for name in "
    f"{PACKAGES!r} if find(name)])(__import__('importlib.util').util.find_spec))"
)
_PACKAGES_LINE = re.compile(r"^packages:(.*)$", re.MULTILINE)
_VARIABLE = re.compile(r"^(\w+): ([\w.]+)", re.MULTILINE)
_MAX_SCRIPTS = 20
_AGENT_MAGICS = ("%%plan", "%%act", "%%ask")  # cells that are requests to the agent
_EXISTS = "exists"
_NO_SUCH_COMMAND = 127


class NoRunner(Exception):
    pass


class CodeFailed(Exception):
    def __init__(self, result: CallResult) -> None:
        super().__init__(result.text)
        self.result = result


@dataclass
class _WrittenCell:
    id: str
    fingerprint: str
    source: str
    output: str | None = None  # None until it has succeeded


@dataclass
class CodeRunner:
    """A place where code runs."""

    script: Script
    style: Style
    notebook: str | None = None
    in_kernel: bool = False
    python: str = "python3"
    position: dict[str, str] = field(default_factory=dict)  # position of the next cell
    # cells of the current request; edited if one fails
    _written: list[_WrittenCell] = field(default_factory=list)
    _code_run: list[str] = field(default_factory=list)  # code run without cells, so far

    def run(self, cells: Sequence[CodeCell], name: str) -> list[OutputText]:
        """Write the code down, run it and return the outputs.

        Raises `CodeFailed`; a second run edits the cells already written.
        """
        if self.notebook:
            texts = self._run_cells(cells)
        elif self.in_kernel:
            texts = [self._run_code(cell.source) for cell in cells]
        else:
            came = _output(self._run_script(script_code(cells, self.style), name))
            parts = map(OutputText, re.split(r"\n{2,}", came))
            return [part for part in parts if part.lines]
        shows = [cell.kind not in ("none", "chart") for cell in cells]
        return [OutputText(text) for text, keeps in zip(texts, shows, strict=True) if keeps]

    def start_request(self) -> None:
        """Keep the cells; the next request gets new ones and sees their variables."""
        self._written = []
        if self.in_kernel:
            self.update_style()

    def use_packages(self, packages: frozenset[str]) -> None:
        self.style = replace(self.style, packages=packages)

    def update_style(self) -> None:
        folder = posixpath.dirname(self.notebook or "") or "."
        earlier = [*_earlier_code(self.script), *self._code_run]
        cells = notebook_cells(self.script, self.notebook) or _as_cells(earlier)
        variables = _variables(self.script, self.notebook)
        self.style = style_of(
            cells, variables, self.style.packages, folder, saves_charts=not self.notebook
        )
        if not self.position:
            self.position = _position_below_request(self.script, cells)

    def inspect(self, name: str) -> OutputText | None:
        if not self.in_kernel or not self.script.has_tools("inspect_variable"):
            return None
        path = {"path": self.notebook} if self.notebook else {}
        looked = self.script.call("inspect_variable", name=name, **path)
        return OutputText(looked.text) if looked.ok else None

    def install(self, package: str) -> CallResult:
        code = f"%pip install -q {package}"
        if self.notebook:
            return self.script.call("run_code", code=code, path=self.notebook, start_kernel=True)
        if self.in_kernel:
            return self.script.call("run_code", code=code, where="notebook")
        command = f"{self.python} -m pip install -q {package}"
        ran = self.script.call("execute_command", command=command, needs_network=True)
        return _by_exit_code(ran)

    def _run_code(self, code: str) -> str:
        text = _output(self.script.call("run_code", code=code, where="notebook"))
        self._code_run.append(code)
        return text

    def _run_cells(self, cells: Sequence[CodeCell]) -> list[str]:
        changed = False
        for at, cell in enumerate(cells):
            changed = self._write(at, cell.source) or changed
            written = self._written[at]
            if changed or written.output is None:
                written.output = None
                cell_place = {"path": self.notebook, "cell_id": written.id}
                ran = self.script.call("run_cell", **cell_place, start_kernel=True)
                written.output = _output(ran)
        return [cell.output or "" for cell in self._written]

    def _write(self, at: int, source: str) -> bool:
        if at >= len(self._written):
            came = self.script.call(
                "insert_cell", path=self.notebook, source=source, **self.position
            )
        elif self._written[at].source != source:
            before = self._written[at]
            known = {"cell_id": before.id, "fingerprint": before.fingerprint}
            came = self.script.call("edit_cell", path=self.notebook, source=source, **known)
        else:
            return False
        if not came.ok:
            raise NoRunner(first_line(came.text))
        cell = _WrittenCell(came.facts["cell_id"], came.facts["fingerprint"], source)
        self._written[at : at + 1] = [cell]
        self.position = {"after": self._written[-1].id}
        return True

    def _run_script(self, code: str, name: str) -> CallResult:
        planned = [file for file in self.script.run.files if file.endswith(".py")]
        if len(planned) == 1:
            name = planned[0].removesuffix(".py")
        for number in range(1, _MAX_SCRIPTS):
            path = f"{name}.py" if number == 1 else f"{name}_{number}.py"
            made = self.script.call("create_file", path=path, content=code)
            if made.ok:
                command = f"{self.python} {shlex.quote(path)}"
                return _by_exit_code(self.script.call("execute_command", command=command))
            if made.code != _EXISTS:
                break
        raise NoRunner(first_line(made.text))


def find_runner(script: Script) -> CodeRunner:
    """The notebook's kernel if available, else scripts. Raises `NoRunner`."""
    notebook = script.conversation.notebook
    if notebook and script.has_tools(*CELL_TOOLS) and _has_kernels(script, notebook):
        # Scratch has the Python of the notebook, and nobody has to allow that.
        looked = script.call("run_code", code=_LIST_PACKAGES, where="scratch")
        if not looked.ok:
            looked = script.call("run_code", code=_LIST_PACKAGES, path=notebook, start_kernel=True)
        if runner := _kernel_runner(script, looked, notebook=notebook):
            return runner
        raise NoRunner(first_line(looked.text))
    # Without any kernel there is `run_code` as well, which can write nothing then.
    if not notebook and script.has_tools(*KERNEL_TOOLS, "list_variables"):
        looked = script.call("run_code", code=_LIST_PACKAGES, where="notebook")
        if runner := _kernel_runner(script, looked, notebook=None):
            return runner
        if looked.code != NO_KERNEL:  # such as a user who does not want it
            raise NoRunner(first_line(looked.text))
    if not script.has_tools(*SCRIPT_TOOLS):
        raise NoRunner("this role does not allow it. Switch to Actor and ask again.")
    looked = CallResult(False, "")
    for python in ("python3", "python"):
        command = f"{python} -c {shlex.quote(_LIST_PACKAGES)}"
        looked = _by_exit_code(script.call("execute_command", command=command))
        found = _PACKAGES_LINE.search(looked.text)
        if looked.ok and found:
            packages = frozenset(found[1].split())
            return CodeRunner(script, Style(packages=packages, saves_charts=True), python=python)
        if looked.facts.get("exit_code") != _NO_SUCH_COMMAND:
            break
    raise NoRunner(first_line(looked.text))


def _has_kernels(script: Script, notebook: str) -> bool:
    may_list = script.has_tools("list_variables")
    return not may_list or script.call("list_variables", path=notebook).code != NO_KERNEL


def _kernel_runner(script: Script, looked: CallResult, notebook: str | None) -> CodeRunner | None:
    found = _PACKAGES_LINE.search(looked.text)
    if not looked.ok or not found:
        return None
    style = Style(packages=frozenset(found[1].split()))
    runner = CodeRunner(script, style, notebook, in_kernel=True)
    runner.update_style()
    return runner


def _earlier_code(script: Script) -> list[str]:
    """Code of earlier tasks; own calls count only from where they happen, also in a replay."""
    own = {parameters.get("code") for parameters in script.run.calls_to("run_code")}
    return [code for code in script.conversation.code_run if code not in own]


def notebook_cells(script: Script, path: str | None) -> list[GuideCell]:
    """Long notebooks are read in parts."""
    cells: list[GuideCell] = []
    while path and script.has_tools("read_notebook"):
        part = {"offset": len(cells)} if cells else {}
        read = script.call("read_notebook", path=path, **part)
        found = cells_in(read.facts) if read.ok else []
        cells += found
        if not found or len(cells) >= read.facts.get("total_cells", 0):
            break
    return cells


def _as_cells(code: Sequence[str]) -> list[GuideCell]:
    facts = [
        {"id": "", "cell_type": "code", "source": source, "failed": False, "execution_count": None}
        for source in code
    ]
    return cells_in({"cells": facts})


def _variables(script: Script, path: str | None) -> dict[str, str]:
    if not script.has_tools("list_variables"):
        return {}
    listed = script.call("list_variables", **({"path": path} if path else {}))
    return dict(_VARIABLE.findall(listed.text)) if listed.ok else {}


def _position_below_request(script: Script, cells: Sequence[GuideCell]) -> dict[str, str]:
    """Below the asking cell and what was inserted for it; else last."""
    run = script.run
    wanted = _on_one_line(run.goal if run.is_step else run.request)
    asking = [
        at
        for at, cell in enumerate(cells)
        if cell.source.startswith(_AGENT_MAGICS) and wanted in _on_one_line(cell.source)
    ]
    if not asking:
        return {}
    last = asking[-1]
    while last + 1 < len(cells) and cells[last + 1].id in script.conversation.inserted:
        last += 1
    return {"after": cells[last].id}


def _output(result: CallResult) -> str:
    if not result.ok:
        raise CodeFailed(result)
    return result.text


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _by_exit_code(result: CallResult) -> CallResult:
    """A command succeeds only with exit code 0."""
    return replace(result, ok=result.facts.get("exit_code") == 0)
