"""Files that were renamed or moved: where a path leads by now."""

from __future__ import annotations

from collections.abc import Iterable

from .events import FileMoved


def is_at(path: str, place: str) -> bool:
    """Whether a path, as people write it, is this file, or is in this folder."""
    plain = path.removeprefix("./")
    return plain == place or plain.startswith(f"{place}/")


def moved_path(path: str, old: str, new: str) -> str:
    """The path after a file, or a folder that it is in, has gone from `old` to `new`."""
    return f"{new}{path.removeprefix('./')[len(old) :]}" if is_at(path, old) else path


def current_path(path: str, moves: Iterable[FileMoved]) -> str:
    """The path after all these moves, oldest first."""
    for move in moves:
        path = moved_path(path, move.old, move.new)
    return path
