"""Where what commands left behind is kept, and how it comes back.

Things are moved, never copied and never deleted: into our data folder where that is on the same
file system, else to another name beside the old one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...domain.effects import BroughtBack, StillAside
from ..no_follow import OPEN_FILE, parent_of, remember, replacing, write_all
from .autorun import OpenedFolders
from .syscalls import birth_of, rename_new

_LASTS = 30 * 24 * 3600
"""Seconds for which it is kept."""
_BATCH = re.compile(r"\d{8}-\d{6}-[0-9a-f]{16}")
_INDEX = "set-aside.json"
SET_ASIDE = ".set-aside"
_CHANGED = ":changed:"
"""Before the digest of what was restored; the folder of what it replaced."""
_MAX_NAMES = 100


class SetAsideStore:
    """Of one workspace; `folder` is one that no command can read."""

    def __init__(self, root: str, folder: Path) -> None:
        self._root = root
        self._folder = folder

    def new_batch(self, opened: OpenedFolders) -> SetAsideBatch:
        return SetAsideBatch(self._root, self._folder, opened)

    def bring_back(self, batch_id: str) -> BroughtBack:
        """Move what one command left behind to where it was. Nothing is overwritten."""
        batch, outcome = self._folder / batch_id, BroughtBack()
        index = _read_index(batch) if _BATCH.fullmatch(batch_id) else {}
        if index.get("root") != self._root:
            raise FileNotFoundError(batch_id)
        items = index.get("items")
        items = items if isinstance(items, dict) else {}
        for path, kept in items.items():
            try:
                self._return(path, kept, batch)
            except OSError as error:
                outcome.skipped.append(StillAside(path=path, why=_why(error)))
            else:
                outcome.restored.append(path)
        _write_index(batch, self._root, {item.path: items[item.path] for item in outcome.skipped})
        return outcome

    def _return(self, path: str, kept: str, batch: Path) -> None:
        if kept.startswith(_CHANGED):
            self._change(path, kept.removeprefix(_CHANGED), batch)
            return
        source = (batch, path) if kept == "" else (Path(self._root), kept)
        with (
            parent_of(*source) as (folder, name),
            parent_of(self._root, path, may_make=lambda _: True) as (above, wanted),
        ):
            rename_new(folder, name, above, wanted)
            remember(os.stat(wanted, dir_fd=above, follow_symlinks=False))

    def _change(self, path: str, digest: str, batch: Path) -> None:
        """Write what the command had written, if nobody has written anything since."""
        with parent_of(self._root, path) as (folder, name):
            with os.fdopen(os.open(name, OPEN_FILE, dir_fd=folder), "rb") as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                if hashlib.sha256(file.read()).hexdigest() != digest:
                    raise FileExistsError(errno.EEXIST, path)
            with replacing(folder, name) as new:
                write_all(new, (batch / _CHANGED / path).read_bytes())
                os.fchmod(new, mode)


class SetAsideBatch:
    """What one command left behind."""

    def __init__(self, root: str, folder: Path, opened: OpenedFolders) -> None:
        self._opened = opened
        self.id = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(8)}"
        self._root = root
        self._folder = folder / self.id
        self._items: dict[str, str] = {}
        """Paths, and under which name they are in the workspace now; empty if they are here."""

    def move(self, path: str, inode: int) -> None:
        """Set aside what is at a path, if it still is this; raises OSError if it stays."""
        with parent_of(self._root, path) as (folder, name):
            _check_same(folder, name, inode)
            with contextlib.suppress(OSError):
                self._opened.add(folder, name)  # a folder that may not be written cannot be moved
            try:
                self._move_here(path, folder, name)
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                    raise
                self.rename(path, inode)
            else:
                self._items[path] = ""

    def _move_here(self, path: str, folder: int, name: str) -> None:
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with parent_of(self._folder, path) as (above, _):
            rename_new(folder, name, above, name)

    def rename(self, path: str, inode: int) -> str:
        """Give it a name beside the old one that means nothing to any program."""
        with parent_of(self._root, path) as (folder, name):
            _check_same(folder, name, inode)
            plain = f"{name.lstrip('.')}{SET_ASIDE}"
            for new in (plain, *(f"{plain}-{number}" for number in range(2, _MAX_NAMES))):
                try:
                    rename_new(folder, name, folder, new)
                except FileExistsError:
                    continue
                beside = "/".join([*path.split("/")[:-1], new])
                self._items[path] = beside
                return beside
        raise FileExistsError(errno.EEXIST, "there are too many of this name")

    def keep_copy(self, path: str, content: bytes, former: bytes) -> None:
        """Of a file that gets its former content back."""
        target = self._folder / _CHANGED / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        self._items[path] = f"{_CHANGED}{hashlib.sha256(former).hexdigest()}"

    def close(self) -> str:
        """Note where everything is; returns the id to ask for it, empty if there is nothing."""
        if not self._items:
            return ""
        self._folder.mkdir(parents=True, exist_ok=True)
        _write_index(self._folder, self._root, self._items)
        forget_old(self._folder.parent)
        return self.id


def forget_old(folder: Path) -> None:
    """Delete what was moved into a folder too long ago."""
    with contextlib.suppress(OSError):
        for kept in folder.iterdir():
            with contextlib.suppress(OSError):
                if time.time() - kept.lstat().st_ctime < _LASTS:
                    continue
                if kept.is_dir() and not kept.is_symlink():
                    shutil.rmtree(kept, ignore_errors=True)
                else:
                    kept.unlink()


def existed_before(folder: int, name: str, since: int, inodes: Sequence[int] | set[int]) -> bool:
    """Whether this is older than `since`; `inodes` are those of then, for file systems that do not
    know when a file was made.
    """
    facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if facts.st_ctime_ns < since:
        return True
    born = birth_of(folder, name)
    return facts.st_ino in inodes if born is None else born < since


def _check_same(folder: int, name: str, inode: int) -> None:
    if os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino != inode:
        raise OSError(errno.ESTALE, "something else has taken its place")


def _read_index(batch: Path) -> dict[str, Any]:
    try:
        index = json.loads((batch / _INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return index if isinstance(index, dict) else {}


def _write_index(batch: Path, root: str, items: dict[str, str]) -> None:
    text = json.dumps({"root": root, "items": items})
    (batch / _INDEX).write_text(text, encoding="utf-8")


def _why(error: OSError) -> str:
    match error.errno:
        case errno.EEXIST:
            return "something else is there now"
        case errno.ENOENT:
            return "it is not kept any more"
        case _:
            return f"the system refuses: {error.strerror or error}"
