"""Paths as rules see them: resolved targets, and patterns in gitignore's style.

A pattern is anchored by its beginning: `/data` is in the workspace, `~/data` in the home folder,
`//data` anywhere on the machine. Otherwise it is read like a line of a `.gitignore` at the top of
the workspace. What matches a folder matches everything in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from ..workspace.ignore import Glob

_SPECIAL = re.compile(r"([\\*?\[\]{}])")
_MAX_PATH_DEPTH = 300
"""Deeper paths are treated as nowhere; the tools open none that deep."""
_NOWHERE = "/\0"
"""An impossible path, outside every folder."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class AnchorDirs:
    root: str
    """The workspace's real path."""
    home: str
    top: str = "/"

    @classmethod
    def of(cls, workspace: Path, home: Path | None = None) -> AnchorDirs:
        return cls(os.path.realpath(workspace), os.path.realpath(home or Path.home()))


@dataclass(frozen=True)
class Target:
    """One path of a call: as spelled, and resolved."""

    spelled: str
    real: str

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        return (self.spelled,) if self.spelled == self.real else (self.spelled, self.real)

    def is_inside(self, folder: str) -> bool:
        return all(relative_to(each, folder) is not None for each in self.spellings)

    def label(self, anchors: AnchorDirs) -> str:
        """For cards: relative to the workspace, with the target of a symlink."""
        names = [relative_to(each, anchors.root) or each for each in self.spellings]
        return names[0] if len(names) == 1 else f"{names[0]} → {names[1]}"


def target_of(anchors: AnchorDirs, path: str, folder: str = "", *, follow: bool = True) -> Target:
    """Resolve a path relative to a folder; `follow` the last link, as for opening, or not, as for
    removing.
    """
    if not _can_be_path(path):  # opening it will fail
        return Target(_NOWHERE, _NOWHERE)
    base = folder or anchors.root
    if path == "~" or path.startswith("~/"):
        path = anchors.home + path[1:]
    joined = os.path.join(base, path)  # noqa: PTH118 (Path would drop what we must see)
    if os.path.normpath(joined).count("/") > _MAX_PATH_DEPTH:
        return Target(_NOWHERE, _NOWHERE)
    if follow:
        return Target(_normal(joined), _real(joined))
    parent, name = os.path.split(joined.rstrip("/"))
    real = os.path.join(_real(parent), name)  # noqa: PTH118
    return Target(_normal(joined), _normal(real))


def _normal(path: str) -> str:
    """Normalise; `normpath` keeps two leading slashes."""
    plain = os.path.normpath(path)
    return plain[1:] if plain.startswith("//") else plain


def _real(path: str) -> str:
    """A path that is being swapped right now counts as outside."""
    try:
        return os.path.realpath(path)
    except OSError:
        return _NOWHERE


def _can_be_path(path: str) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def relative_to(path: str, folder: str) -> str | None:
    """The path relative to a folder; `.` for the folder itself, None if it is not inside."""
    if path == folder:
        return "."
    start = folder.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else None


_relative = lru_cache(maxsize=256)(relative_to)
"""Cached, because one path is matched against hundreds of patterns."""


ANCHORS = ("root", "home", "top")
Place = tuple[str, str]
"""An anchor, and a path below it."""


class PathPattern:
    """Raises ValueError, with the reason, for an invalid pattern."""

    def __init__(self, text: str) -> None:
        if not text.strip() or "\0" in text:
            raise ValueError("the pattern is empty")
        if text.startswith("!"):
            raise ValueError("a rule cannot start with '!'")
        if ".." in text.split("/"):
            raise ValueError("a pattern cannot contain '..'")
        self._anchor, rest = _anchored(text)
        # A folder's pattern covers everything in it, so a trailing slash adds nothing.
        rest = rest.rstrip("/")
        self._glob = Glob(rest or "**")
        self._literal = _ESCAPED.sub(r"\1", rest[1:]) if _is_literal(rest) else None
        """Most rules name one file; comparing is a hundred times faster than a glob."""
        self._literal_folder = f"{self._literal}/"
        self._head = "" if "{" in rest else _literal_head(rest)

    @property
    def place(self) -> Place:
        """What matches is this path, or below it."""
        return self._anchor, self._head.rstrip("/") if self._literal is None else self._literal

    def literal(self, anchors: AnchorDirs) -> str | None:
        """The one path that it names; None if it may cover others."""
        if self._literal is None:
            return None
        return f"{getattr(anchors, self._anchor).rstrip('/')}/{self._literal}"

    def matches(self, path: str, anchors: AnchorDirs) -> bool:
        """Whether an absolute path, or a folder above it, matches."""
        relative = _relative(path, getattr(anchors, self._anchor))
        if relative is None:
            return False
        if self._literal is not None:
            exactly = relative == self._literal or not self._literal
            return exactly or relative.startswith(self._literal_folder)
        if not relative.startswith(self._head):
            return False
        parts = relative.split("/")
        return any(self._glob.matches("/".join(parts[:n])) for n in range(1, len(parts) + 1))


def places_of(path: str, anchors: AnchorDirs) -> Iterator[Place]:
    """The places of all patterns that can match an absolute path."""
    for anchor in ANCHORS:
        relative = _relative(path, getattr(anchors, anchor))
        if relative is not None:
            yield anchor, ""
            folders = (end for end, char in enumerate(relative) if char == "/")
            yield from ((anchor, relative[:end]) for end in (*folders, len(relative)))


@lru_cache(maxsize=4096)
def pattern_of(text: str) -> PathPattern:
    return PathPattern(text)


def _is_literal(rest: str) -> bool:
    """Whether it is one path from the top without special characters."""
    return rest[:1] in ("", "/") and not _SPECIAL.search(_ESCAPED.sub("", rest))


def _literal_head(rest: str) -> str:
    """A literal prefix that excludes most paths quickly."""
    if not rest.startswith("/"):
        return ""
    plain = rest[1 : match.start()] if (match := _SPECIAL.search(rest)) else rest[1:]
    return plain[: plain.rfind("/") + 1]


def _anchored(text: str) -> tuple[str, str]:
    if text == "~" or text.startswith("~/"):
        return "home", "/" + text[2:]
    if text.startswith("//"):
        return "top", text[1:]
    return "root", text.removeprefix(".") if text.startswith("./") else text


def literal_pattern(path: str, anchors: AnchorDirs) -> str:
    """The pattern that matches this absolute path and, if it is a file, nothing else."""
    inside = relative_to(path, anchors.root)
    if inside is None:
        return f"/{escape(path)}"
    return f"/{escape(inside)}" if inside != "." else "/"


def escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
