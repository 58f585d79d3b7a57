"""Watches over what commands leave behind that would run later, and cleans up after each.

Where commands have their own mounts, such files that exist already are read-only for them. Mounts
cannot prevent the creation of new ones. So when a command and all its children have ended, what it
made at such places is moved away, and what it changed is restored.

This code is not confined, and it comes after a command that may have prepared the ground for it.
So only what the command itself made is moved away, known by the time of its birth; what a link
leads to is never touched; what existed before gets its former name back; nothing is deleted.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from ...domain.effects import BroughtBack, SetAside
from ...domain.redaction import without_surrogates
from ..no_follow import CREATE, is_own, parent_of, remember, write_all
from ..start_up import Kind, start_up
from .autorun import (
    MAX_SIZE,
    AutorunFinder,
    AutorunPlace,
    Key,
    Listing,
    Mark,
    OpenedFolders,
    SavedContent,
    WritableAutorun,
    contents_of,
    followed,
    marks_of,
    new_in,
    steps,
)
from .path_access import is_inside, is_inside_any
from .set_aside import SetAsideBatch, SetAsideStore, existed_before
from .syscalls import rename_new

_MAX_WALKED = 20_000
"""Entries of a folder that are looked at before it is moved away."""
_MAX_NEW = 100
_MAX_LISTED = 10


class Aftermath(NamedTuple):
    """What became of what a command left behind. Paths are relative to the workspace."""

    set_aside: tuple[str, ...] = ()
    batch: str = ""
    """What to ask for to have it back; empty if nothing was set aside."""
    restored: tuple[str, ...] = ()
    """Has its former content or name again."""
    stuck: tuple[str, ...] = ()
    """Would run later, and could not be moved."""
    new: tuple[str, ...] = ()
    """Made where nobody looks closely; not touched."""

    def __bool__(self) -> bool:
        return any(self)

    @property
    def undone(self) -> tuple[str, ...]:
        return self.set_aside + self.restored

    @property
    def text(self) -> str:
        """For a card, in a few words."""
        parts = {
            "set aside": self.set_aside,
            "restored": self.restored,
            "could not be set aside": self.stuck,
            "new": self.new,
        }
        return "; ".join(f"{word}: {list_paths(paths)}" for word, paths in parts.items() if paths)

    def facts(self) -> SetAside | None:
        if not self:
            return None
        return SetAside(
            id=self.batch,
            paths=without_surrogates(list(self.set_aside)),
            restored=without_surrogates(list(self.restored)),
            stuck=without_surrogates(list(self.stuck)),
            new=without_surrogates(list(self.new)),
        )


@dataclass(eq=False)
class CommandSnapshot:
    """What was there when a command began."""

    opened: list[WritableAutorun]
    """Its own, and those of commands that ran concurrently."""
    read_only: list[str]
    """Paths mounted read-only for it; only others are compared afterwards."""
    parents: dict[str, tuple[int, ...]]
    """Inodes of the folders above each read-only path: if they changed, it may be another place."""
    environments: frozenset[str]
    listing: Listing
    """All names in the workspace, to give them back."""
    known: set[Key]
    before: dict[str, Mark]
    began: int
    """By the clock of file systems, in nanoseconds."""
    kept: dict[str, SavedContent] = field(default_factory=dict)


class Cleaning:
    def __init__(
        self, root: str, batch: SetAsideBatch, run: CommandSnapshot, opened: OpenedFolders
    ) -> None:
        self._opened = opened
        self._root = root
        self._batch = batch
        self._run = run
        self._inodes: set[int] | None = None
        self.moved: list[str] = []
        """Where nothing that would run is left."""
        self.known: set[Key] = set()
        self.restored: list[str] = []
        self.stuck: list[str] = []

    def is_over(self, path: str) -> bool:
        return is_inside_any(self._relative(path), self.moved)

    def disarm(self, path: str, key: Key) -> None:
        """Move it away if the command made it; what existed before gets its former name back."""
        relative = self._relative(path)
        try:
            with parent_of(self._root, relative) as (folder, name):
                if is_own(os.stat(name, dir_fd=folder, follow_symlinks=False)):
                    return
                if self._existed(folder, name):
                    is_moved = self._give_back(path, folder, name, key)
                    inside = None
                else:
                    is_moved, inside = False, self._look_inside(folder, name)
            match inside:
                case "new":
                    self._batch.move(relative, key[2])
                case "old":
                    self._batch.rename(relative, key[2])
                case "ours":
                    self._disarm_parts(path)
                    return
                case None if not is_moved:
                    return
            self.moved.append(relative)
        except FileNotFoundError:  # somebody was faster
            return
        except OSError:
            self.stuck.append(relative)

    def _disarm_parts(self, folder: str) -> None:
        """A tool of ours has written into this folder while the command ran: that stays."""
        facts = os.lstat(folder)
        with os.scandir(folder) as entries:
            parts = [(entry.path, entry.name, entry.inode()) for entry in entries]
        for path, name, inode in parts:
            self.disarm(path, (facts.st_ino, name, inode))

    def restore(self, path: str) -> None:
        """Give a file that was changed or removed its former content."""
        saved, relative = self._run.kept[path], self._relative(path)
        with contextlib.suppress(OSError):  # its folder is gone
            if self._rewrite(relative, saved) or self._write_anew(relative, saved):
                self.restored.append(relative)

    def finish(self, unexamined: Iterable[str]) -> Aftermath:
        made = tuple(path for path in self.moved if path not in self.restored)
        new = sorted({self._relative(path) for path in unexamined})[:_MAX_NEW]
        return Aftermath(
            set_aside=made,
            batch=self._batch.close(),
            restored=tuple(self.restored),
            stuck=tuple(self.stuck),
            new=tuple(new),
        )

    # --- what is old and what is new

    def _existed(self, folder: int, name: str) -> bool:
        return existed_before(folder, name, self._run.began, self._all_inodes())

    def _all_inodes(self) -> set[int]:
        if self._inodes is None:
            listing = self._run.listing.values()
            self._inodes = {inode for listed in listing for inode in listed.inodes}
        return self._inodes

    def _former(self, inode: int) -> str | None:
        """Where something was before the command."""
        for folder, listed in self._run.listing.items():
            if inode in listed.inodes:
                name = next(name for name, number in listed.entries() if number == inode)
                return f"{folder}/{name}"
        return None

    def _give_back(self, path: str, folder: int, name: str, key: Key) -> bool:
        """Give something old its former name; whether that, or something else, disarmed it."""
        former = self._former(key[2])
        if former == path:  # an old folder that has become an environment, say
            return False
        if former and _is_at(former, key[2]):
            self._batch.move(self._relative(path), key[2])  # only another name of it
        elif not former or not self._move_back(folder, name, former):
            self._batch.rename(self._relative(path), key[2])
        return True

    def _move_back(self, folder: int, name: str, former: str) -> bool:
        relative = self._relative(former)
        try:
            with parent_of(self._root, relative) as (above, old):
                rename_new(folder, name, above, old)
                inode = os.stat(old, dir_fd=above, follow_symlinks=False).st_ino
                self.known.add((os.fstat(above).st_ino, old, inode))
        except OSError:  # its folder is gone, or something else has its name
            return False
        self.restored.append(relative)
        return True

    def _look_inside(self, folder: int, name: str) -> Literal["new", "old", "ours"]:
        """What is in something new, once what was moved into it has its former place back."""
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return "new"
        self._opened.add(folder, name)
        age: Literal["new", "old", "ours"] = "new"
        seen = 0
        for _, folders, files, held in os.fwalk(name, dir_fd=folder, follow_symlinks=False):
            for entry in (*folders, *files):
                seen += 1
                if seen > _MAX_WALKED:
                    return "old"  # perhaps
                facts = os.stat(entry, dir_fd=held, follow_symlinks=False)
                if is_own(facts):
                    return "ours"
                if not self._existed(held, entry):
                    if stat.S_ISDIR(facts.st_mode):
                        self._opened.add(held, entry)
                    continue
                if entry in folders:
                    folders.remove(entry)
                former = self._former(facts.st_ino)
                is_safe = former and _is_at(former, facts.st_ino)
                if not is_safe and not (former and self._move_back(held, entry, former)):
                    age = "old"
        return age

    # --- former contents

    def _rewrite(self, relative: str, saved: SavedContent) -> bool:
        """Where the same file is still there, with other content."""
        with (
            contextlib.suppress(FileNotFoundError),
            parent_of(self._root, relative) as (above, name),
        ):
            facts = os.stat(name, dir_fd=above, follow_symlinks=False)
            now = facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
            mark = saved.mark
            is_same = (facts.st_ino, stat.S_IFMT(facts.st_mode)) == (mark.number, mark.type)
            if not is_same or mark.type != stat.S_IFREG or is_own(facts):
                return False
            if now == (mark.size, mark.modified, mark.changed):
                return False
            os.chmod(name, facts.st_mode | stat.S_IRUSR | stat.S_IWUSR, dir_fd=above)
            flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.open(name, flags, dir_fd=above)
            try:
                self._batch.keep_copy(relative, os.read(file, MAX_SIZE), saved.content)
                os.lseek(file, 0, os.SEEK_SET)
                os.ftruncate(file, 0)
                write_all(file, saved.content)
                os.fchmod(file, saved.mode)
                remember(os.fstat(file))
            finally:
                os.close(file)
            return True
        return False

    def _write_anew(self, relative: str, saved: SavedContent) -> bool:
        """With missing folders that were protected; never recreate a repository."""
        closed = {self._relative(path) for path in self._run.before if not path.endswith("/.git")}
        with parent_of(self._root, relative, may_make=closed.__contains__) as (folder, name):
            try:
                if saved.mark.type == stat.S_IFLNK:
                    os.symlink(saved.content, os.fsencode(name), dir_fd=folder)
                else:
                    with os.fdopen(os.open(name, CREATE, 0o600, dir_fd=folder), "wb") as file:
                        file.write(saved.content)
                        os.fchmod(file.fileno(), saved.mode)
            except FileExistsError:
                return False
            remember(os.stat(name, dir_fd=folder, follow_symlinks=False))
        return True

    def _relative(self, path: str) -> str:
        return path[len(self._root) :].lstrip("/")


def list_paths(paths: Sequence[str]) -> str:
    """Limited: a command may create any number of files with any names."""
    plain = (
        "".join(character if character.isprintable() else "?" for character in path)
        for path in paths
    )
    more = len(paths) - _MAX_LISTED
    text = ", ".join(islice(plain, _MAX_LISTED))
    return f"{text} and {more:,} more" if more > 0 else text


def _is_at(path: str, inode: int) -> bool:
    try:
        return os.lstat(path).st_ino == inode
    except OSError:
        return False


_COARSE_CLOCK = 5
"""CLOCK_REALTIME_COARSE, which file systems take their times from."""
_MAX_SECONDS_LOOKING = 0.5
"""For what is new in folders that are not entered."""
_MAX_ROUNDS = 5
_OWN: Kind = "own"


class AutorunGuard:
    """Shared by all commands of one workspace."""

    def __init__(self, root: str, private: Path, *, own_mounts: bool) -> None:
        """What is set aside goes into `private`, which no command can read."""
        self._finder = AutorunFinder(root, os.path.realpath(private))
        self._root = root
        self._store = SetAsideStore(root, private / "set-aside")
        self._own_mounts = own_mounts
        self._lock = threading.Lock()
        self._running: list[CommandSnapshot] = []
        self._kept: dict[str, SavedContent] = {}

    def begin(self, opened: WritableAutorun) -> CommandSnapshot:
        """Take a snapshot; `read_only` of the result must be read-only for the command."""
        with self._lock:
            places = self._finder.find()
            worth = [place for place in places if place.is_known]
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
                    place.path for place in places if place.kind == "environment"
                ),
                listing=self._finder.listing,
                known={place.key for place in places}
                | {mark.key for mark in before.values()}
                | {key for place in worth for _, key in steps(place.path, self._root)},
                before=before,
                began=_next_tick(),
            )
            open_to_it = {
                path: mark
                for path, mark in before.items()
                if not is_inside_any(path, bound) or _has_other_names(path, mark)
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
            cleaning = Cleaning(self._root, self._store.new_batch(opened), run, opened)
            try:
                for _ in range(_MAX_ROUNDS):  # what has its former name back is looked into again
                    returned = len(cleaning.known)
                    self._clean(run, cleaning, opened)
                    if len(cleaning.known) == returned:
                        break
                aftermath = cleaning.finish(self._unexamined(run))
            finally:
                opened.close_again()
            self._update_running(run, cleaning)
            return aftermath

    def _clean(self, run: CommandSnapshot, cleaning: Cleaning, opened: OpenedFolders) -> None:
        installs = any(opened.environments for opened in run.opened)
        places = self._finder.find(None if installs else run.environments, run.began, opened)
        was_there = [place for place in places if place.is_known and place.key in run.known]
        detours = self._detours(was_there, run.known | cleaning.known)
        straight = [place for place in was_there if place.path not in detours]
        now = marks_of([*was_there, *followed(straight, self._root)])
        for path, key in _made(places, now, dict(detours.values()), run):
            is_settled = cleaning.is_over(path) or self._is_protected(path, run)
            if not is_settled and not self._is_open(path, places, run):
                cleaning.disarm(path, key)
        for path, saved in run.kept.items():
            is_ours = run.before.get(path) == saved.mark  # else kept for an earlier command
            is_same = now.get(path) == saved.mark and not cleaning.is_over(path)
            if is_ours and not is_same and not self._is_open(path, places, run):
                cleaning.restore(path)

    def _detours(self, places: list[AutorunPlace], known: set[Key]) -> dict[str, tuple[str, Key]]:
        """Links of the user's, and through what they lead now that was not there."""
        detours = dict[str, tuple[str, Key]]()
        for place in places:
            new = (step for step in steps(place.path, self._root) if step[1] not in known)
            if first := next(new, None):
                detours[place.path] = first
        return detours

    def bring_back(self, batch: str) -> BroughtBack:
        with self._lock:
            returned = self._store.bring_back(batch)
            for other in self._running:  # the user's wish counts for commands that run meanwhile
                paths = tuple(f"{self._root}/{path}" for path in returned.restored)
                other.opened.append(WritableAutorun(paths))
            return returned

    def _update_running(self, run: CommandSnapshot, cleaning: Cleaning) -> None:
        """What one command created must not be restored after another that ran concurrently."""
        gone = [f"{self._root}/{path}" for path in cleaning.moved]
        for other in self._running:
            for path in [
                known_path for known_path in other.before if is_inside_any(known_path, gone)
            ]:
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

    def _is_open(self, path: str, places: list[AutorunPlace], run: CommandSnapshot) -> bool:
        """Whether the user let a command write it, or what it is in."""
        kinds = {place.kind for place in places if is_inside(path, place.path)} or {_OWN}
        return any(opened.covers(path, kind, self._root) for kind in kinds for opened in run.opened)

    def _is_protected(self, path: str, run: CommandSnapshot) -> bool:
        """Whether it was read-only for the command, and is still the same place."""
        return any(
            is_inside(path, bound) and self._parents(bound) == run.parents[bound]
            for bound in run.read_only
        )

    def _unexamined(self, run: CommandSnapshot) -> Iterator[str]:
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
                former = set(was.entries())
                yield from (
                    f"{folder}/{entry[0]}" for entry in listed.entries() if entry not in former
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
    places: list[AutorunPlace], now: dict[str, Mark], detours: dict[str, Key], run: CommandSnapshot
) -> list[tuple[str, Key]]:
    """What is there now that was not, or was something else; outermost first."""
    keys = {place.path: place.key for place in places}
    keys |= {path: mark.key for path, mark in now.items()} | detours
    return sorted((path, key) for path, key in keys.items() if key not in run.known)


def _has_other_names(path: str, mark: Mark) -> bool:
    """By one of those it can be changed although this one is read-only."""
    try:
        return mark.type == stat.S_IFREG and os.lstat(path).st_nlink > 1
    except OSError:
        return False


def _can_be_bound(place: AutorunPlace) -> bool:
    """Only parts of a repository are protected; nothing can be mounted on a symlink."""
    if os.path.islink(place.path):  # noqa: PTH114
        return False
    is_repository = place.kind == "git" and place.key[1] == ".git"
    return not is_repository or not Path(place.path).is_dir()
