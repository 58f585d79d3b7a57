"""Finds files in the workspace that run, or are read as settings, later and outside the sandbox.

What counts is told by `start_up`, and here: environments that kernels and shells start from, and
compiled Python. Unchanged folders are not listed again: a folder's change time is set by the
kernel, and no command can set it back. What they contain is kept, to be compared and restored.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..no_follow import parent_of
from ..start_up import ENVIRONMENT_MARKS, Kind, kind_of, known_start_up, start_up
from .path_access import is_inside

_OF_GIT = ("config", "config.worktree", "commondir", "hooks", "rebase-merge", "rebase-apply")
"""Name programs to run, or say where else to look for such settings."""
_COMPILED = "__pycache__"
NOT_ENTERED = frozenset({"node_modules", ".tox", ".nox", ".cache", ".npm", ".cargo", ".trash"})
"""There may be thousands of folders: what is new in them is named, see `new_in`."""
MAX_SIZE = 1_000_000
"""Larger files are not restored, where they cannot be made read-only."""
_INCLUDE = re.compile(r"""^\s*path\s*=\s*"?([^"\n]+?)"?\s*$""", re.MULTILINE)
_MAX_LINKS, _MAX_OPENED, _MAX_POINTER = 40, 500, 4096
_YOUNG = 2_000_000_000
"""Nanoseconds in which a second change might not show in a folder's times."""

Key = tuple[int, str, int]
"""Inode of the folder above, name, inode: the same after a folder further above was renamed."""


class AutorunPlace(NamedTuple):
    path: str
    kind: Kind
    key: Key
    is_known: bool = True
    """Whether it is worth to close it for commands: what is merely hidden may be a tool's state."""


@dataclass(frozen=True)
class WritableAutorun:
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


NOTHING_WRITABLE = WritableAutorun()


@dataclass(frozen=True)
class Listed:
    """A folder, as it was at one moment."""

    mark: tuple[int, int, int]
    seen: int
    names: str
    """Of everything in it, joined: there may be hundreds of thousands in a workspace."""
    inodes: array[int]
    folders: tuple[str, ...]
    places: tuple[AutorunPlace, ...]
    is_environment: bool
    unentered: tuple[str, ...]

    def is_still(self, mark: tuple[int, int, int]) -> bool:
        return mark == self.mark and max(mark[1:]) < self.seen - _YOUNG

    def entries(self) -> Iterator[tuple[str, int]]:
        return zip(self.names.split("/"), self.inodes, strict=False)


Listing = dict[str, Listed]


class AutorunFinder:
    """Scans one workspace repeatedly, with a cache."""

    def __init__(self, root: str, private: str = "") -> None:
        """`private` is a folder that commands cannot see; it is skipped."""
        self.root = root
        self._private = private
        self.listing: Listing = {}
        """Of the last scan; replaced as a whole by the next one."""

    def find(
        self,
        environments: frozenset[str] | None = None,
        since: int = 0,
        opened: OpenedFolders | None = None,
    ) -> list[AutorunPlace]:
        """Everything found now. No symlink is followed.

        After a command, pass the `environments` of before, unless it was allowed to make some: it
        can turn any folder into one, which would not be looked into. Folders it made unreadable
        `since` are opened up meanwhile.
        """
        listing: Listing = {}
        places: list[AutorunPlace] = []
        waiting = deque([self.root])
        while waiting:
            folder = waiting.popleft()
            is_ours = folder == self._private
            listed = None if is_ours else self._listed(folder, since, opened)
            if listed is None:
                continue
            listing[folder] = listed
            is_new = environments is not None and folder not in environments
            if listed.is_environment:
                with contextlib.suppress(OSError):
                    places.append(_place(folder, "environment"))
            if not listed.is_environment or is_new:
                places += listed.places
                waiting += listed.folders
        self.listing = listing
        return [part for place in places for part in (place, *_parts(place, self.root))]

    def _listed(self, folder: str, since: int, opened: OpenedFolders | None) -> Listed | None:
        try:
            facts = os.lstat(folder)
            mark = facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns
            cached = self.listing.get(folder)
            if cached and cached.is_still(mark):
                return cached
            seen = time.time_ns()
            if opened and facts.st_ctime_ns >= since and folder != self.root:
                with parent_of(self.root, folder[len(self.root) :].lstrip("/")) as (above, name):
                    opened.add(above, name)
            with os.scandir(folder) as entries:
                # Names, inodes and kinds come with the listing; asking for more costs a call each.
                children = [
                    (entry.name, entry.inode(), entry.is_dir(follow_symlinks=False))
                    for entry in entries
                ]
        except OSError:  # gone or unreadable; then commands cannot read it either
            return None
        return self._classify(folder, mark, seen, children)

    def _classify(
        self,
        folder: str,
        mark: tuple[int, int, int],
        seen: int,
        children: list[tuple[str, int, bool]],
    ) -> Listed:
        places, folders, unentered = list[AutorunPlace](), list[str](), list[str]()
        is_bare = {"HEAD", "objects", "refs"} <= {name for name, _, _ in children}
        is_compiled = folder.endswith(f"/{_COMPILED}")
        for name, inode, is_folder in children:
            path, plain = f"{folder}/{name}", name.casefold()
            if is_bare and name in _OF_GIT:
                places.append(AutorunPlace(path, "git", (mark[0], name, inode)))
                continue
            if plain == _COMPILED or (is_compiled and not is_folder):
                places.append(
                    AutorunPlace(path, "settings", (mark[0], name, inode), is_known=False)
                )
            elif start_up(plain):
                is_known = known_start_up(plain) is not None
                kind = kind_of(plain)
                places.append(AutorunPlace(path, kind, (mark[0], name, inode), is_known))
                if not is_folder or is_known:
                    continue
            if is_folder and plain in NOT_ENTERED:
                unentered.append(path)
            elif is_folder:
                folders.append(path)
        is_environment = any(name in ENVIRONMENT_MARKS for name, _, _ in children)
        if is_environment and folder == self.root:
            places += [_place(path, "environment") for path in _site_packages(folder)]
            is_environment = False
        names = "/".join(name for name, _, _ in children)
        inodes = array("Q", (inode for _, inode, _ in children))
        return Listed(
            mark=mark,
            seen=seen,
            names=names,
            inodes=inodes,
            folders=tuple(folders),
            places=tuple(places),
            is_environment=is_environment,
            unentered=tuple(unentered),
        )


def followed(places: Iterable[AutorunPlace], root: str) -> Iterator[AutorunPlace]:
    """What links among these lead to in the workspace. Only for links that nobody made just now."""
    for place in places:
        may_lead = place.is_known and place.key[1] != ".git"
        if may_lead and os.path.islink(place.path):  # noqa: PTH114 - thousands
            real = os.path.realpath(place.path)
            with contextlib.suppress(OSError):
                if is_inside(real, root) and real != root:
                    yield _place(real, place.kind)


def steps(link: str, root: str) -> Iterator[tuple[str, Key]]:
    """What one passes in the workspace on the way to what a link leads to, with the end of it."""
    here, links = link.rpartition("/")[0], 0
    waiting = deque([link.rpartition("/")[2]])
    with contextlib.suppress(OSError):
        while waiting and links < _MAX_LINKS:
            name = waiting.popleft()
            if name in ("", "."):
                continue
            if name == "..":
                here = here.rpartition("/")[0]
                continue
            path = f"{here}/{name}"
            facts = os.lstat(path)
            if is_inside(path, root) and path != root:
                yield path, (os.lstat(here).st_ino, name, facts.st_ino)
            if stat.S_ISLNK(facts.st_mode):
                target, links = os.readlink(path), links + 1  # noqa: PTH115
                here = "" if target.startswith("/") else here
                waiting.extendleft(reversed(target.split("/")))
            else:
                here = path


def _place(path: str, kind: Kind) -> AutorunPlace:
    above, _, name = path.rpartition("/")
    return AutorunPlace(path, kind, (os.lstat(above or "/").st_ino, name, os.lstat(path).st_ino))


class OpenedFolders:
    """Folders that we had to open up to look into them or to move them."""

    def __init__(self) -> None:
        self._held: list[tuple[int, int]] = []

    def add(self, above: int, name: str) -> None:
        held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        facts = os.fstat(held)
        mode = stat.S_IMODE(facts.st_mode)
        is_closed = stat.S_ISDIR(facts.st_mode) and mode & stat.S_IRWXU != stat.S_IRWXU
        if not is_closed or facts.st_uid != os.getuid() or len(self._held) >= _MAX_OPENED:
            os.close(held)
            return
        self._held.append((held, mode))
        os.chmod(f"/proc/self/fd/{held}", mode | stat.S_IRWXU)  # noqa: PTH101

    def close_again(self) -> None:
        while self._held:
            held, mode = self._held.pop()
            with contextlib.suppress(OSError):
                os.chmod(f"/proc/self/fd/{held}", mode)  # noqa: PTH101
            os.close(held)


def _parts(place: AutorunPlace, root: str) -> Iterator[AutorunPlace]:
    if place.kind != "git":
        return
    with contextlib.suppress(OSError):
        folder = _repository_of(place.path)
        if folder and is_inside(folder, root):
            yield from _inside_git(folder, root)


def _repository_of(path: str) -> str:
    """The folder itself, or where a link or a file of this name says that it is."""
    facts = os.stat(path)  # noqa: PTH116
    if stat.S_ISDIR(facts.st_mode):
        return os.path.realpath(path)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MAX_POINTER:
        return ""
    pointer = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    where = pointer.removeprefix("gitdir:").strip() if pointer.startswith("gitdir:") else ""
    return os.path.realpath(os.path.join(os.path.dirname(path), where)) if where else ""  # noqa: PTH118, PTH120


def _inside_git(folder: str, root: str) -> Iterator[AutorunPlace]:
    """The parts of a repository that matter, including its submodules and worktrees."""
    for name in _OF_GIT:
        path = f"{folder}/{name}"
        if os.path.lexists(path):
            yield _place(path, "git")
            if name == "config":
                yield from _included(path, root)
    for name in ("modules", "worktrees"):
        for head in sorted(Path(folder, name).glob("**/HEAD")):
            if head.parent.name not in ("logs", "refs"):
                yield from _inside_git(str(head.parent), root)


def _included(config: str, root: str) -> Iterator[AutorunPlace]:
    """Files of the workspace that git reads as part of its settings."""
    if os.lstat(config).st_size > MAX_SIZE:
        return
    text = Path(config).read_text(encoding="utf-8", errors="surrogateescape")
    for named in _INCLUDE.findall(text):
        path = os.path.realpath(os.path.join(os.path.dirname(config), named))  # noqa: PTH118, PTH120
        if is_inside(path, root) and os.path.isfile(path):  # noqa: PTH113
            yield _place(path, "git")


def _site_packages(folder: str) -> list[str]:
    """For a workspace that is itself an environment: protect only what Python starts from."""
    return [str(path) for path in Path(folder).glob("lib*/python*/site-packages")]


def new_in(folder: str, since: int, until: float) -> Iterator[str]:
    """What was made below a folder `since`, outermost only; ends at a monotonic time.

    Folders are judged by their own times, so files are only looked at in those that changed.
    """
    waiting = deque([folder])
    while waiting and time.monotonic() < until:
        here = waiting.popleft()
        with contextlib.suppress(OSError), os.scandir(here) as entries:
            has_changed = os.lstat(here).st_mtime_ns >= since
            for entry in entries:
                if has_changed and entry.stat(follow_symlinks=False).st_ctime_ns >= since:
                    yield entry.path
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


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


def marks_of(places: Iterable[AutorunPlace]) -> dict[str, Mark]:
    marks: dict[str, Mark] = {}
    numbers: dict[str, int] = {}
    for path in dict.fromkeys(entry for place in places for entry in _everything_at(place)):
        parent, _, name = path.rpartition("/")
        with contextlib.suppress(OSError):
            if parent not in numbers:
                numbers[parent] = os.lstat(parent).st_ino
            marks[path] = _mark(numbers[parent], name, os.lstat(path))
    return marks


def contents_of(
    marks: Mapping[str, Mark], saved: Mapping[str, SavedContent]
) -> dict[str, SavedContent]:
    """Read what can be restored; entries of `saved` that are unchanged are reused."""
    kept = {
        path: kept_file for path, kept_file in saved.items() if marks.get(path) == kept_file.mark
    }
    room = MAX_KEPT - sum(len(kept_file.content) for kept_file in kept.values())
    for path, mark in marks.items():
        if path in kept or mark.type == stat.S_IFDIR or mark.size > min(MAX_SIZE, room):
            continue
        with contextlib.suppress(OSError):
            kept[path] = _read(path, mark)
            room -= len(kept[path].content)
    return kept


def _everything_at(place: AutorunPlace) -> Iterator[str]:
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
    return Mark(
        parent=parent,
        name=name,
        type=kind,
        number=facts.st_ino,
        size=facts.st_size,
        modified=facts.st_mtime_ns,
        changed=facts.st_ctime_ns,
    )


def _read(path: str, mark: Mark) -> SavedContent:
    if mark.type == stat.S_IFLNK:
        return SavedContent(mark, 0, os.fsencode(os.readlink(path)))  # noqa: PTH115
    if mark.type != stat.S_IFREG:
        raise OSError("neither a file nor a link")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        return SavedContent(mark, stat.S_IMODE(os.fstat(descriptor).st_mode), file.read(MAX_SIZE))
