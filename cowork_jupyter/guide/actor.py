"""The guide as actor: answers plain questions; else writes and runs code, and reads its output."""

from __future__ import annotations

import re
from dataclasses import replace

from ..domain.errors import NotFound
from ..domain.plurals import count_of
from . import texts
from .answers import answer_question, corrected_request
from .code import Choices, CodeCell, cells_for, packages_for, script_name
from .findings import findings, ranges
from .interpretation import interpret
from .notebook import cells_in, explain_cells, moves, notebook_intent
from .request import Request
from .runner import CodeFailed, CodeRunner, NoRunner, find_runner
from .script import CallResult, Script
from .smalltalk import small_talk
from .sources import all_files, notebook_for
from .understanding.understand import step_title

_MAX_TRIES = 6
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_EXISTS = re.compile(r"FileExistsError.*?: '([^'\n]+)'")
_BAD_LINES = re.compile(r"ParserError|Error tokenizing|EOF inside string|ragged lines")
_BAD_BYTES = re.compile(r"UnicodeDecodeError|invalid utf-?8", re.IGNORECASE)
_BAD_VALUES = re.compile(
    r"datetimelike values|no numeric data to plot|reduction|could not convert string|"
    r"unsupported operand|agg function failed|could not parse|TypeError|InvalidOperationError"
)
_REPEATED_KEYS = re.compile(r"not a (?:many-to-one|one-to-one) merge|did not fulfill m:1")
_KEY_TYPES = re.compile(r"trying to merge on|datatypes of join keys don't match")
_ERROR = re.compile(r"^[ \t]*(\w+(?:\.\w+)*(?:Error|Exception|Interrupt|Exit)\b.*)$", re.MULTILINE)
_INSTALLED_AS = {"sklearn": "scikit-learn"}
# what the guide does when an optional package is missing
_NO_CHART = dict.fromkeys(("matplotlib", "seaborn", "plotly"), "I show the numbers without a chart")
_WITHOUT = {**_NO_CHART, "sklearn": "I can only score a guess by group"}


def act(script: Script) -> str:
    text = corrected_request(script.run.request) or script.run.request
    intent = notebook_intent(text)
    if intent == "order":
        return reorder_notebook(script, text)
    if intent == "explain":
        return explain_notebook(script, text)
    talk = "" if script.run.is_step else small_talk(script, text)
    if talk:
        return talk
    meaning = interpret(script, text)
    answer = "" if script.run.is_step else answer_question(script, text, meaning)
    if answer:
        return answer
    try:
        runner = find_runner(script)
        reports: list[str] = []
        for request in meaning.requests:
            if reports:
                runner.start_request()
            reports.append(_run_request(request, runner))
        return "\n\n".join(reports)
    except NoRunner as why:
        script.fail(f"I cannot run code: {why}")
    except _Stopped as why:
        script.fail(str(why))


class _Stopped(Exception):
    """The work cannot go on, or the user stopped it."""


def _run_request(request: Request, runner: CodeRunner) -> str:
    for package in packages_for(request, runner.style):
        if package not in runner.style.packages:
            _ask_package(runner, package)
    choices = _check_output(request, runner)
    for _try in range(_MAX_TRIES):
        cells = cells_for(request, runner.style, choices)
        try:
            outputs = runner.run(cells, script_name(request))
        except CodeFailed as failed:
            choices = _recover(request, runner, choices, failed.result)
            continue
        # Strings in a numeric column get concatenated instead of summed.
        is_sum = request.verb in ("aggregate", "compare")
        if is_sum and not choices.coerce and any(output.is_text for output in outputs):
            choices = replace(choices, coerce=True)
            continue
        written = choices.output or request.output_file
        lines = findings(request, outputs, written) or _result_ranges(runner, cells)
        lines += [f"chart saved to {cell.saved}" for cell in cells if cell.saved]
        return texts.report(step_title(request), lines)
    raise _Stopped(f"This failed {_MAX_TRIES} times. I give up.")


def _result_ranges(runner: CodeRunner, cells: list[CodeCell]) -> list[str]:
    tables = [cell.result for cell in cells if cell.kind == "frame" and cell.result in cell.names]
    looked = runner.inspect(tables[0]) if tables else None
    return ranges(looked) if looked else []


def error_in(output: str) -> str:
    found = _ERROR.findall(output)
    return found[-1].strip() if found else texts.first_line(output)


def _check_output(request: Request, runner: CodeRunner) -> Choices:
    """Ask before overwriting; the code may overwrite its own file when it runs again.

    An empty file that the plan names is what a failed attempt left, as on a full disk.
    """
    path, script = request.output_file, runner.script
    if not path or not script.has_tools("get_file_info"):
        return Choices()
    found = script.call("get_file_info", path=path)
    is_empty = found.facts.get("info", {}).get("bytes") == 0
    if found.code == NotFound.code or (is_empty and path in script.run.files):
        return Choices(overwrite=True)
    if not found.ok:
        return Choices()
    return _ask_overwrite(runner, Choices(), runner.style.path(path))


def _recover(request: Request, runner: CodeRunner, choices: Choices, result: CallResult) -> Choices:
    text = result.text
    if missing := _NO_MODULE.search(text):
        _ask_package(runner, missing[1].partition(".")[0])
        return choices
    if exists := _EXISTS.search(text):
        return _ask_overwrite(runner, choices, exists[1])
    if _BAD_BYTES.search(text) and not choices.replace_bytes:
        return replace(choices, replace_bytes=True)
    if _BAD_LINES.search(text) and not choices.cut_lines:
        return _ask_lines(request, runner, choices, error_in(text))
    if _REPEATED_KEYS.search(text) and not choices.repeated_keys:
        return replace(choices, repeated_keys=True)
    if _KEY_TYPES.search(text) and not choices.keys_as_text:
        return replace(choices, keys_as_text=True)
    if _BAD_VALUES.search(text) and not choices.coerce:
        return replace(choices, coerce=True)
    raise _Stopped(f"The code failed: {error_in(text)}")


def _ask_lines(request: Request, runner: CodeRunner, choices: Choices, error: str) -> Choices:
    answer = runner.script.ask(
        f"Some lines in {request.table.path} do not match its columns. Read it anyway?",
        error,
        {"skip": "Cut off the extra fields", "stop": "Stop here"},
    )
    if answer == "skip":
        return replace(choices, cut_lines=True)
    raise _Stopped(f"I did not read `{request.table.path}`: {error}")


def _ask_package(runner: CodeRunner, package: str) -> None:
    name = _INSTALLED_AS.get(package, package)
    options = {"install": f"Install {name}", "stop": "Stop here"}
    why = "I need it for this."
    if package in _WITHOUT:
        options = {"without": "Continue without it", **options}
        why = f"Without it, {_WITHOUT[package]}."
    answer = runner.script.ask(f"The package {name} is not installed. Install it?", why, options)
    if answer == "without":
        runner.use_packages(runner.style.packages - {package})
        return
    if answer != "install":
        raise _Stopped(f"I stopped because {name} is not installed.")
    installed = runner.install(name)
    if not installed.ok:
        raise _Stopped(f"I could not install {name}: {error_in(installed.text)}")
    runner.use_packages(runner.style.packages | {package})


def _ask_overwrite(runner: CodeRunner, choices: Choices, path: str) -> Choices:
    stem, _, suffix = path.rpartition(".")
    other = f"{stem}_2.{suffix}"
    answer = runner.script.ask(
        f"{path} already exists. Overwrite it?",
        "What is in it would be lost.",
        {"other": f"Write to {other} instead", "overwrite": "Overwrite it", "stop": "Stop here"},
    )
    if answer == "overwrite":
        return replace(choices, overwrite=True)
    if answer == "other":
        return replace(choices, output=other)
    raise _Stopped(f"I stopped because `{path}` already exists.")


def explain_notebook(script: Script, text: str) -> str:
    path = notebook_for(script, text, all_files(script))
    read = script.read("read_notebook", path)
    return texts.sign(explain_cells(path, cells_in(read.facts)))


def reorder_notebook(script: Script, text: str) -> str:
    path = notebook_for(script, text, all_files(script))
    read = script.read("read_notebook", path)
    wanted = moves(cells_in(read.facts))
    if not wanted:
        return f"The cells of `{path}` are already in order: each comes after what it needs."
    if not script.has_tools("move_cell"):
        script.fail("This role cannot move cells. Switch to Actor and ask again.")
    for cell_id, after in wanted:
        place = {"index": 0} if after is None else {"after": after}
        moved = script.call("move_cell", path=path, cell_id=cell_id, **place)
        if not moved.ok:
            script.fail(f"I could not move cell `{cell_id}`: {texts.first_line(moved.text)}")
    remaining = moves(cells_in(script.call("read_notebook", path=path).facts))
    count = count_of(len(wanted), "cell")
    end = "They are now in order."
    if remaining:
        end = f"Still out of order: {count_of(len(remaining), 'cell')}."
    return f"I moved {count} in `{path}`. {end} I ran nothing."
