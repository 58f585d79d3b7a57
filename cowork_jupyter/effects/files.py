"""Data files of the workspace around a run of code: which it created, changed or removed.

All are tracked by name, size and time; contents are read only of those that the code names and
of those that changed. Both are bounded in time, and use the workspace the call was given, so
they see no more than it may.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ..domain.effects import TableState
from ..domain.errors import CoworkError
from ..workspace import Workspace
from .comparing import difference, shape_text
from .file_states import DATA_SUFFIXES, file_state

SCAN_SECONDS = READ_SECONDS = 0.05
MAX_FILES = 2_000
MAX_READ = 8
_NOT_THE_USERS = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "env"})
_NAMED = re.compile(
    rf"[^\s\"'`,;:()\[\]<>|*?={{}}]+(?:{'|'.join(map(re.escape, DATA_SUFFIXES))})\b", re.IGNORECASE
)

Mark = tuple[float, int]
"""Modification time and size."""


@dataclass(frozen=True)
class FileChange:
    path: str
    before: TableState | None
    after: TableState | None
    line: str


@dataclass
class FileWatch:
    workspace: Workspace
    code: str
    folder: str = "."
    """Working directory of the code."""
    _marks: dict[str, Mark] = field(default_factory=dict)
    _states: dict[str, TableState | None] = field(default_factory=dict)
    _is_whole: bool = True
    """Whether all data files were found in time."""

    def begin(self) -> FileWatch:
        self._marks, self._is_whole = self._scan()
        named = [path for path in self._named() if path in self._marks]
        self._states = dict(self._read(named))
        return self

    def end(self) -> list[FileChange]:
        marks, is_whole = self._scan()
        # What was not found may be there all the same, if not everything could be looked at.
        new = [path for path in marks if path not in self._marks] if self._is_whole else []
        gone = [path for path in self._marks if path not in marks] if is_whole else []
        changed = [path for path, mark in marks.items() if self._marks.get(path, mark) != mark]
        states = dict(self._read([*new, *changed]))
        changes = [self._change(path, states[path]) for path in (*new, *changed) if path in states]
        removed = [
            FileChange(path, self._states.get(path), None, f"{path}: removed")
            for path in gone[:MAX_READ]
            if self._may_be_seen(path)
        ]
        return [change for change in (*changes, *removed) if change.line]

    def _change(self, path: str, after: TableState | None) -> FileChange:
        before = self._states.get(path)
        if after is None or (before is None and path in self._marks):
            line = f"{path}: rewritten" + (f", {shape_text(after)}" if after else "")
        else:
            line = difference(path, before, after)
        return FileChange(path, before, after, line)

    def _named(self) -> Iterator[str]:
        for name in dict.fromkeys(_NAMED.findall(self.code)):
            for path in (f"{self.folder}/{name}", name):
                with suppress(CoworkError), self.workspace.locate(path) as place:
                    yield place.path

    def _scan(self) -> tuple[dict[str, Mark], bool]:
        end, found = time.monotonic() + SCAN_SECONDS, dict[str, Mark]()
        folders = ["."]
        for folder in folders:  # it grows
            if time.monotonic() > end or len(found) >= MAX_FILES:
                return found, False
            with suppress(CoworkError), self.workspace.locate(folder) as place:
                for entry in place.entries():
                    path = entry.name if folder == "." else f"{folder}/{entry.name}"
                    if entry.kind == "folder":
                        if not entry.name.startswith(".") and entry.name not in _NOT_THE_USERS:
                            folders.append(path)
                    elif entry.kind == "file" and entry.name.lower().endswith(DATA_SUFFIXES):
                        found[path] = (entry.modified, entry.size)
        return found, True

    def _may_be_seen(self, path: str) -> bool:
        with suppress(CoworkError), self.workspace.locate(path):
            return True
        return False

    def _read(self, paths: Iterable[str]) -> Iterator[tuple[str, TableState | None]]:
        end = time.monotonic() + READ_SECONDS
        for path in list(dict.fromkeys(paths))[:MAX_READ]:
            if time.monotonic() > end:
                return
            with suppress(CoworkError), self.workspace.locate(path) as place, place.open() as file:
                yield path, file_state(path, file, place.stat().st_size)


def folder_of(notebook: str | None) -> str:
    return str(PurePosixPath(notebook or "").parent)
