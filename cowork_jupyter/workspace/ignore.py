"""What searches skip: hidden files and what `.gitignore` files name, and the globs for it.

Globs have the syntax of `.gitignore`: `*` and `?` stay within one name, `**` crosses folders,
`[a-z]` is a class, `{a,b}` a choice. A glob with a slash is matched from the top, one without
matches at any depth. Globs may come from untrusted files, so matching is
O(len(glob) * len(path)) whatever the glob.
"""

from __future__ import annotations

import contextlib
import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..domain.errors import CoworkError
from .workspace import Workspace

_MAX_CHOICES = 64
_CLASS = re.compile(r"\[[!^]?\]?[^\]]*\]")
_INNERMOST_CHOICE = re.compile(r"(?<!\\)\{([^{}]*)\}")
_PIECE = re.compile(rf"\\(?P<escaped>.)|(?P<group>{_CLASS.pattern})|(?P<rest>[^\[\\])", re.DOTALL)

_Names = list[re.Pattern[str] | None]
"""One pattern per path component; None stands for `**`."""


class Glob:
    """Raises ValueError if the glob is malformed."""

    def __init__(self, glob: str) -> None:
        anchored = "/" in glob
        glob = glob.removeprefix("/") if anchored else f"**/{glob}"
        self._choices: list[_Names] = [
            [
                None if part == "**" else re.compile(fnmatch.translate("".join(_for_fnmatch(part))))
                for part in choice.split("/")
            ]
            for choice in _choices_of(glob)
        ]

    def matches(self, path: str) -> bool:
        parts = path.split("/")
        return any(_fits(names, parts) for names in self._choices)


def _fits(names: _Names, parts: Sequence[str]) -> bool:
    """Simulate an NFA: keep every position in the glob that the parts may have led to."""
    positions = _skipping(names, {0})
    for part in parts:
        positions = _skipping(names, set(_after(names, positions, part)))
    return len(names) in positions


def _after(names: _Names, positions: set[int], part: str) -> Iterator[int]:
    for at in positions - {len(names)}:
        name = names[at]
        if name is None:
            yield from (at, at + 1)
        elif name.match(part):
            yield at + 1


def _skipping(names: _Names, positions: set[int]) -> set[int]:
    """`**` may match nothing, except at the end: `data/**` is what is below `data`."""
    for at in range(len(names) - 1):
        if at in positions and names[at] is None:
            positions.add(at + 1)
    return positions


def _for_fnmatch(part: str) -> Iterator[str]:
    """Translate to fnmatch's dialect: no backslash, and classes are negated with `!` only."""
    position = 0
    while position < len(part):
        piece = _PIECE.match(part, position)
        if piece is None:
            raise ValueError(f"'{part}' is not a valid glob: a bracket or backslash is not closed")
        position = piece.end()
        if piece["escaped"]:
            yield f"[{piece['escaped']}]" if piece["escaped"] in "*?[" else piece["escaped"]
        elif piece["group"]:
            yield piece["group"].replace("[^", "[!", 1)
        else:
            yield piece["rest"]


def _choices_of(glob: str) -> list[str]:
    done: list[str] = []
    todo = [glob]
    while todo:
        choice = todo.pop()
        braces = _INNERMOST_CHOICE.search(choice)
        if braces is None:
            done.append(choice)
            continue
        before, after = choice[: braces.start()], choice[braces.end() :]
        todo.extend(f"{before}{option}{after}" for option in braces[1].split(","))
        if len(todo) + len(done) > _MAX_CHOICES:
            raise ValueError(f"'{glob}' has too many alternatives in braces")
    if any(re.search(r"(?<!\\)[{}]", choice) for choice in done):
        raise ValueError(f"'{glob}' is not a valid glob: its braces do not match")
    return done


_MAX_RULES_LENGTH = 1 << 20


@dataclass(frozen=True)
class _Rule:
    glob: Glob
    keeps: bool
    folders_only: bool


class IgnoreRules:
    """The `.gitignore` files of a workspace, loaded lazily."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._rules: dict[str, list[_Rule]] = {}

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether the deepest rule that matches this very path ignores it."""
        parts = path.split("/")
        for depth in reversed(range(len(parts))):
            below = "/".join(parts[depth:])
            for rule in reversed(self._in_folder("/".join(parts[:depth]))):
                if (is_folder or not rule.folders_only) and rule.glob.matches(below):
                    return not rule.keeps
        return False

    def shows(self, path: str, *, start: str) -> bool:
        """Whether a search that starts in the folder `start` looks at this file below it.

        What was asked for by name is searched even if it is hidden or ignored itself.
        """
        top = 0 if start == "." else start.count("/") + 1
        parts = path.split("/")
        return not any(
            self.hides("/".join(parts[: depth + 1]), is_folder=depth < len(parts) - 1)
            for depth in range(top, len(parts))
        )

    def hides(self, path: str, *, is_folder: bool) -> bool:
        """Whether the entry itself has a dot name or is ignored, whatever its parents."""
        name = path.rpartition("/")[2]
        return name.startswith(".") or self.ignores(path, is_folder=is_folder)

    def _in_folder(self, folder: str) -> list[_Rule]:
        if folder not in self._rules:
            text = ""
            path = f"{folder}/.gitignore" if folder else ".gitignore"
            with contextlib.suppress(CoworkError), self._workspace.locate(path) as handle:
                text = handle.read(_MAX_RULES_LENGTH).decode("utf-8", "replace")
            self._rules[folder] = list(_parsed(text))
        return self._rules[folder]


def visible_files(workspace: Workspace, start: str, rules: IgnoreRules) -> Iterator[str]:
    """Files below a folder that a search looks at, in order. Symlinks are not followed."""
    todo = [(start, True)]  # a stack: folders may be nested deeper than the recursion limit
    while todo:
        path, is_folder = todo.pop()
        if is_folder:
            todo.extend(reversed(list(_visible_entries(workspace, path, rules))))
        else:
            yield path


def _visible_entries(
    workspace: Workspace, folder: str, rules: IgnoreRules
) -> Iterator[tuple[str, bool]]:
    try:
        with workspace.locate(folder) as handle:
            entries = handle.entries()
    except CoworkError:  # gone or unreadable: go on with the rest
        return
    for entry in entries:
        path = entry.name if folder == "." else f"{folder}/{entry.name}"
        is_folder = entry.kind == "folder"
        if entry.kind in ("file", "folder") and not rules.hides(path, is_folder=is_folder):
            yield path, is_folder


def _parsed(text: str) -> Iterator[_Rule]:
    for raw in text.split("\n"):
        line = raw if raw.endswith("\\ ") else raw.rstrip()
        if not line or line.startswith("#"):
            continue
        keeps = line.startswith("!")
        glob = line[1:] if keeps else line
        folders_only = glob.endswith("/")
        glob = glob.removesuffix("/")
        with contextlib.suppress(ValueError):  # git passes over lines it cannot read
            yield _Rule(Glob(glob), keeps, folders_only)
