"""Wording of notes: names in code marks, people's words in quotes, neither of which can become
other Markdown in the file, or longer than a line should be.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from ...domain.errors import CoworkError
from ...policy.visible import visible
from ...record.markdown import code, line
from ...tools.kernel.inside.plain import is_secret_name
from ...tools.table_facts import table_facts
from ...workspace import Workspace

MAX_COLUMNS = 20
MAX_WORDS = 160
_NAME = re.compile(r"[\w .,%()/#&+°€$£:'-]{1,60}")
_MAX_WORDS_OF_NAME = 6
"""A longer one is a sentence, and may be a prompt injection."""


@dataclass(frozen=True)
class Wording:
    mask: Callable[[str], str] = str
    """Hides what looks like a key, and where somebody's home is."""
    hides: Callable[[str], bool] = lambda _path: False

    def path(self, path: str) -> str:
        return code(visible(path))

    def columns(self, names: Iterable[str]) -> str:
        """Only counts those that could be something else than names."""
        known = list(dict.fromkeys(names))
        visible_names = [name for name in known if self.is_name(name)][:MAX_COLUMNS]
        more = len(known) - len(visible_names)
        listed = [*(code(name) for name in visible_names), *([f"{more} more"] if more else [])]
        return ", ".join(listed)

    def is_name(self, name: str) -> bool:
        return (
            bool(_NAME.fullmatch(name))
            and len(name.split()) <= _MAX_WORDS_OF_NAME
            and not is_secret_name(name)
            and self.mask(name) == name
        )

    def quoted(self, words: str) -> str:
        """Somebody's own words; empty if they name a hidden file."""
        said = " ".join(words.split())
        if self._names_hidden(said):
            return ""
        short = said if len(said) <= MAX_WORDS else f"{said[: MAX_WORDS - 1]}…"
        plain = visible(line(self.mask(short))).translate(_QUOTES)
        return f"“{plain}”" if plain else ""

    def command(self, command: str) -> str:
        """Empty if it names a hidden file or contains a key."""
        is_plain = self.mask(command) == command and not self._names_hidden(command)
        return code(visible(command)) if is_plain else ""

    def _names_hidden(self, text: str) -> bool:
        return any(map(self.hides, filter(_PATH_LIKE.search, _WORD.findall(text))))


_WORD = re.compile(r"[^\s'\"`“”,;()<>]+")
_PATH_LIKE = re.compile(r"[./]\w")
_QUOTES = str.maketrans({"“": '"', "”": '"', "`": "'"})


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
            self._found[path] = next(filter(self._exists, self._inside(path)), None)
        return self._found[path]

    def table(self, path: str) -> str | None:
        return self.find(path) if path.lower().endswith(_TABLES) else None

    def header(self, path: str) -> list[str]:
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
        candidates = map(posixpath.normpath, (posixpath.join(self.folder, path), path))
        return [candidate for candidate in candidates if not candidate.startswith("..")]

    def _exists(self, path: str) -> bool:
        try:
            with self.workspace.locate(path) as place:
                return place.exists() and not self.hides(path)
        except CoworkError:
            return False
