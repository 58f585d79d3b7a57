"""The files of the workspace, as far as notes may name them."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from ...domain.errors import CoworkError
from ...tools.table_facts import table_facts
from ...workspace import Workspace

_TEXTS = (".csv", ".tsv")
_TABLES = (*_TEXTS, ".parquet", ".xlsx", ".xls", ".json", ".jsonl", ".ndjson", ".feather")
_MAX_HEAD = 64 * 1024
_MAX_PATH = 200


@dataclass(frozen=True)
class NamedFiles:
    workspace: Workspace
    hides: Callable[[str], bool] = lambda _path: False
    """Whether a path must not be named: it may hold secrets, or a rule denies reading it."""
    folder: str = ""
    """Base of relative paths in code: the notebook's folder."""

    @cached_property
    def _found(self) -> dict[str, str | None]:
        return {}

    def find(self, path: str) -> str | None:
        """The workspace path of an existing file that may be named."""
        if path not in self._found:
            spelled = self._inside(path)
            self._found[path] = next(
                (spelling for spelling in spelled if self._is_there(spelling)), None
            )
        return self._found[path]

    def table(self, path: str) -> str | None:
        return self.find(path) if path.lower().endswith(_TABLES) else None

    def header(self, path: str) -> list[str]:
        """The columns of a text file with a header."""
        if not path.lower().endswith(_TEXTS):
            return []
        try:
            with self.workspace.locate(path) as place:
                facts = table_facts(path, place.read(_MAX_HEAD), place.stat().st_size)
        except CoworkError:
            return []
        return [column.name for column in facts.columns] if facts else []

    def _inside(self, path: str) -> list[str]:
        if "://" in path or len(path) > _MAX_PATH:
            return []
        if PurePath(path).is_absolute():
            parts = self.workspace.inside(path)
            return ["/".join(parts)] if parts else []
        beside = posixpath.normpath(posixpath.join(self.folder, path))
        return [
            candidate
            for candidate in (beside, posixpath.normpath(path))
            if not candidate.startswith("..")
        ]

    def _is_there(self, path: str) -> bool:
        try:
            with self.workspace.locate(path) as place:
                return place.exists() and not self.hides(path)
        except CoworkError:
            return False
