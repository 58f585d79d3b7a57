"""Cleans up after one command: what it made is moved away, what it changed is restored.

This code is not confined, and it comes after a command that may have prepared the ground for it.
So only what the command itself made is moved away, known by the time of its birth; what a link
leads to is never touched; what existed before gets its former name back; nothing is deleted.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from ...domain.redaction import without_surrogates
from ...domain.set_aside import SetAside
from ..no_follow import CREATE, is_own, parent_of, remember, write_all
from .autorun import MAX_SIZE, Key, Listing, Opened, OpenedFolders
from .places import is_inside
from .saved_content import Mark, SavedContent
from .set_aside import SetAsideBatch, existed_before
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
        lists = (self.set_aside, self.restored, self.stuck, self.new)
        paths, restored, stuck, new = (without_surrogates(list(paths)) for paths in lists)
        return SetAside(id=self.batch, paths=paths, restored=restored, stuck=stuck, new=new)


@dataclass(eq=False)
class CommandSnapshot:
    """What was there when a command began."""

    opened: list[Opened]
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
        return is_in(self._relative(path), self.moved)

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

    def finish(self, news: Iterable[str]) -> Aftermath:
        made = tuple(path for path in self.moved if path not in self.restored)
        new = sorted({self._relative(path) for path in news})[:_MAX_NEW]
        parts = (made, self._batch.close(), tuple(self.restored), tuple(self.stuck), tuple(new))
        return Aftermath(*parts)

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
        found: Literal["new", "old", "ours"] = "new"
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
                    found = "old"
        return found

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


def is_in(path: str, folders: Iterable[str]) -> bool:
    return any(is_inside(path, folder) for folder in folders)
