"""Suggestions for files that were not found."""

from __future__ import annotations

import difflib
from itertools import islice

from ..domain.errors import CoworkError, NotFound
from ..workspace import IgnoreRules, Workspace, visible_files

_MAX_FILES = 5000


def not_found(workspace: Workspace, path: str) -> NotFound:
    """The error suggests up to three files with a similar name."""
    close = close_names(workspace, path)
    names = " or ".join(f"'{name}'" for name in close)
    hint = f" Did you mean {names}?" if close else ""
    return NotFound(f"There is no '{path}' in the workspace.{hint}", details={"close": close})


def close_names(workspace: Workspace, path: str) -> list[str]:
    """Up to three paths: the same name elsewhere first, then similar ones beside it."""
    folder, _, name = path.rpartition("/")
    files = islice(visible_files(workspace, ".", IgnoreRules(workspace)), _MAX_FILES)
    same = [file for file in files if file.rpartition("/")[2].lower() == name.lower()]
    beside = _names_in(workspace, folder or ".")
    similar = difflib.get_close_matches(name, beside, n=3)
    found = [*same, *(f"{folder}/{other}" if folder else other for other in similar)]
    return list(dict.fromkeys(found))[:3]


def _names_in(workspace: Workspace, folder: str) -> list[str]:
    try:
        with workspace.locate(folder) as place:
            return [entry.name for entry in place.entries()]
    except CoworkError:
        return []
