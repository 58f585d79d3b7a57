"""What searches skip: hidden files and what the workspace's `.gitignore` files name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from ..domain.errors import CoworkError
from .globs import Glob
from .workspace import Workspace

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
            self._rules[folder] = list(_parsed(self._read(folder)))
        return self._rules[folder]

    def _read(self, folder: str) -> str:
        path = f"{folder}/.gitignore" if folder else ".gitignore"
        try:
            with self._workspace.locate(path) as place:
                return place.read(_MAX_RULES_LENGTH).decode("utf-8", "replace")
        except CoworkError:  # missing or unreadable
            return ""


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
        with workspace.locate(folder) as place:
            entries = place.entries()
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
