"""What a command sees: the Landlock ruleset and the mounts of one workspace, cached.

They are rebuilt when an entry came or went in a folder that had to be split. Until then a new entry
cannot be read, which is the safe way to be out of date. `bwrap` makes the same mounts for kernels
without Landlock.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .confine import Bind, Namespaces
from .landlock import Access, Ruleset
from .path_access import PathAccess, devices, is_inside, is_inside_any, needed_in_run
from .scratch import Scratch

_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - covered or allowed, not used
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - covered, not used
_RUN = "/run"
_COVERED = (*_TEMPORARY, _RUN, _SHARED_MEMORY)


@dataclass(frozen=True)
class ViewKey:
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
    def __init__(self, key: ViewKey, paths: PathAccess, scratch: Scratch, workspace: int) -> None:
        self._root = os.fstat(workspace)
        self._split: dict[str, int] = {}
        self.binds = list(mounts(key.may_write, paths, scratch))
        self.empty = covered_with_nothing(paths)
        self.hidden = paths.hidden_below(paths.root)
        self.ruleset = Ruleset(tcp=key.tcp, version=key.version)
        try:
            self._fill(key, paths, scratch, workspace)
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

    def _fill(self, key: ViewKey, paths: PathAccess, scratch: Scratch, workspace: int) -> None:
        rules = self.ruleset
        self._allow("read", paths.readable())
        rules.allow_paths("read", needed_in_run())
        rules.allow_paths("device", devices())
        temporary = scratch.work if key.may_write else scratch.tests
        memory = str(scratch.memory) if key.namespaces else _SHARED_MEMORY
        rules.allow_paths("write", [str(temporary), memory])
        self._allow("write", paths.state_parts())
        hidden = paths.hidden_below(paths.root)
        # Mounts can protect a file in a writable folder, Landlock alone cannot. Nor can mounts
        # prevent the creation of a start-up file that does not exist yet.
        if paths.holds_home or (hidden and not key.namespaces):
            if key.may_write:
                self._allow("write", paths.writable_parts())
        else:
            rules.allow("write" if key.may_write else "read", workspace, is_folder=True)

    def _allow(self, access: Access, parts: Iterable[tuple[str, bool]]) -> None:
        for path, is_split in parts:
            if is_split:
                self._split[path] = _changed(path)
            self.ruleset.allow_paths("list" if is_split else access, [path])


def covered_with_nothing(paths: PathAccess) -> list[str]:
    """What is needed in these is mounted into them again."""
    return [_RUN, *paths.homes]


def mounts(may_write: bool, paths: PathAccess, scratch: Scratch) -> Iterable[Bind]:
    temporary = str(scratch.work if may_write else scratch.tests)
    for target in filter(os.path.isdir, _TEMPORARY):
        yield Bind(temporary, target, writable=True)
    yield Bind(str(scratch.memory), _SHARED_MEMORY, writable=True, optional=True)
    for path in needed_in_run():
        yield Bind(path, path)
    covered = (*_COVERED, *paths.homes)
    needed = {path: path for path in paths.needed} | dict(paths.at_home)
    outermost = _outermost(needed)
    for path, source in sorted(needed.items()):
        is_there = is_inside(path, paths.root) or (source == path and path not in outermost)
        if is_inside_any(path, covered) and not is_there:
            yield Bind(source, path)
    for path, is_split in paths.state_parts():
        if not is_split:
            yield Bind(path, path, writable=True, optional=True)
    yield from _workspace(may_write, paths)
    for path in _outermost(path for path in paths.hidden if path not in (*covered, "/dev")):
        if not is_inside_any(path, covered) or is_inside_any(path, paths.needed):
            empty = scratch.empty if Path(path).is_dir() else scratch.nothing
            yield Bind(str(empty), path, optional=True)


def _workspace(may_write: bool, paths: PathAccess) -> Iterable[Bind]:
    if paths.holds_home:
        # Part by part, so that no start-up file can be created that does not exist yet.
        yield Bind(paths.root, paths.root)
        for path, is_split in paths.writable_parts():
            if may_write and not is_split:
                yield Bind(path, path, writable=True, optional=True)
        return
    yield Bind(paths.root, paths.root, writable=may_write)


def read_only_mounts(paths: Iterable[str], root: str, hidden: Iterable[str]) -> Iterable[Bind]:
    """The mounts on top of a writable workspace that protect these, unless they are hidden.

    The repository is one, too, so that it cannot be replaced.
    """
    paths = [path for path in paths if not is_inside_any(path, hidden)]
    repository = f"{root}/.git"
    if any(is_inside(path, repository) for path in paths) and not os.path.islink(repository):  # noqa: PTH114
        yield Bind(repository, repository, writable=True, optional=True)
    for path in _outermost(paths):
        yield Bind(path, path, optional=True)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Those that exist and are not inside another of them."""
    kept: list[str] = []
    for path in sorted(filter(os.path.lexists, paths)):
        if not is_inside_any(path, kept):
            kept.append(path)
    return kept


def _changed(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


_SETTINGS_OF_THE_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/bus", "/proc/fs", "/proc/irq")
"""Root could change them in its own /proc."""


def bubblewrap_program() -> str | None:
    """Path of `bwrap`, if it is installed and works on this machine."""
    program = shutil.which("bwrap")
    return program if program and _works(program) else None


def is_set_user_id(program: str) -> bool:
    """Whether it is installed to run as root, as some systems require."""
    return bool(Path(program).stat().st_mode & stat.S_ISUID)


@cache
def _works(program: str) -> bool:
    trial = [program, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    done = subprocess.run(trial, capture_output=True, check=False)  # noqa: S603 - ours
    return done.returncode == 0


def bwrap_command(
    program: str,
    arguments: Sequence[str],
    *,
    binds: Sequence[Bind],
    empty: Sequence[str],
    folder: str,
    network: bool,
) -> list[str]:
    options = [program, "--die-with-parent", "--unshare-all", "--cap-drop", "ALL"]
    options += ["--share-net"] if network else []
    options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in filter(os.path.exists, _SETTINGS_OF_THE_KERNEL):
        options += ["--ro-bind", path, path]
    for path in filter(os.path.isdir, empty):
        options += ["--tmpfs", path]
    for bind in binds:
        if not bind.optional or os.path.lexists(bind.target):
            options += ["--bind" if bind.writable else "--ro-bind", bind.source, bind.target]
    return [*options, "--chdir", folder, "--", *arguments]
