"""Finds files in the workspace that run automatically later, outside the sandbox.

Git hooks and settings, environments that kernels and shells start from, editor tasks, our own
settings and Jupyter's. Unchanged folders are not listed again: a folder's change time is set by the
kernel, and no command can set it back.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from .places import is_inside

Kind = Literal["own", "editor", "git", "environment"]

_NAMES: dict[str, Kind] = {
    ".cowork": "own",
    ".jupyter": "own",
    ".ipython": "own",
    ".vscode": "editor",
    ".idea": "editor",
    ".envrc": "editor",
    ".mcp.json": "editor",
    ".git": "git",
}
_OF_GIT = ("config", "config.worktree", "commondir", "hooks")
"""Name programs to run, or say where else to look for such settings."""
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_NOT_ENTERED = frozenset(
    {"node_modules", "__pycache__", ".tox", ".nox", ".cache", ".npm", ".cargo", ".Trash"}
)
"""Nothing starts from there, and there may be thousands of folders."""
_YOUNG = 2_000_000_000
"""Nanoseconds in which a second change might not show in a folder's times."""


class Autorun(NamedTuple):
    path: str
    kind: Kind


@dataclass(frozen=True)
class Opened:
    """What the user let one command write of these. It is pickled with a clearance."""

    paths: tuple[str, ...] = ()
    """Files and folders that the command named; the workspace itself stands for all but `own`."""
    git: bool = False
    environments: bool = False

    def covers(self, path: str, kind: Kind, root: str) -> bool:
        if (kind == "git" and self.git) or (kind == "environment" and self.environments):
            return True
        return any(
            is_inside(opened_path, path)
            or (is_inside(path, opened_path) and (opened_path != root or kind != "own"))
            for opened_path in self.paths
        )


NOTHING_OPENED = Opened()


@dataclass(frozen=True)
class _Listed:
    mark: tuple[int, int, int]
    seen: int
    folders: tuple[str, ...]
    places: tuple[Autorun, ...]
    is_environment: bool

    def is_still(self, mark: tuple[int, int, int]) -> bool:
        return mark == self.mark and max(mark[1:]) < self.seen - _YOUNG


class AutorunFinder:
    """Scans one workspace repeatedly, with a cache."""

    def __init__(self, root: str, private: str = "") -> None:
        """`private` is a folder that commands cannot see; it is skipped."""
        self.root = root
        self._private = private
        self._known: dict[str, _Listed] = {}

    def find(self, environments: frozenset[str] | None = None, since: int = 0) -> list[Autorun]:
        """Everything found now: symlinks, and their targets inside the workspace.

        After a command, pass the `environments` of before: a command can turn any folder into one,
        which would not be looked into. Folders it made unreadable `since` are opened again.
        """
        known: dict[str, _Listed] = {}
        found: list[Autorun] = []
        waiting = deque([self.root])
        while waiting:
            folder = waiting.popleft()
            listed = None if folder == self._private else self._listed(folder, since)
            if listed is None:
                continue
            known[folder] = listed
            if listed.is_environment and (environments is None or folder in environments):
                found.append(Autorun(folder, "environment"))
            else:
                found += listed.places
                waiting += listed.folders
        self._known = known
        return [part for place in found for part in self._whole(place)]

    def _listed(self, folder: str, since: int) -> _Listed | None:
        try:
            facts = os.lstat(folder)
            mark = facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns
            known = self._known.get(folder)
            if known and known.is_still(mark):
                return known
            seen = time.time_ns()
            if since and facts.st_ctime_ns >= since:
                open_up(folder, facts)
            with os.scandir(folder) as entries:
                names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except OSError:  # gone or unreadable; then commands cannot read it either
            return None
        named = {name: _NAMES.get(name.lower()) for name in names}
        places = [Autorun(f"{folder}/{name}", kind) for name, kind in named.items() if kind]
        entered = (name for name, is_folder in names.items() if is_folder and not named[name])
        folders = tuple(f"{folder}/{name}" for name in entered if name not in _NOT_ENTERED)
        is_environment = not _ENVIRONMENT_MARKS.isdisjoint(names)
        if is_environment and folder == self.root:
            places += [Autorun(path, "environment") for path in _site_packages(folder)]
            is_environment = False
        return _Listed(mark, seen, folders, tuple(places), is_environment)

    def _whole(self, place: Autorun) -> Iterator[Autorun]:
        parts = _inside_git(place.path) if place.kind == "git" else ()
        for part in (place, *parts):
            yield part
            is_repository = part is place and place.kind == "git"
            if os.path.islink(part.path) and not is_repository:  # noqa: PTH114 - thousands
                real = os.path.realpath(part.path)
                if is_inside(real, self.root) and real != self.root and os.path.lexists(real):
                    yield Autorun(real, part.kind)


def open_up(folder: str, facts: os.stat_result) -> None:
    """Make sure that we can list and move a folder of ours."""
    if facts.st_uid == os.getuid() and facts.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        held = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.chmod(f"/proc/self/fd/{held}", stat.S_IMODE(facts.st_mode) | stat.S_IRWXU)  # noqa: PTH101
        finally:
            os.close(held)


def _inside_git(folder: str) -> Iterator[Autorun]:
    """The parts of a repository that matter, including its submodules and worktrees."""
    for name in _OF_GIT:
        path = f"{folder}/{name}"
        if os.path.lexists(path):
            yield Autorun(path, "git")
    for name in ("modules", "worktrees"):
        for head in sorted(Path(folder, name).glob("**/HEAD")):
            if head.parent.name not in ("logs", "refs"):
                yield from _inside_git(str(head.parent))


def _site_packages(folder: str) -> list[str]:
    """For a workspace that is itself an environment: protect only what Python starts from."""
    return [str(path) for path in Path(folder).glob("lib*/python*/site-packages")]


MAX_SIZE = 1_000_000
"""Larger files are not restored, where they cannot be made read-only."""
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
    if os.path.islink(path) or (place.kind == "git" and Path(path).name == ".git"):  # noqa: PTH114
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
