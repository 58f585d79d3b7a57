"""Where code runs: cells of the user's notebook, else their kernel, else scripts."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from .code import CodeCell, Style, script_code
from .notebook import GuideCell, cells_in, code_cell, style_of, works_with_polars
from .script import CallResult, Script, whole_notebook
from .texts import OutputText, first_line

CELL_TOOLS = ("insert_cell", "edit_cell", "run_cell", "run_code")
_KERNEL_TOOLS = ("run_code",)
SCRIPT_TOOLS = ("create_file", "execute_command")
_NO_KERNEL = "no_kernels"  # error code if no kernel is available
_PACKAGES = ("pandas", "polars", "matplotlib", "sklearn", "openpyxl", "pyarrow")
# defines no names where it runs
_LIST_PACKAGES = (
    f"print('packages:', *[name for name in {_PACKAGES!r} "
    "if __import__('importlib.util').util.find_spec(name)])"
)
_PACKAGES_LINE = re.compile(r"^packages:(.*)$", re.MULTILINE)
# what tools say of a run, and of its data, comes after what it has shown
_NOTES = re.compile(r"^\[(?:ran |exit code )", re.MULTILINE)
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

    def run(self, cells: Sequence[CodeCell], name: str) -> list[OutputText]:
        """Write the code down, run it and return the outputs.

        Raises `CodeFailed`; a second run edits the cells already written.
        """
        if self.notebook:
            texts = self._run_cells(cells)
        elif self.in_kernel:
            ran = (self.script.call("run_code", **_without_cell(cell.source)) for cell in cells)
            texts = list(map(_output, ran))
        else:
            printed = _output(self._run_script(script_code(cells), name)).split("\n\n")
            return [output for output in map(OutputText, printed) if output.lines]
        shows = [cell.kind not in ("none", "chart") for cell in cells]
        return [OutputText(text) for text, keeps in zip(texts, shows, strict=True) if keeps]

    def start_request(self) -> None:
        """Keep the cells; the next request gets new ones and sees their variables."""
        self._written = []
        if self.in_kernel:
            self.update_style()

    def update_style(self) -> None:
        cells = notebook_cells(self.script, self.notebook) or _code_run(self.script)
        self.style = style_of(cells, variables_in(self.script, self.notebook), self.style)
        if not self.position:
            self.position = _position_below_request(self.script, cells)

    def install(self, package: str) -> CallResult:
        if self.in_kernel:
            place = _started(self.notebook) if self.notebook else {"where": "notebook"}
            return self.script.call("run_code", code=f"%pip install -q {package}", **place)
        command = f"{self.python} -m pip install -q {package}"
        return _execute(self.script, command, needs_network=True)

    def _run_cells(self, cells: Sequence[CodeCell]) -> list[str]:
        changed = False
        for at, cell in enumerate(cells):
            changed = self._write(at, cell.source) or changed
            written = self._written[at]
            if changed or written.output is None:
                written.output = None
                place = _started(self.notebook)
                written.output = _output(self.script.call("run_cell", cell_id=written.id, **place))
        return [cell.output or "" for cell in self._written]

    def _write(self, at: int, source: str) -> bool:
        if at >= len(self._written):
            place = {"path": self.notebook, **self.position}
            came = self.script.call("insert_cell", source=source, **place)
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
        planned = list(filter(_is_script, self.script.run.files))
        if len(planned) == 1:
            name = planned[0].removesuffix(".py")
        for number in range(1, _MAX_SCRIPTS):
            path = f"{name}.py" if number == 1 else f"{name}_{number}.py"
            made = self.script.call("create_file", path=path, content=code)
            if made.ok:
                return _execute(self.script, f"{self.python} {shlex.quote(path)}")
            if made.code != _EXISTS:
                break
        raise NoRunner(first_line(made.text))


def _is_script(path: str) -> bool:
    return path.endswith(".py")


def tools_for(script: Script) -> tuple[str, ...]:
    """What code runs with: cells if the notebook has a kernel, else a kernel, else scripts."""
    notebook = script.conversation.notebook
    if script.run.is_step and not notebook and any(map(_is_script, script.run.files)):
        return SCRIPT_TOOLS  # as was approved, whatever else is there by now
    if not script.has_tools("list_variables"):
        return CELL_TOOLS if notebook else SCRIPT_TOOLS
    if notebook:
        listed = script.look("list_variables", path=notebook)
        return SCRIPT_TOOLS if listed.code == _NO_KERNEL else CELL_TOOLS
    return _KERNEL_TOOLS if script.look("list_variables").ok else SCRIPT_TOOLS


def find_runner(script: Script) -> CodeRunner:
    """Where code can run. Raises `NoRunner`."""
    tools, notebook = tools_for(script), script.conversation.notebook
    if tools == SCRIPT_TOOLS or not script.has_tools(*tools):
        return _script_runner(script)
    # Scratch has the Python of the notebook, and nobody has to allow that.
    where = "scratch" if notebook else "notebook"
    looked = script.call("run_code", code=_LIST_PACKAGES, where=where)
    if notebook and not looked.ok:
        looked = script.call("run_code", code=_LIST_PACKAGES, **_started(notebook))
    folder = posixpath.dirname(notebook or "") or "."
    style = Style(packages=_packages(looked), folder=folder, saves_charts=not notebook)
    runner = CodeRunner(script, style, notebook, in_kernel=True)
    runner.update_style()
    return runner


def _script_runner(script: Script) -> CodeRunner:
    if not script.has_tools(*SCRIPT_TOOLS):
        raise NoRunner("this role does not allow it. Switch to Actor and ask again.")
    looked = CallResult(False, "")
    for python in ("python3", "python"):
        looked = _execute(script, f"{python} -c {shlex.quote(_LIST_PACKAGES)}")
        if looked.facts.get("exit_code") != _NO_SUCH_COMMAND:
            break
    return CodeRunner(script, Style(packages=_packages(looked), saves_charts=True), python=python)


def _packages(looked: CallResult) -> frozenset[str]:
    found = _PACKAGES_LINE.search(looked.text)
    if not looked.ok or not found:  # such as a user who does not want it
        raise NoRunner(first_line(looked.text))
    return frozenset(found[1].split())


def _started(notebook: str | None) -> dict[str, Any]:
    return {"path": notebook, "start_kernel": True}


def ask_for_pandas(script: Script) -> None:
    """The one thing that code is written with; others are asked for, never assumed."""
    cells = notebook_cells(script, script.conversation.notebook, once=True)
    if script.run.is_step or not works_with_polars(cells):
        return
    answer = script.ask(
        "This notebook works with Polars. Is pandas fine?",
        "The built-in guide writes pandas only. It leaves your Polars tables alone.",
        {"pandas": "Write pandas", "stop": "Stop here"},
    )
    if answer != "pandas":
        script.refuse("I wrote nothing.")


def _code_run(script: Script) -> list[GuideCell]:
    """Code that has run without cells, up to here."""
    code = script.conversation.code_run
    ahead = [each for each in code if script.is_ahead("run_code", **_without_cell(each))]
    return [code_cell(each) for each in code if each not in ahead]


def _without_cell(code: str) -> dict[str, Any]:
    return {"code": code, "where": "notebook"}


def notebook_cells(script: Script, path: str | None, *, once: bool = False) -> list[GuideCell]:
    """`once` takes what was read before in this run."""
    if not path or not script.has_tools("read_notebook"):
        return []
    call = script.look if once else script.call
    return cells_in(whole_notebook(partial(call, "read_notebook", path=path)))


def variables_in(script: Script, path: str | None, *, once: bool = False) -> dict[str, str]:
    """Their types by their names."""
    call = script.look if once else script.call
    if not script.has_tools("list_variables"):
        return {}
    listed = call("list_variables", **({"path": path} if path else {}))
    return dict(_VARIABLE.findall(listed.text)) if listed.ok else {}


def _position_below_request(script: Script, cells: Sequence[GuideCell]) -> dict[str, str]:
    """Below the asking cell and what this job has inserted there; else last."""
    run, inserted = script.run, script.conversation.inserted
    wanted = _on_one_line(run.goal if run.is_step else run.request)
    above = [
        cell.id
        for cell in cells
        if cell.id in inserted
        or (cell.source.startswith(_AGENT_MAGICS) and wanted in _on_one_line(cell.source))
    ]
    return {"after": above[-1]} if above else {}


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _output(result: CallResult) -> str:
    if not result.ok:
        raise CodeFailed(result)
    return _NOTES.split(result.text)[0]


def _execute(script: Script, command: str, **more: Any) -> CallResult:
    """A command succeeds only with exit code 0."""
    result = script.call("execute_command", command=command, **more)
    return replace(result, ok=result.facts.get("exit_code") == 0)
