"""The two programs that search: ripgrep, and a stand-in in Python that gives the same results.

An engine does two things. It names the files that may match: ripgrep by searching the whole
tree at once, the stand-in by naming every file. And it filters lines. All that decides what is
shown (ignored files, globs, binaries, order, limits) happens once, around them, in `find.py`;
so the engine is a matter of speed alone.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

from ..domain.errors import InvalidInput
from ..workspace import IgnoreRules, Place, Workspace, visible_files
from . import line_filter
from .patterns import Pattern

T = TypeVar("T")

_WALK = [
    *("--no-config", "--no-messages", "--color=never"),
    # Of all the ways to ignore files we know one, .gitignore, with or without a repository.
    *("--no-require-git", "--no-ignore-parent", "--no-ignore-global"),
    *("--no-ignore-exclude", "--no-ignore-dot"),
    *("--crlf", "--files-with-matches", "--null"),
]
_FILTER = [
    *("--no-config", "--color=never", "--no-heading", "--no-context-separator"),
    *("--line-number", "--text", "--encoding=none"),
    *(f"--max-columns={line_filter.MAX_LENGTH}", "--max-columns-preview"),
]


class Engine(Protocol):
    """What searches."""

    async def candidates(
        self, workspace: Workspace, folder: Place, pattern: Pattern, names: list[str]
    ) -> list[str]:
        """Files below the folder that may match: all that do, and perhaps more.

        `names` are globs of file names, one of which a file must fit; none means any.
        """

    def line_filter(self, pattern: Pattern, most: int, context: int) -> list[str]:
        """A command that reads lines and writes `12:match` and `13-context`."""


class Ripgrep:
    """Searches with ripgrep."""

    def __init__(self, program: str) -> None:
        self._program = program

    async def candidates(
        self, workspace: Workspace, folder: Place, pattern: Pattern, names: list[str]
    ) -> list[str]:
        """Let one ripgrep walk and search the tree, on all processors.

        Inside a notebook's JSON the pattern may look different. Unless it surely does not,
        a second one picks the notebooks by what of it does look the same.
        """
        walks = [[*_pattern_options(pattern), *_types(names)]]
        if pattern.sure_text != pattern.text and _may_be_notebooks(names):
            sure = replace(pattern, text=pattern.sure_text, literal=True)
            walks[0] += ["--glob", "!*.ipynb"]
            walks.append([*_pattern_options(sure), *_types(["*.ipynb"])])
        with folder.open_folder() as descriptor:
            cwd = workspace.process_folder(descriptor, folder.path)
            found = [
                _start([self._program, *_WALK, *walk, "--", "."], cwd, subprocess.DEVNULL)
                for walk in walks
            ]
        prefix = "" if folder.path == "." else f"{folder.path}/"
        return [
            prefix + path.removeprefix("./")
            for paths in await asyncio.gather(*map(_paths, found))
            for path in paths
        ]

    def line_filter(self, pattern: Pattern, most: int, context: int) -> list[str]:
        """Let ripgrep read the lines."""
        limits = ["--max-count", str(most), "--context", str(context)]
        return [self._program, *_FILTER, *_pattern_options(pattern), *limits, "--", "-"]


class PurePython:
    """Searches without ripgrep: slower, the same otherwise."""

    async def candidates(
        self,
        workspace: Workspace,
        folder: Place,
        pattern: Pattern,  # noqa: ARG002
        names: list[str],  # noqa: ARG002
    ) -> list[str]:
        """Name every file that a search may look at."""
        rules = IgnoreRules(workspace)
        return await asyncio.to_thread(lambda: list(visible_files(workspace, folder.path, rules)))

    def line_filter(self, pattern: Pattern, most: int, context: int) -> list[str]:
        """Let a Python of its own read the lines, so that it can be stopped."""
        program = [sys.executable, "-I", str(Path(line_filter.__file__))]
        return [*program, pattern.regex, str(int(pattern.flags)), str(most), str(context)]


def find_engine() -> Engine:
    """Choose ripgrep from our own environment or the PATH, else the stand-in."""
    beside = str(Path(sys.executable).parent)
    program = shutil.which("rg", path=beside) or shutil.which("rg")
    return Ripgrep(program) if program else PurePython()


def start_filter(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a line filter; feed its standard input."""
    return _start(command, cwd="/", stdin=subprocess.PIPE)


async def while_running(process: subprocess.Popen[bytes], work: Callable[[], T]) -> T:
    """Do blocking work with a process in a thread; on cancel the process ends, and so the work."""
    try:
        return await asyncio.to_thread(work)
    finally:
        process.kill()


def _start(command: list[str], cwd: str, stdin: int) -> subprocess.Popen[bytes]:
    """Start a program of ours from a list of arguments; no shell reads them."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=cwd, stdin=stdin, stdout=pipe, stderr=pipe)  # noqa: S603


async def _paths(process: subprocess.Popen[bytes]) -> list[str]:
    out, errors = await while_running(process, process.communicate)
    if errors and process.returncode == 2:
        raise InvalidInput(_why(errors), code="bad_pattern")
    return [path for path in out.decode("utf-8", "surrogateescape").split("\0") if path]


def _types(names: list[str]) -> list[str]:
    return [part for name in names for part in ("--type-add", f"wanted:{name}", "--type", "wanted")]


def _may_be_notebooks(names: list[str]) -> bool:
    return not names or any(name.endswith(("ipynb", "*", "?", "}")) for name in names)


def _pattern_options(pattern: Pattern) -> list[str]:
    """`-e` keeps a pattern that starts with a dash from being an option."""
    case = "--ignore-case" if pattern.ignore_case else "--case-sensitive"
    if pattern.literal:
        return [case, "--fixed-strings", "-e", pattern.text]
    return [case, "-e", pattern.regex]


def _why(errors: bytes) -> str:
    said = errors.decode("utf-8", "replace").split("\n\n")[0].strip()
    return f"The pattern is not valid. {said}"
