"""The workspace: the one folder the agent may touch, and the walk that resolves paths in it.

A path is walked component by component through held folder descriptors, never handed to the
operating system whole. We read and follow symlinks ourselves, so each step is checked, and a folder
swapped for a symlink halfway is not entered.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..domain.errors import Conflict, CoworkError, Forbidden, InvalidInput, NotFound
from .no_follow import PathHandle, explain, explain_errors, hold, open_below

_MAX_HOPS = 40
_MAX_NAME_LENGTH = 255
_MAX_PATH_LENGTH = 4096
_MAX_FOLDER_DEPTH = 200
"""Descriptors held at once, well below the usual limit of a process."""
_HELD_FOLDERS = Path("/proc/self/fd")


class Workspace:
    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self._spellings = {_parts(os.path.abspath(root)), _parts(str(self.root))}  # noqa: PTH100

    def locate(self, path: str, *, follow: bool = True) -> PathHandle:
        """Resolve a path and hold its folder open. The target itself need not exist.

        `follow` applies to a symlink in the last component; those before it are always followed.
        """
        check_path(path)
        with _Walk(self, path) as walk:
            return walk.to_the_end(follow)

    def inside(self, path: str) -> tuple[str, ...] | None:
        """Components of an absolute path below the root, or None if it is elsewhere.

        Compared by components: `/data-evil` is not inside `/data`. A spelling of the root through a
        symlink (`/tmp` on macOS) is looked up once; the walk checks what follows.
        """
        for spelling in (path, _with_real_parent(path)):
            parts = _parts(spelling)
            for root in self._spellings:
                if parts[: len(root)] == root:
                    return parts[len(root) :]
        return None

    def process_folder(self, descriptor: int, path: str) -> str:
        """A `cwd` for a child process: the held folder itself where /proc exists."""
        held = _HELD_FOLDERS / str(descriptor)
        return str(held) if held.exists() else str(self.root / path)


def check_path(path: str) -> None:
    """Raises InvalidInput for what cannot be a path at all."""
    if not path or path.isspace():
        raise InvalidInput("The path is empty; '.' is the workspace itself.", code="bad_path")
    if "\0" in path:
        raise InvalidInput("A path cannot contain a NUL character.", code="bad_path")
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise InvalidInput("The path contains invalid characters.", code="bad_path") from error
    if len(encoded) > _MAX_PATH_LENGTH or max(map(len, encoded.split(b"/"))) > _MAX_NAME_LENGTH:
        raise InvalidInput("The path, or a name in it, is too long.", code="bad_path")


class _Walk:
    """One walk from the root down; holds a descriptor of every folder on the way."""

    def __init__(self, workspace: Workspace, asked: str) -> None:
        self._workspace = workspace
        self._asked = asked
        self._todo: deque[str] = deque()
        self._names: list[str] = []
        self._hops = 0
        with explain_errors(str(workspace.root)):
            self._held = [hold(workspace.root)]

    def __enter__(self) -> _Walk:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._held:
            os.close(descriptor)

    def to_the_end(self, follow: bool) -> PathHandle:
        """Stop at the last component, or at the first that is missing."""
        self._go(self._asked)
        while self._todo:
            name = self._todo.popleft()
            if name == "..":
                if not self._names:
                    raise self._outside()
                self._leave_to(len(self._names) - 1)
            elif self._todo:
                if not self._down(name):
                    return self._handle((name, *self._todo))
            elif not (follow and self._follow(name)):
                return self._handle((name,))
        return self._handle(())

    def _go(self, path: str) -> None:
        """Prepend a path, or a symlink's target, to what remains to be walked."""
        parts = _parts(path)
        if path.startswith("/"):
            inside = self._workspace.inside(path)
            if inside is None:
                raise self._outside()
            self._leave_to(0)
            parts = inside
        self._todo.extendleft(reversed(parts))

    def _down(self, name: str) -> bool:
        """Enter a folder, or follow a symlink instead; False if the name does not exist."""
        if len(self._held) > _MAX_FOLDER_DEPTH:
            raise InvalidInput("The path has too many folders in it.", code="bad_path")
        try:
            self._held.append(open_below(self._held[-1], name))
            self._names.append(name)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return False
            # Platforms disagree on the errno for opening a symlink as a folder, so look.
            if not self._follow(name):
                raise explain(error, self._asked) from error
        return True

    def _leave_to(self, depth: int) -> None:
        while len(self._names) > depth:
            self._names.pop()
            os.close(self._held.pop())

    def _follow(self, name: str) -> bool:
        """If the name is a symlink, walk its target next and return True."""
        try:
            target = os.readlink(name, dir_fd=self._held[-1])
        except OSError:  # not a symlink, or not there: opening it will tell
            return False
        self._hops += 1
        if self._hops > _MAX_HOPS:
            raise InvalidInput(f"The symlinks of '{self._asked}' form a loop.", code="bad_path")
        self._go(target)
        return True

    def _handle(self, rest: tuple[str, ...]) -> PathHandle:
        if ".." in rest:
            raise NotFound(f"There is no '{self._asked}' in the workspace.")
        *missing, name = rest or (".",)
        path = "/".join((*self._names, *rest)) or "."
        return PathHandle(self._held.pop(), tuple(missing), name, path)

    def _outside(self) -> Forbidden:
        return Forbidden(
            f"'{self._asked}' leads outside the workspace. Use a path inside it, relative to "
            "its top folder. Ask the user to copy in what you need from elsewhere.",
            code="outside_workspace",
        )


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))


def _with_real_parent(path: str) -> str:
    head, _, tail = path.rstrip("/").rpartition("/")
    return f"{os.path.realpath(head or '/')}/{tail}"


@dataclass(frozen=True)
class Pin:
    """Where a path led when the call was decided, and what was there."""

    places: frozenset[str]
    """The path as spelled, and where it really leads; relative to the workspace."""
    mark: str | None = None
    """`mark_of` the file, for calls that change it; None if that does not matter."""


class GuardedWorkspace(Workspace):
    """A workspace in which pinned paths must lead where they led, and hidden paths are refused."""

    def __init__(
        self, workspace: Workspace, pins: Mapping[str, Pin], hides: Callable[[str], bool]
    ) -> None:
        super().__init__(workspace.root)
        self._pins = pins
        self._hides = hides

    def locate(self, path: str, *, follow: bool = True) -> PathHandle:
        """Raises Conflict if the path no longer leads to what was decided about."""
        handle = super().locate(path, follow=follow)
        try:
            self._check(path, handle)
        except BaseException:
            handle.close()
            raise
        return handle

    def _check(self, path: str, handle: PathHandle) -> None:
        pin = self._pins.get(path)
        if pin is None:
            if self._hides(handle.path):
                raise Forbidden(f"'{handle.path}' may not be read.", code="hidden")
            return
        moved = handle.path not in pin.places
        if moved or pin.mark not in (None, mark_of(handle)):
            raise Conflict(
                f"'{path}' has changed since this call was approved. Read it, then try again.",
                code="changed_since_decided",
                retryable=True,
            )


def mark_of(handle: PathHandle) -> str:
    """A value that changes once the file is replaced or written to."""
    if not handle.exists():
        return "nothing"
    facts = handle.stat()
    return f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}-{facts.st_mode}"


GONE = "gone"
_FOLDER = "folder"
_MAX_READ = 16 * 2**20
"""Of larger files only the stat data counts."""


def fingerprint(workspace: Workspace, path: str) -> str:
    """Return a value for `has_changed`; `GONE` if there is no such file."""
    kept = _kept(workspace, path)
    digest = "" if kept in (GONE, _FOLDER) else _digest(workspace, path)
    return f"{kept} {digest}".rstrip()


def has_changed(workspace: Workspace, path: str, before: str) -> bool:
    """Whether the content differs from `before`. Folders never count as changed."""
    kept, _, digest = before.partition(" ")
    now = _kept(workspace, path)
    if now in (kept, _FOLDER):
        return False
    return not digest or now == GONE or _digest(workspace, path) != digest


def _kept(workspace: Workspace, path: str) -> str:
    try:
        with workspace.locate(path) as handle:
            facts = handle.stat()
    except CoworkError:
        return GONE
    if stat.S_ISDIR(facts.st_mode):
        return _FOLDER
    return f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}"


def _digest(workspace: Workspace, path: str) -> str:
    try:
        with workspace.locate(path) as handle:
            data = handle.read(_MAX_READ + 1)
    except CoworkError:
        return ""
    if len(data) > _MAX_READ:
        return ""
    return hashlib.sha256(_cells(data) if path.endswith(".ipynb") else data).hexdigest()


def _cells(data: bytes) -> bytes:
    """What somebody wrote into a notebook; outputs and execution counts change with every run."""
    try:
        cells = json.loads(data)["cells"]
        written = [[cell["cell_type"], "".join(cell["source"])] for cell in cells]
    except (ValueError, KeyError, TypeError):
        return data
    return json.dumps(written).encode()
