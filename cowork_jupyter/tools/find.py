"""Finding lines in the workspace.

First ripgrep names the files that may match; then their text, read through the workspace and
notebooks as cells, is piped in order through another ripgrep, until there is enough.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import IO

from ..domain.errors import InvalidInput, NotFound
from ..workspace import Glob, IgnoreRules, Workspace, kind_of
from .close_names import not_found
from .documents import Document, documents
from .ripgrep import Pattern, candidates, check_errors, start_filter, while_running

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
class Found:
    lines: list[FoundLine]
    is_all: bool

    @property
    def matches(self) -> list[FoundLine]:
        """Without the context lines."""
        return [line for line in self.lines if line.is_match]


@dataclass(frozen=True)
class Search:
    pattern: Pattern
    path: str = "."
    globs: list[str] = field(default_factory=list)
    """Files must match one of these, or, if they start with `!`, none."""
    most: int = 200
    context: int = 0


async def find(search: Search, workspace: Workspace) -> Found:
    return await matching_lines(search, workspace, await matching_files(search, workspace))


async def matching_files(search: Search, workspace: Workspace) -> Iterable[str]:
    """Files that may match, in order. A file asked for by name is searched whatever it is."""
    fits = _file_test(search.globs)
    with workspace.locate(search.path) as place:
        try:
            kind = kind_of(place.stat().st_mode)
        except NotFound:
            raise await asyncio.to_thread(not_found, workspace, place.path) from None
        start = place.path
        if kind != "folder":
            return [start]
        found = await candidates(workspace, place, search.pattern, _names(search.globs))
    rules = IgnoreRules(workspace)
    skip = 0 if start == "." else len(start) + 1
    in_order = await asyncio.to_thread(sorted, found, key=lambda path: path.split("/"))
    return (path for path in in_order if fits(path[skip:]) and rules.shows(path, start=start))


async def matching_lines(search: Search, workspace: Workspace, paths: Iterable[str]) -> Found:
    # One more than wanted, to know whether there are more.
    process = start_filter(search.pattern, search.most + 1, search.context)
    stream = _Stream(process)
    await while_running(process, lambda: stream.run(workspace, paths))
    return _limited(stream.lines, search)


class _Stream:
    """Pipes all documents, one after the other, through one filter."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._documents: list[Document] = []
        self._starts: list[int] = []
        self.lines: list[FoundLine] = []

    def run(self, workspace: Workspace, paths: Iterable[str]) -> None:
        """Feed and read until the filter has had all, or enough."""
        with self._process as process:
            stdin, stdout, stderr = map(_opened, (process.stdin, process.stdout, process.stderr))
            texts = documents(workspace, paths)
            feeder = threading.Thread(target=self._feed, args=(stdin, texts), daemon=True)
            feeder.start()
            self.lines.extend(map(self._line, stdout))
            errors = stderr.read()
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


def _opened(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise TypeError("the filter was started without pipes")
    return pipe


def _limited(lines: list[FoundLine], search: Search) -> Found:
    """At most the wanted matches, and only context from the same document."""
    matches = [line for line in lines if line.is_match]
    wanted = matches[: search.most]
    near = {
        (match.document, match.number + distance)
        for match in wanted
        for distance in range(-search.context, search.context + 1)
    }
    kept = [line for line in lines if (line.document, line.number) in near]
    if kept and kept[-1] in matches[search.most :]:  # the extra match is context of the last one
        kept[-1] = replace(kept[-1], is_match=False)
    return Found(kept, is_all=len(matches) <= search.most)


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
