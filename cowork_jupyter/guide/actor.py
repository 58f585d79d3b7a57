"""The guide as actor: writes code, runs it, reads what came out, and asks when it must."""

from __future__ import annotations

import re
from dataclasses import replace

from ..domain.errors import NotFound
from . import words
from .cells import ARROW, Choices, code_for, name_of
from .conversation import Result
from .intents import intents_in, with_files_quoted
from .jobs import GuideJob, jobs_in
from .looking import all_files, notebook_for, tables_for
from .notebook import cells_in, explained, moves
from .script import Script
from .tables import Table
from .workshop import CannotRun, Workshop, find_workshop

_MAX_TRIES = 5
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_EXISTS = re.compile(r"FileExistsError.*?: '([^'\n]+)'")
_BAD_LINES = re.compile(r"ParserError|Error tokenizing|EOF inside string")
_ERROR = re.compile(r"^\s*(\w+(?:\.\w+)*(?:Error|Exception|Interrupt|Exit)\b.*)$", re.MULTILINE)
_INSTALLED_AS = {"sklearn": "scikit-learn"}
_OPTIONAL = {"pandas", "matplotlib", "sklearn", "numpy"}


def act(script: Script) -> str:
    """Do what is asked, to the end, and say what came of it."""
    text = script.run.request
    intents = intents_in(text)
    if "order" in intents:
        return put_in_order(script, text)
    if "explain" in intents:
        return explain(script, text)
    if not intents:
        script.fail(words.what_i_can_do(script.run.is_step))
    files = all_files(script)
    text = with_files_quoted(text, files)
    intents = intents_in(text)
    tables = tables_for(script, text, files, 2 if "join" in intents else 1)
    jobs = jobs_in(text, tables, files)
    if not jobs:
        jobs = (
            [GuideJob("model", tables[0], (ask_target(script, tables[0]),))]
            if "model" in intents
            else []
        )
    if not jobs:
        script.fail(words.nothing_fits(text, tables))
    try:
        workshop = find_workshop(script)
        return "\n\n".join(_carry_out(job, workshop) for job in jobs)
    except CannotRun as why:
        script.fail(f"I cannot run code: {why}")
    except _Stopped as why:
        script.fail(str(why))


class _Stopped(Exception):
    """The work cannot go on, or the user does not want it to."""


def _carry_out(job: GuideJob, workshop: Workshop) -> str:
    choices = Choices()
    for _try in range(_MAX_TRIES):
        paths = {path: workshop.path_of(path) for path in _paths(job)}
        choices = _before(job, workshop, _checked(job, workshop, choices))
        code = code_for(job, workshop.means, choices, paths)
        result = workshop.run(code, name_of(job))
        if result.ok:
            workshop.done()
            return words.report(job, findings(result.text))
        choices = _react(job, workshop, choices, result)
    raise _Stopped(f"This failed {_MAX_TRIES} times. The last error: {error_in(result.text)}")


def findings(output: str) -> list[str]:
    """What the code said that it found."""
    lines = output.splitlines()
    return [line.removeprefix(ARROW).strip() for line in lines if line.startswith(ARROW)]


def error_in(output: str) -> str:
    """The exception that code ended with, in one line."""
    found = _ERROR.findall(output)
    return found[-1].strip() if found else words.first_line(output)


def _checked(job: GuideJob, workshop: Workshop, choices: Choices) -> Choices:
    """Where nothing is written over, the code may do so: it should also run a second time."""
    decided = choices.overwrite or choices.output
    if decided or not job.output or not workshop.script.may("get_file_info"):
        return choices
    found = workshop.script.call("get_file_info", path=job.output)
    return replace(choices, overwrite=True) if found.code == NotFound.code else choices


def _before(job: GuideJob, workshop: Workshop, choices: Choices) -> Choices:
    """A model wants a package for numbers; without one only guessing can be scored."""
    usable = workshop.means.packages - choices.without
    if job.kind != "model" or usable & {"sklearn", "numpy"} or "numpy" in choices.without:
        return choices
    return _about_package(workshop, choices, "numpy", "I can only score a constant guess")


def _react(job: GuideJob, workshop: Workshop, choices: Choices, result: Result) -> Choices:
    """What to do about an error; mostly the user knows."""
    missing, exists = _NO_MODULE.search(result.text), _EXISTS.search(result.text)
    if missing and missing[1].partition(".")[0] in _OPTIONAL:
        package = missing[1].partition(".")[0]
        return _about_package(workshop, choices, package, "I can do it in a simpler way")
    if exists:
        return _about_existing(workshop, choices, exists[1])
    if _BAD_LINES.search(result.text) and not choices.skip_bad_lines:
        answer = workshop.script.ask(
            f"Some lines in {job.table.path} do not match its columns. Read it anyway?",
            error_in(result.text),
            {"skip": "Cut off the extra fields and count those lines", "stop": "Stop here"},
        )
        if answer == "skip":
            return replace(choices, skip_bad_lines=True)
        raise _Stopped(f"I did not read `{job.table.path}`: {error_in(result.text)}")
    raise _Stopped(f"The code failed: {error_in(result.text)}")


def _about_package(workshop: Workshop, choices: Choices, package: str, else_: str) -> Choices:
    name = _INSTALLED_AS.get(package, package)
    answer = workshop.script.ask(
        f"The package {name} is not installed. Install it?",
        f"Without it, {else_}.",
        {"without": "Continue without it", "install": f"Install {name}", "stop": "Stop here"},
    )
    if answer == "without":
        return replace(choices, without=choices.without | {package})
    if answer != "install":
        raise _Stopped(f"I stopped because {name} is not installed.")
    installed = workshop.install(name)
    if not installed.ok:
        raise _Stopped(f"I could not install {name}: {error_in(installed.text)}")
    packages = workshop.means.packages | {package}
    workshop.means = replace(workshop.means, packages=packages)
    return choices


def _about_existing(workshop: Workshop, choices: Choices, path: str) -> Choices:
    stem, _, suffix = path.rpartition(".")
    other = f"{stem}_2.{suffix}"
    answer = workshop.script.ask(
        f"{path} already exists. Overwrite it?",
        "Nothing has been written yet.",
        {"other": f"Write to {other} instead", "overwrite": "Overwrite it", "stop": "Stop here"},
    )
    if answer == "overwrite":
        return replace(choices, overwrite=True)
    if answer == "other":
        return replace(choices, output=other)
    raise _Stopped(f"I stopped because `{path}` already exists.")


def ask_target(script: Script, table: Table) -> str:
    """The column that the user wants predicted."""
    options = {column.name: column.name for column in table.columns if column.kind != "empty"}
    if not options:
        script.fail(f"Every column of `{table.path}` is empty.")
    return script.ask(
        "Which column should I predict?",
        f"A baseline model on {table.path} needs a target column.",
        dict(list(options.items())[:12]),
        default=list(options)[:12][-1],
    )


def explain(script: Script, text: str) -> str:
    """What a notebook does."""
    path = notebook_for(script, text, all_files(script))
    read = script.call("read_notebook", path=path)
    if not read.ok:
        script.fail(f"I cannot read `{path}`: {words.first_line(read.text)}")
    return words.signed(explained(path, cells_in(read.facts)))


def put_in_order(script: Script, text: str) -> str:
    """Move cells until each comes after what it needs, and look whether they do."""
    path = notebook_for(script, text, all_files(script))
    read = script.call("read_notebook", path=path)
    if not read.ok:
        script.fail(f"I cannot read `{path}`: {words.first_line(read.text)}")
    wanted = moves(cells_in(read.facts))
    if not wanted:
        return f"The cells of `{path}` are already in order: each comes after what it needs."
    if not script.may("move_cell"):
        script.fail("This role cannot move cells. Switch to Actor and ask again.")
    for cell_id, after in wanted:
        place = {"index": 0} if after is None else {"after": after}
        moved = script.call("move_cell", path=path, cell_id=cell_id, **place)
        if not moved.ok:
            script.fail(f"I could not move cell `{cell_id}`: {words.first_line(moved.text)}")
    remaining = moves(cells_in(script.call("read_notebook", path=path).facts))
    count = f"{len(wanted)} cell{'' if len(wanted) == 1 else 's'}"
    end = "They are now in order." if not remaining else f"{len(remaining)} are still out of order."
    return f"I moved {count} in `{path}`. {end} I ran nothing."


def _paths(job: GuideJob) -> list[str]:
    paths = [job.table.path, job.output, job.other.path if job.other else ""]
    return [path for path in paths if path]
