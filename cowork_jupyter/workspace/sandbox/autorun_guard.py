"""Watches over what commands leave behind that would run later, outside the sandbox.

Where commands have their own mounts, such files that exist already are read-only for them. Mounts
cannot prevent the creation of new ones. So when a command and all its children have ended, what it
made at such places is set aside, and what it changed is restored (`clean_up`).
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from ...domain.set_aside import BroughtBack
from ..start_up import Kind, start_up
from .autorun import (
    Autorun,
    AutorunFinder,
    Key,
    Opened,
    OpenedFolders,
    followed,
    new_in,
    steps,
)
from .clean_up import Aftermath, Cleaning, CommandSnapshot, is_in
from .places import is_inside
from .saved_content import Mark, SavedContent, contents_of, marks_of
from .set_aside import Cupboard

_COARSE_CLOCK = 5
"""CLOCK_REALTIME_COARSE, which file systems take their times from."""
_MAX_SECONDS_LOOKING = 0.5
"""For what is new in folders that are not entered."""
_MAX_ROUNDS = 5
OWN: Kind = "own"


class AutorunGuard:
    """Shared by all commands of one workspace."""

    def __init__(self, root: str, private: Path, *, own_mounts: bool) -> None:
        """What is set aside goes into `private`, which no command can read."""
        self._finder = AutorunFinder(root, os.path.realpath(private))
        self._root = root
        self._cupboard = Cupboard(root, private / "set-aside")
        self._own_mounts = own_mounts
        self._lock = threading.Lock()
        self._running: list[CommandSnapshot] = []
        self._kept: dict[str, SavedContent] = {}

    def begin(self, opened: Opened) -> CommandSnapshot:
        """Take a snapshot; `read_only` of the result must be read-only for the command."""
        with self._lock:
            found = self._finder.find()
            worth = [place for place in found if place.is_known]
            worth += followed(worth, self._root)
            closed = [
                place for place in worth if not opened.covers(place.path, place.kind, self._root)
            ]
            bound = [place.path for place in closed if self._own_mounts and _can_be_bound(place)]
            before = marks_of(worth)
            run = CommandSnapshot(
                opened=[opened],
                read_only=bound,
                parents={path: self._parents(path) for path in bound},
                environments=frozenset(
                    place.path for place in found if place.kind == "environment"
                ),
                listing=self._finder.listing,
                known={place.key for place in found}
                | {mark.key for mark in before.values()}
                | {key for place in worth for _, key in steps(place.path, self._root)},
                before=before,
                began=_next_tick(),
            )
            open_to_it = {
                path: mark
                for path, mark in before.items()
                if not is_in(path, bound) or _has_other_names(path, mark)
            }
            run.kept = self._kept = contents_of(open_to_it, self._kept)
            for other in self._running:
                other.opened.append(opened)
                run.opened.append(other.opened[0])
            self._running.append(run)
            return run

    def finish(self, run: CommandSnapshot) -> Aftermath:
        """Call when nothing of the command runs any more."""
        with self._lock:
            self._running.remove(run)
            opened = OpenedFolders()
            cleaning = Cleaning(self._root, self._cupboard.new_batch(opened), run, opened)
            try:
                for _ in range(_MAX_ROUNDS):  # what has its former name back is looked into again
                    returned = len(cleaning.known)
                    self._clean(run, cleaning, opened)
                    if len(cleaning.known) == returned:
                        break
                aftermath = cleaning.finish(self._news(run))
            finally:
                opened.close_again()
            self._tell_others(run, cleaning)
            return aftermath

    def _clean(self, run: CommandSnapshot, cleaning: Cleaning, opened: OpenedFolders) -> None:
        installs = any(opened.environments for opened in run.opened)
        found = self._finder.find(None if installs else run.environments, run.began, opened)
        was_there = [place for place in found if place.is_known and place.key in run.known]
        detours = self._detours(was_there, run.known | cleaning.known)
        straight = [place for place in was_there if place.path not in detours]
        now = marks_of([*was_there, *followed(straight, self._root)])
        for path, key in _made(found, now, dict(detours.values()), run):
            is_settled = cleaning.is_over(path) or self._is_protected(path, run)
            if not is_settled and not self._is_open(path, found, run):
                cleaning.disarm(path, key)
        for path, saved in run.kept.items():
            is_ours = run.before.get(path) == saved.mark  # else kept for an earlier command
            is_same = now.get(path) == saved.mark and not cleaning.is_over(path)
            if is_ours and not is_same and not self._is_open(path, found, run):
                cleaning.restore(path)

    def _detours(self, places: list[Autorun], known: set[Key]) -> dict[str, tuple[str, Key]]:
        """Links of the user's, and through what they lead now that was not there."""
        found = dict[str, tuple[str, Key]]()
        for place in places:
            new = (step for step in steps(place.path, self._root) if step[1] not in known)
            if first := next(new, None):
                found[place.path] = first
        return found

    def bring_back(self, batch: str) -> BroughtBack:
        with self._lock:
            returned = self._cupboard.bring_back(batch)
            for other in self._running:  # the user's wish counts for commands that run meanwhile
                paths = tuple(f"{self._root}/{path}" for path in returned.restored)
                other.opened.append(Opened(paths))
            return returned

    def _tell_others(self, run: CommandSnapshot, cleaning: Cleaning) -> None:
        """What one command created must not be restored after another that ran concurrently."""
        gone = [f"{self._root}/{path}" for path in cleaning.moved]
        for other in self._running:
            for path in [known_path for known_path in other.before if is_in(known_path, gone)]:
                del other.before[path]
            restored = [f"{self._root}/{path}" for path in cleaning.restored]
            again = {path: run.before[path] for path in restored if path in run.before}
            other.before |= again
            other.known |= cleaning.known
            other.kept = {path: other.kept[path] for path in other.kept if path in other.before}
            other.kept |= {path: run.kept[path] for path in again if path in run.kept}

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

    def _is_open(self, path: str, found: list[Autorun], run: CommandSnapshot) -> bool:
        """Whether the user let a command write it, or what it is in."""
        kinds = {place.kind for place in found if is_inside(path, place.path)} or {OWN}
        return any(opened.covers(path, kind, self._root) for kind in kinds for opened in run.opened)

    def _is_protected(self, path: str, run: CommandSnapshot) -> bool:
        """Whether it was read-only for the command, and is still the same place."""
        return any(
            is_inside(path, bound) and self._parents(bound) == run.parents[bound]
            for bound in run.read_only
        )

    def _news(self, run: CommandSnapshot) -> Iterator[str]:
        """What the command made in folders that are not entered, and in unknown hidden ones."""
        if any(opened.environments or self._root in opened.paths for opened in run.opened):
            return
        until = time.monotonic() + _MAX_SECONDS_LOOKING
        before = {path for listed in run.listing.values() for path in listed.unentered}
        for folder, listed in self._finder.listing.items():
            for path in listed.unentered:
                yield from new_in(path, run.began, until) if path in before else [path]
            was = run.listing.get(folder)
            if was and was is not listed and any(map(start_up, self._names(folder))):
                known = set(was.entries())
                yield from (
                    f"{folder}/{entry[0]}" for entry in listed.entries() if entry not in known
                )

    def _names(self, path: str) -> list[str]:
        return path[len(self._root) + 1 :].casefold().split("/")


def _next_tick() -> int:
    """Waits until files that are made from now on have a later time than all that are there."""
    started = now = time.clock_gettime_ns(_COARSE_CLOCK)
    while now == started:
        time.sleep(0.001)
        now = time.clock_gettime_ns(_COARSE_CLOCK)
    return now


def _made(
    found: list[Autorun], now: dict[str, Mark], detours: dict[str, Key], run: CommandSnapshot
) -> list[tuple[str, Key]]:
    """What is there now that was not, or was something else; outermost first."""
    keys = {place.path: place.key for place in found}
    keys |= {path: mark.key for path, mark in now.items()} | detours
    return sorted((path, key) for path, key in keys.items() if key not in run.known)


def _has_other_names(path: str, mark: Mark) -> bool:
    """By one of those it can be changed although this one is read-only."""
    try:
        return mark.type == stat.S_IFREG and os.lstat(path).st_nlink > 1
    except OSError:
        return False


def _can_be_bound(place: Autorun) -> bool:
    """Only parts of a repository are protected; nothing can be mounted on a symlink."""
    if os.path.islink(place.path):  # noqa: PTH114
        return False
    is_repository = place.kind == "git" and place.key[1] == ".git"
    return not is_repository or not Path(place.path).is_dir()
