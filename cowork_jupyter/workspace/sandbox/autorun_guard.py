"""Undoes what commands leave behind that would run later, outside the sandbox.

Where commands have their own mounts, such files that exist already are read-only for them. Mounts
cannot prevent the creation of new ones. So when a command and all its children have ended, new or
changed files at such places are quarantined, and the old ones restored.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..no_follow import CREATE, is_own, parent_of, remember
from .autorun import (
    Autorun,
    AutorunFinder,
    Kind,
    Mark,
    Opened,
    SavedContent,
    contents_of,
    marks_of,
    open_up,
)
from .places import is_inside

_LASTS = 30 * 24 * 3600
"""Seconds for which quarantined files are kept."""
_TICK = 50_000_000
"""Nanoseconds by which a file system's clock may lag behind ours."""


@dataclass(eq=False)
class RunningCommand:
    opened: list[Opened]
    """Its own, and those of commands that ran concurrently."""
    read_only: list[str]
    """Paths mounted read-only for it; only others are compared afterwards."""
    parents: dict[str, tuple[int, ...]]
    """Inodes of the folders above each read-only path: if they changed, it may be another place."""
    environments: frozenset[str]
    before: dict[str, Mark]
    began: int
    """In nanoseconds."""
    kept: dict[str, SavedContent] = field(default_factory=dict)


class AutorunGuard:
    """Shared by all commands of one workspace."""

    def __init__(self, root: str, private: Path, *, own_mounts: bool) -> None:
        """Quarantined files go into `private`, which no command can read."""
        self._finder = AutorunFinder(root, os.path.realpath(private))
        self._root = root
        self._aside = private / "set-aside"
        self._own_mounts = own_mounts
        self._lock = threading.Lock()
        self._running: list[RunningCommand] = []
        self._kept: dict[str, SavedContent] = {}

    def begin(self, opened: Opened) -> RunningCommand:
        """Take a snapshot; `read_only` of the result must be read-only for the command."""
        with self._lock:
            found = self._finder.find()
            closed = [place for place in found if not opened.covers(*place, self._root)]
            bound = [place.path for place in closed if self._own_mounts and _can_be_bound(place)]
            before = marks_of(found)
            parents = {path: self._parents(path) for path in bound}
            environments = frozenset(place.path for place in found if place.kind == "environment")
            began = time.time_ns() - _TICK
            run = RunningCommand([opened], bound, parents, environments, before, began)
            open_to_it = {path: mark for path, mark in before.items() if not _is_in(path, bound)}
            run.kept = self._kept = contents_of(open_to_it, self._kept)
            for other in self._running:
                other.opened.append(opened)
                run.opened.append(other.opened[0])
            self._running.append(run)
            return run

    def finish(self, run: RunningCommand) -> list[str]:
        """Call when nothing of the command runs any more. Returns what had to be undone."""
        with self._lock:
            self._running.remove(run)
            found = self._finder.find(run.environments, run.began)
            now = marks_of(found)
            known = frozenset(run.before.values())
            kinds = {place.path: place for place in found}
            held = [path for path in run.read_only if self._parents(path) == run.parents[path]]
            gone, stuck = list[str](), list[str]()
            aside = self._aside / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
            for path in sorted(now):
                if now[path] in known or _is_in(path, held) or _is_in(path, gone):
                    continue
                if self._is_open(path, run, kinds) or _is_ours(path) or _holds_own(path, now):
                    continue
                if self._set_aside(path, aside):
                    gone.append(path)
                else:
                    stuck.append(f"{self._relative(path)} (failed: remove it yourself)")
            back = [path for path in run.kept if self._is_missed(path, run, now, gone, kinds)]
            restored = [path for path in back if self._put_back(path, run)]
            self._tell_others(run, gone, restored)
            if gone:
                _forget_old(self._aside)
            return [*map(self._relative, dict.fromkeys((*gone, *restored))), *stuck]

    def _tell_others(self, run: RunningCommand, gone: list[str], restored: list[str]) -> None:
        """What one command created must not be restored after another that ran concurrently."""
        for other in self._running:
            for path in [known_path for known_path in other.before if _is_in(known_path, gone)]:
                del other.before[path]
            other.before |= {path: run.before[path] for path in restored}
            other.kept = {path: other.kept[path] for path in other.kept if path in other.before}
            other.kept |= {path: run.kept[path] for path in restored}

    # --- looking

    def _parents(self, path: str) -> tuple[int, ...]:
        numbers = list[int]()
        above = os.path.dirname(path)  # noqa: PTH120 - thousands of strings
        while is_inside(above, self._root):
            try:
                numbers.append(os.lstat(above).st_ino)
            except OSError:
                return ()
            above = os.path.dirname(above)  # noqa: PTH120
        return tuple(numbers)

    def _is_open(self, path: str, run: RunningCommand, kinds: dict[str, Autorun]) -> bool:
        own: Kind = "own"
        kind = next((place.kind for place in kinds.values() if is_inside(path, place.path)), own)
        return any(opening.covers(path, kind, self._root) for opening in run.opened)

    def _is_missed(
        self,
        path: str,
        run: RunningCommand,
        now: dict[str, Mark],
        gone: list[str],
        kinds: dict[str, Autorun],
    ) -> bool:
        if run.before.get(path) != run.kept[path].mark:
            return False  # kept for an earlier command
        if path in now and not _is_in(path, gone):
            return False
        return not self._is_open(path, run, kinds)

    # --- keeping and putting back

    def _set_aside(self, path: str, aside: Path) -> bool:
        """Quarantine it, or delete it if it cannot be moved."""
        target = aside / self._relative(path)
        try:
            with parent_of(self._root, self._relative(path)) as (folder, name):
                source = f"/proc/self/fd/{folder}/{name}"
                is_folder = stat.S_ISDIR(os.lstat(source).st_mode)
                if is_folder:
                    _open_all(source)
                try:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.move(source, target)
                except OSError:  # no space, or a pipe in it that cannot be copied
                    if is_folder:
                        shutil.rmtree(name, dir_fd=folder)
                    else:
                        os.unlink(name, dir_fd=folder)
        except OSError:
            return False
        return True

    def _put_back(self, path: str, run: RunningCommand) -> bool:
        """Write it anew, with missing folders that were protected; never recreate a repository."""
        kept = run.kept[path]
        closed = {
            self._relative(known_path)
            for known_path in run.before
            if not known_path.endswith("/.git")
        }
        held = parent_of(self._root, self._relative(path), may_make=closed.__contains__)
        try:
            with held as (folder, name):
                if kept.mark.type == stat.S_IFLNK:
                    os.symlink(kept.content, os.fsencode(name), dir_fd=folder)
                    remember(os.stat(name, dir_fd=folder, follow_symlinks=False))
                    return True
                with os.fdopen(os.open(name, CREATE, 0o600, dir_fd=folder), "wb") as file:
                    file.write(kept.content)
                    file.flush()
                    os.fchmod(file.fileno(), kept.mode)
                    remember(os.fstat(file.fileno()))
        except OSError:  # its folder is gone
            return False
        return True

    def _relative(self, path: str) -> str:
        return path[len(self._root) :].lstrip("/")


def _can_be_bound(place: Autorun) -> bool:
    """Only parts of a repository are protected; nothing can be mounted on a symlink."""
    if os.path.islink(place.path):  # noqa: PTH114
        return False
    is_repository = place.kind == "git" and Path(place.path).name == ".git"
    return not is_repository or not Path(place.path).is_dir()


def _open_all(folder: str) -> None:
    """Read-only folders could not be moved."""
    open_up(folder, os.lstat(folder))
    for above, names, _ in os.walk(folder):
        for path in (f"{above}/{name}" for name in names):
            facts = os.lstat(path)
            if stat.S_ISDIR(facts.st_mode):
                open_up(path, facts)


def _is_ours(path: str) -> bool:
    try:
        return is_own(os.lstat(path))
    except OSError:
        return False


def _holds_own(folder: str, now: dict[str, Mark]) -> bool:
    return any(_is_ours(path) for path in now if is_inside(path, folder) and path != folder)


def _is_in(path: str, folders: list[str]) -> bool:
    return any(is_inside(path, folder) for folder in folders)


def _forget_old(aside: Path) -> None:
    for folder in aside.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _LASTS:
                shutil.rmtree(folder, ignore_errors=True)
