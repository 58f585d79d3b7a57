"""What a command sees: the Landlock ruleset and the mounts of one workspace, cached.

They are rebuilt when an entry came or went in a folder that had to be split. Until then a new entry
cannot be read, which is the safe way to be out of date.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .landlock import Access, Ruleset
from .namespaces import Bind, Namespaces
from .places import Places, devices, is_inside, needed_in_run
from .scratch import Scratch

_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - covered or allowed, not used
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - covered, not used
_RUN = "/run"
_COVERED = (*_TEMPORARY, _RUN, _SHARED_MEMORY)


@dataclass(frozen=True)
class Viewer:
    may_write: bool
    tcp: bool
    namespaces: Namespaces
    version: int
    hidden: frozenset[str] = frozenset()
    """What it must not read beside what nobody may."""
    readable: frozenset[str] = frozenset()
    """What it may read of the home, beside what everybody may."""
    state: frozenset[str] = frozenset()
    program: str = ""


class View:
    def __init__(self, viewer: Viewer, places: Places, scratch: Scratch, workspace: int) -> None:
        self._root = os.fstat(workspace)
        self._split: dict[str, int] = {}
        self.binds = list(mounts(viewer.may_write, places, scratch))
        self.empty = covered_with_nothing(places)
        self.hidden = places.hidden_below(places.root)
        self.ruleset = Ruleset(tcp=viewer.tcp, version=viewer.version)
        try:
            self._fill(viewer, places, scratch, workspace)
        except BaseException:
            self.ruleset.close()
            raise

    def is_current(self, workspace: int) -> bool:
        """Whether it is of this folder, and no split folder has changed."""
        return os.path.samestat(os.fstat(workspace), self._root) and all(
            _changed(path) == when for path, when in self._split.items()
        )

    def close(self) -> None:
        self.ruleset.close()

    def _fill(self, viewer: Viewer, places: Places, scratch: Scratch, workspace: int) -> None:
        rules = self.ruleset
        self._allow("read", places.readable())
        rules.allow_paths("read", needed_in_run())
        rules.allow_paths("device", devices())
        temporary = scratch.work if viewer.may_write else scratch.tests
        memory = str(scratch.memory) if viewer.namespaces else _SHARED_MEMORY
        rules.allow_paths("write", [str(temporary), memory])
        self._allow("write", places.state_parts())
        hidden = places.hidden_below(places.root)
        # Mounts can protect a file in a writable folder, Landlock alone cannot. Nor can mounts
        # prevent the creation of a start-up file that does not exist yet.
        if places.holds_home or (hidden and not viewer.namespaces):
            if viewer.may_write:
                self._allow("write", places.writable_parts())
        else:
            rules.allow("write" if viewer.may_write else "read", workspace, is_folder=True)

    def _allow(self, access: Access, parts: Iterable[tuple[str, bool]]) -> None:
        for path, is_split in parts:
            if is_split:
                self._split[path] = _changed(path)
            self.ruleset.allow_paths("list" if is_split else access, [path])


def covered_with_nothing(places: Places) -> list[str]:
    """What is needed in these is mounted into them again."""
    return [_RUN, *places.homes]


def mounts(may_write: bool, places: Places, scratch: Scratch) -> Iterable[Bind]:
    temporary = str(scratch.work if may_write else scratch.tests)
    for target in filter(os.path.isdir, _TEMPORARY):
        yield Bind(temporary, target, writable=True)
    yield Bind(str(scratch.memory), _SHARED_MEMORY, writable=True, optional=True)
    for path in needed_in_run():
        yield Bind(path, path)
    covered = (*_COVERED, *places.homes)
    needed = {path: path for path in places.needed} | dict(places.at_home)
    outermost = _outermost(needed)
    for path, source in sorted(needed.items()):
        is_there = is_inside(path, places.root) or (source == path and path not in outermost)
        if _is_in(path, covered) and not is_there:
            yield Bind(source, path)
    for path, is_split in places.state_parts():
        if not is_split:
            yield Bind(path, path, writable=True, optional=True)
    yield from _workspace(may_write, places)
    for path in _outermost(path for path in places.hidden if path not in (*covered, "/dev")):
        if not _is_in(path, covered) or _is_in(path, places.needed):
            empty = scratch.empty if Path(path).is_dir() else scratch.nothing
            yield Bind(str(empty), path, optional=True)


def _workspace(may_write: bool, places: Places) -> Iterable[Bind]:
    if places.holds_home:
        # Part by part, so that no start-up file can be created that does not exist yet.
        yield Bind(places.root, places.root)
        for path, is_split in places.writable_parts():
            if may_write and not is_split:
                yield Bind(path, path, writable=True, optional=True)
        return
    yield Bind(places.root, places.root, writable=may_write)


def read_only_mounts(paths: Iterable[str], root: str, hidden: Iterable[str]) -> Iterable[Bind]:
    """The mounts on top of a writable workspace that protect these, unless they are hidden.

    The repository is one, too, so that it cannot be replaced.
    """
    paths = [path for path in paths if not _is_in(path, hidden)]
    repository = f"{root}/.git"
    if any(is_inside(path, repository) for path in paths) and not os.path.islink(repository):  # noqa: PTH114
        yield Bind(repository, repository, writable=True, optional=True)
    for path in _outermost(paths):
        yield Bind(path, path, optional=True)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Those that exist and are not inside another of them."""
    kept: list[str] = []
    for path in sorted(filter(os.path.lexists, paths)):
        if not any(is_inside(path, outer) for outer in kept):
            kept.append(path)
    return kept


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(is_inside(path, folder) for folder in folders)


def _changed(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
