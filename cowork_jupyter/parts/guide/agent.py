"""The guide as planner and as actor: both look, and answer plain questions at once; for the rest
the planner proposes steps, and the actor writes and runs code, and reads its output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...domain.contexts import DONE
from ...domain.errors import NotFound
from ...domain.plurals import count_of
from . import texts
from .answers import answered
from .code import Choices, cells_for, chart_file, draws, packages_for, script_name
from .interpretation import Interpretation, interpret
from .notebook import GuideCell, cells_in, explain_cells, moves, notebook_intent
from .reading import is_question, sentence, step_title
from .request import Request
from .runner import (
    SCRIPT_TOOLS,
    CodeFailed,
    CodeRunner,
    NoRunner,
    ask_for_pandas,
    find_runner,
    tools_for,
)
from .script import Script, as_reply, whole_notebook
from .sources import all_files, notebook_for
from .tables import Table

_WRITING = {"create_file", "insert_cell"}
_ADDS = re.compile(r"^\s*(?:and )?(?:also|add|then|plus)\b|\b(?:too|as well)\W*$", re.IGNORECASE)
# how the service reports an assumption that the user corrected
_CORRECTION = re.compile(r"Wrong assumption: [^\n]*\nInstead: (?P<instead>.*)", re.DOTALL)
_LOOKS = "It only looks: no file is changed."
_WRITES = "It writes a new file; the tables that it reads stay as they are."
_ERROR = re.compile(r"^[ \t]*(\w+(?:\.\w+)*(?:Error|Exception|Interrupt|Exit)\b.*)$", re.MULTILINE)
_KEY_TYPES = re.compile(r"trying to merge on|datatypes of join keys don't match")
_MAX_CHARTS = 20
_INSTALLED_AS = {"sklearn": "scikit-learn"}


@dataclass(frozen=True)
class _Doubt:
    """An error that the user may decide to go on with: a check that fails is never weakened."""

    error: re.Pattern[str]
    choice: str  # the field of `Choices` that goes on
    question: str
    consequence: str
    label: str


_DOUBTS = (
    _Doubt(
        re.compile(r"UnicodeDecodeError|invalid utf-?8", re.IGNORECASE),
        "replace_bytes",
        "Some characters in {table} cannot be read. Go on?",
        "They would become �.",
        "Replace these characters",
    ),
    _Doubt(
        re.compile(r"not a (?:many-to-one|one-to-one) merge"),
        "repeated_keys",
        "Some values of {key} are more than once in {other}. Join nevertheless?",
        "Rows that find several matches would become several rows, and be counted so.",
        "Keep every match",
    ),
    _Doubt(
        re.compile(
            r"datetimelike values|no numeric data to plot|reduction|could not convert string|"
            r"unsupported operand|agg function failed|could not parse|TypeError"
        ),
        "coerce",
        "Some values in {table} are not what their column holds. Leave them out?",
        "They would count as missing.",
        "Count them as missing",
    ),
)
_TEXT_SUMS = "TypeError: some values are texts."


class _Stopped(Exception):
    """The work cannot go on, or the user stopped it."""


def plan(script: Script) -> str:
    run, text = script.run, script.run.request
    if corrected := _CORRECTION.match(text):
        text = corrected["instead"].strip()
    elif run.goal and _ADDS.search(text):  # it extends the current goal
        text = f"{run.goal}; {text}"
    intent = notebook_intent(text)
    if intent == "explain":
        return explain_notebook(script, text)
    if intent == "order":
        return _plan_order(script, text)
    if texts.is_talk(text):
        return texts.what_i_can_do()
    meaning = interpret(script, text)
    if is_question(text) and not run.replans and (answers := _answers(script, meaning)):
        return answers
    ask_for_pandas(script)
    old_plan = script.conversation.plan if run.replans else None
    finished = {step.action for step in old_plan.steps if step.status in DONE} if old_plan else ()
    requests = [each for each in meaning.requests if step_title(each) not in finished]
    if not requests:
        script.refuse("Every step of this plan is done.")
    tools = tools_for(script)
    steps = [_step(script, request, tools) for request in requests]
    # What was asked is not asked again when the rest is planned anew, or something added.
    goal = "; ".join(map(sentence, meaning.requests)) if run.answers else text
    return _as_plan(goal, steps, _risks(requests), meaning.notes)


def _answers(script: Script, meaning: Interpretation) -> str:
    return answered(script, meaning.requests, meaning.notes)


def _step(script: Script, request: Request, tools: Sequence[str]) -> dict[str, Any]:
    notebook, code = script.conversation.notebook, ""
    if tools == SCRIPT_TOOLS:
        notebook, code = "", f"{script_name(request)}.py"
    read = [table.path for table in request.tables if not table.is_variable]
    return {
        "action": step_title(request),
        "reason": _WRITES if request.output_file else _LOOKS,
        "tools_needed": list(tools),
        "files": [path for path in (notebook, *read, request.output_file, code) if path],
    }


def _as_plan(
    goal: str, steps: list[dict[str, Any]], risks: list[str], assumptions: Sequence[str] = ()
) -> str:
    for number, step in enumerate(steps, 1):
        step |= {"id": str(number), "step_number": number}
        # In one kernel, cells run one after the other anyway; their order is the plan's.
        step["depends_on"] = [str(number - 1)] if number > 1 else []
    short = " ".join(goal.split())[:500]
    return as_reply("plan", goal=short, steps=steps, risks=risks, assumptions=list(assumptions))


def _risks(requests: Sequence[Request]) -> list[str]:
    risks: dict[str, None] = {}
    for table in (table for request in requests for table in request.tables):
        if not table.has_header:
            names = f"{table.names[0]} and so on"
            risks[f"`{table.path}` seems to have no header; its columns are named {names}."] = None
        if table.uneven:
            risks[f"Some lines in `{table.path}` have more fields than columns."] = None
    return list(risks)


def act(script: Script) -> str:
    text = script.run.request
    intent = notebook_intent(text)
    if intent == "order":
        return _reorder(script, text)
    if intent == "explain":
        return explain_notebook(script, text)
    if texts.is_talk(text) and not script.run.is_step:
        return texts.what_i_can_do()
    meaning = interpret(script, text)
    is_asked = is_question(text) or not script.conversation.tools & _WRITING
    if is_asked and not script.run.is_step and (answers := _answers(script, meaning)):
        return answers
    ask_for_pandas(script)
    try:
        runner = find_runner(script)
        reports: list[str] = []
        moved: dict[str, str] = {}
        for request in meaning.requests:
            if reports:
                runner.start_request()
            reports.append(_run_request(_reading_moved(request, moved), runner, moved))
        return "\n\n".join(reports)
    except NoRunner as why:
        script.fail(f"I cannot run code: {why}")
    except _Stopped as why:
        script.fail(str(why))


def _reading_moved(request: Request, moved: dict[str, str]) -> Request:
    """It reads what was written before it, wherever that went."""

    def at(table: Table) -> Table:
        return replace(table, path=moved.get(table.path, table.path))

    return replace(request, table=at(request.table), other=request.other and at(request.other))


def _run_request(request: Request, runner: CodeRunner, moved: dict[str, str]) -> str:
    for package in packages_for(request):
        if package not in runner.style.packages:
            _ask_package(runner, package)
    output, chart = _output(request, runner), _chart(request, runner)
    choices = Choices(output, chart, repeated_keys=request.keeps_matches)
    while True:
        cells = cells_for(request, runner.style, choices)
        try:
            outputs = runner.run(cells, script_name(request))
        except CodeFailed as failed:
            choices = _decide(request, runner, choices, failed.result.text)
            continue
        # Strings in a numeric column get concatenated instead of summed.
        is_sum = request.verb in ("aggregate", "compare")
        if is_sum and any(output.is_text for output in outputs):
            choices = _decide(request, runner, choices, _TEXT_SUMS)
            continue
        moved[request.output_file] = choices.output
        lines = texts.findings(request, outputs, choices.output)
        lines += [f"chart saved to {cell.saved}" for cell in cells if cell.saved]
        return texts.report(step_title(request), lines)


def _error_in(output: str) -> str:
    found = _ERROR.findall(output)
    return found[-1].strip() if found else texts.first_line(output)


def _decide(request: Request, runner: CodeRunner, choices: Choices, output: str) -> Choices:
    doubt = next((each for each in _DOUBTS if each.error.search(output)), None)
    if _KEY_TYPES.search(output):
        raise _Stopped(
            f"I did not join: `{request.columns[0]}` and `{request.columns[-1]}` are of different "
            "types, such as numbers and texts."
        )
    if doubt is None or getattr(choices, doubt.choice):
        raise _Stopped(f"The code failed: {_error_in(output)}")
    key = request.columns[-1] if request.columns else ""
    answer = runner.script.ask(
        doubt.question.format(table=request.table.path, key=key, other=request.tables[-1].path),
        f"{doubt.consequence} {_error_in(output)}",
        {"stop": "Stop here", "go on": doubt.label},
    )
    if answer == "go on":
        decided: dict[str, Any] = {doubt.choice: True}
        return replace(choices, **decided)
    raise _Stopped(f"I stopped: {_error_in(output)}")


def _output(request: Request, runner: CodeRunner) -> str:
    """The file to write, if any; asks before an existing one is overwritten.

    An empty file that the plan names is what a failed attempt left, as on a full disk.
    """
    path, script = request.output_file, runner.script
    while path:
        found = script.call("get_file_info", path=path)
        is_empty = found.facts.get("info", {}).get("bytes") == 0
        if found.code == NotFound.code or (is_empty and path in script.run.files):
            break
        if not found.ok:
            raise _Stopped(f"I cannot write `{path}`: {texts.first_line(found.text)}")
        stem, _, suffix = path.rpartition(".")
        other = f"{stem}_2.{suffix}"
        labels = {"other": f"Write to {other} instead", "overwrite": "Overwrite it"}
        answer = script.ask(
            f"{path} already exists. Overwrite it?",
            "What is in it would be lost.",
            labels | {"stop": "Stop here"},
        )
        if answer == "overwrite":
            break
        if answer != "other":
            raise _Stopped(f"I stopped because `{path}` already exists.")
        path = other
    return path


def _chart(request: Request, runner: CodeRunner) -> str:
    """A file that is not there yet, if a chart is drawn that no notebook would show."""
    if not runner.style.saves_charts or not draws(request):
        return ""
    stem = chart_file(request)
    for path in (f"{stem}.png", *(f"{stem}_{number}.png" for number in range(2, _MAX_CHARTS))):
        if runner.script.call("get_file_info", path=path).code == NotFound.code:
            return path
    raise _Stopped(f"There are too many files named like `{stem}.png`.")


def _ask_package(runner: CodeRunner, package: str) -> None:
    name = _INSTALLED_AS.get(package, package)
    options = {"install": f"Install {name}", "stop": "Stop here"}
    why = "I need it for this."
    if package == "matplotlib":
        options = {"without": "Continue without it", **options}
        why = "Without it, I show the numbers without a chart."
    answer = runner.script.ask(f"The package {name} is not installed. Install it?", why, options)
    packages = runner.style.packages - {package}
    if answer == "install":
        installed = runner.install(name)
        if not installed.ok:
            raise _Stopped(f"I could not install {name}: {_error_in(installed.text)}")
        packages |= {package}
    elif answer != "without":
        raise _Stopped(f"I stopped because {name} is not installed.")
    runner.style = replace(runner.style, packages=packages)


def explain_notebook(script: Script, text: str) -> str:
    path = notebook_for(script, text, all_files(script))
    return texts.sign(explain_cells(path, _cells(script, path)))


def _cells(script: Script, path: str) -> list[GuideCell]:
    return cells_in(whole_notebook(partial(script.read, "read_notebook", path)))


def _plan_order(script: Script, text: str) -> str:
    path = notebook_for(script, text, all_files(script))
    wanted = moves(_cells(script, path))
    if not wanted:
        return _in_order(path)
    named = ", ".join(f"`{cell_id}`" for cell_id, _after in wanted[:8])
    step = {
        "action": f"Put the cells of `{path}` in order: move {len(wanted)} ({named})",
        "reason": "These cells use names defined further down, or import what other cells need.",
        "tools_needed": ["move_cell"],
        "files": [path],
    }
    return _as_plan(text, [step], ["Cells are moved, not run; their outputs stay as they are."])


def _in_order(path: str) -> str:
    return f"The cells of `{path}` are already in order: each comes after what it needs."


def _reorder(script: Script, text: str) -> str:
    path = notebook_for(script, text, all_files(script))
    wanted = moves(_cells(script, path))
    if not wanted:
        return _in_order(path)
    if not script.has_tools("move_cell"):
        script.fail("This role cannot move cells. Switch to Actor and ask again.")
    for cell_id, after in wanted:
        place = {"index": 0} if after is None else {"after": after}
        moved = script.call("move_cell", path=path, cell_id=cell_id, **place)
        if not moved.ok:
            script.fail(f"I could not move cell `{cell_id}`: {texts.first_line(moved.text)}")
    remaining = moves(_cells(script, path))
    end = "They are now in order."
    if remaining:
        end = f"Still out of order: {count_of(len(remaining), 'cell')}."
    return f"I moved {count_of(len(wanted), 'cell')} in `{path}`. {end} I ran nothing."
