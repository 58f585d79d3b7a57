"""Files that run later as they were before a command, to be compared and restored."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .autorun import MAX_SIZE, Autorun, Key

MAX_KEPT = 16_000_000
MAX_ENTRIES = 10_000
_START_OF_PYTHON = ("*.pth", "sitecustomize.py", "usercustomize.py")


class Mark(NamedTuple):
    """Changes when a file does; of a folder it is only its identity and name.

    The parent is known by its inode, so that renaming a folder above it makes no difference.
    """

    parent: int
    name: str
    type: int
    number: int
    size: int = 0
    modified: int = 0
    changed: int = 0

    @property
    def key(self) -> Key:
        return self.parent, self.name, self.number


class SavedContent(NamedTuple):
    """A file or symlink, to be restored."""

    mark: Mark
    mode: int
    content: bytes
    """Of a symlink: its target."""


def marks_of(places: Iterable[Autorun]) -> dict[str, Mark]:
    found: dict[str, Mark] = {}
    numbers: dict[str, int] = {}
    for path in dict.fromkeys(entry for place in places for entry in _everything_at(place)):
        parent, _, name = path.rpartition("/")
        with contextlib.suppress(OSError):
            if parent not in numbers:
                numbers[parent] = os.lstat(parent).st_ino
            found[path] = _mark(numbers[parent], name, os.lstat(path))
    return found


def contents_of(
    marks: Mapping[str, Mark], known: Mapping[str, SavedContent]
) -> dict[str, SavedContent]:
    """Read what can be restored; entries of `known` that are unchanged are reused."""
    kept = {
        path: kept_file for path, kept_file in known.items() if marks.get(path) == kept_file.mark
    }
    room = MAX_KEPT - sum(len(kept_file.content) for kept_file in kept.values())
    for path, mark in marks.items():
        if path in kept or mark.type == stat.S_IFDIR or mark.size > min(MAX_SIZE, room):
            continue
        with contextlib.suppress(OSError):
            kept[path] = _read(path, mark)
            room -= len(kept[path].content)
    return kept


def _everything_at(place: Autorun) -> Iterator[str]:
    """The place and all in it; of environments only what Python reads at startup."""
    path = place.path
    if place.kind == "environment":
        yield f"{path}/pyvenv.cfg"
        for packages in (Path(path), *Path(path).glob("lib*/python*/site-packages")):
            for pattern in _START_OF_PYTHON:
                yield from map(str, packages.glob(pattern))
        return
    yield path
    if os.path.islink(path) or (place.kind == "git" and place.key[1] == ".git"):  # noqa: PTH114
        return
    seen = 0
    for folder, folders, files in os.walk(path):
        yield from (f"{folder}/{name}" for name in (*folders, *files))
        seen += len(folders) + len(files)
        if seen > MAX_ENTRIES:
            return


def _mark(parent: int, name: str, facts: os.stat_result) -> Mark:
    kind = stat.S_IFMT(facts.st_mode)
    if kind == stat.S_IFDIR:
        return Mark(parent, name, kind, facts.st_ino)
    times = facts.st_mtime_ns, facts.st_ctime_ns
    return Mark(parent, name, kind, facts.st_ino, facts.st_size, *times)


def _read(path: str, mark: Mark) -> SavedContent:
    if mark.type == stat.S_IFLNK:
        return SavedContent(mark, 0, os.fsencode(os.readlink(path)))  # noqa: PTH115
    if mark.type != stat.S_IFREG:
        raise OSError("neither a file nor a link")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        return SavedContent(mark, stat.S_IMODE(os.fstat(descriptor).st_mode), file.read(MAX_SIZE))
