from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from ..domain.errors import CoworkError
from ..workspace import IgnoreRules, Workspace

FILE_NAME = "AGENTS.md"
MAX_FOLDERS = 2_000
MAX_FILES = 100
_SETTLED_NS = 2_000_000_000
"""A folder changed more recently may change again without a newer mtime."""


@dataclass(frozen=True)
class _Folder:
    """The content of a folder at a version of it."""

    mark: tuple[int, int]
    has_file: bool
    folders: tuple[str, ...]


class InstructionFiles:
    """Finds instruction files in folders that searches look at, parents first; cheap to repeat."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._seen: dict[str, _Folder] = {}
        self.is_cut = False
        """Whether the last walk ended before it had seen every folder."""

    @property
    def limit_text(self) -> str:
        return (
            f"{FILE_NAME} is looked for in the first {MAX_FOLDERS:,} folders, "
            f"and {MAX_FILES} of them are read."
        )

    def paths(self) -> list[str]:
        seen: dict[str, _Folder] = {}
        found: list[str] = []
        todo = deque([""])
        rules = IgnoreRules(self._workspace)
        while todo and len(seen) < MAX_FOLDERS and len(found) < MAX_FILES:
            path = todo.popleft()
            folder = self._look(path)
            if folder is None:
                continue
            seen[path] = folder
            if folder.has_file:
                found.append(f"{path}{FILE_NAME}")
            todo.extend(f"{subfolder}/" for subfolder in _below(path, folder, rules))
        self._seen, self.is_cut = seen, bool(todo)
        return found

    def _look(self, path: str) -> _Folder | None:
        """Returns the cached content if the folder has not changed."""
        try:
            with self._workspace.locate(path or ".", follow=False) as place:
                facts = place.stat()
                mark = (facts.st_ino, facts.st_mtime_ns)
                known = self._seen.get(path)
                if known and known.mark == mark:
                    return known
                entries = place.entries()
        except CoworkError:  # gone, or closed to us
            return None
        if time.time_ns() - facts.st_mtime_ns < _SETTLED_NS:
            mark = (0, 0)
        return _Folder(
            mark,
            has_file=any(entry.name == FILE_NAME and entry.kind != "folder" for entry in entries),
            folders=tuple(entry.name for entry in entries if entry.kind == "folder"),
        )


def _below(path: str, folder: _Folder, rules: IgnoreRules) -> Iterator[str]:
    for name in folder.folders:
        if not rules.hides(f"{path}{name}", is_folder=True):
            yield f"{path}{name}"
