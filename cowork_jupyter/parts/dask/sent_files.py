"""Files at a worker that does not see the workspace.

They are stored by content, so nothing is sent twice, and laid out for a call as they are at home.
Comparing tells what the call has changed.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import stat
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...domain.errors import InvalidInput
from ...domain.settings import Settings
from ...tools.base import ToolResult
from ...tools.text_files import size_text
from ...workspace.sandbox.set_aside import SET_ASIDE

MAX_BROUGHT = 256_000_000
MAX_STORE = 4_000_000_000
"""Bytes that a worker stores; the least recently used go first."""

FOLDER = "cowork"
"""In the folder that Dask gives a worker, and removes with it."""


@dataclass(frozen=True)
class SentFile:
    path: str
    digest: str
    is_executable: bool = False


@dataclass(frozen=True)
class Layout:
    files: tuple[SentFile, ...]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class RemoteChange:
    path: str
    data: bytes | None = field(repr=False)
    """None if it was removed."""


@dataclass(frozen=True)
class RemoteResult:
    result: ToolResult
    changes: tuple[RemoteChange, ...]


class FileStore:
    """Contents by digest, in a folder of the worker's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def path(self, digest: str) -> Path:
        return self._folder / digest

    def lacks(self, digests: Collection[str]) -> list[str]:
        """Those that must be sent; the others are touched, so that they stay."""
        lacking = []
        for digest in digests:
            try:
                os.utime(self.path(digest))
            except OSError:
                lacking.append(digest)
        return lacking

    def add(self, sender: str, digest: str, piece: bytes, *, is_last: bool) -> bool:
        """Append a piece; with the last one, returns whether the digest matches."""
        part = self._folder / f"{digest}.{sender}"
        with part.open("ab") as file:
            file.write(piece)
        if not is_last:
            return True
        with part.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != digest:
            part.unlink()
            return False
        part.rename(self.path(digest))
        self._make_room()
        return True

    def _make_room(self) -> None:
        kept = sorted(
            ((path.stat(), path) for path in self._folder.iterdir()),
            key=lambda entry: entry[0].st_mtime,
        )
        size = sum(facts.st_size for facts, _ in kept)
        for facts, file in kept[:-1]:
            if size <= MAX_STORE:
                return
            file.unlink(missing_ok=True)
            size -= facts.st_size


class CopiedTree:
    """A folder that stands for the workspace, for one call after the other."""

    def __init__(self, folder: Path, store: FileStore, left_out: Collection[str]) -> None:
        """`left_out` are names that checkpoints ignore, so such files are not brought back."""
        self.folder = folder
        self._store = store
        self._left_out = frozenset(left_out)
        self._sent: dict[str, SentFile] = {}
        self._marks: dict[str, tuple[int, ...]] = {}
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def lay_out(self, layout: Layout) -> None:
        wanted = {file.path: file for file in layout.files}
        kept = {path for path in wanted if self._has(wanted[path])}
        self._remove_all_but(kept)
        for path in wanted.keys() - kept:
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._store.path(wanted[path].digest), target)
            target.chmod(0o755 if wanted[path].is_executable else 0o644)
        for path in layout.folders:
            (self.folder / path).mkdir(parents=True, exist_ok=True)
        self._sent = wanted
        self._marks = {path: _mark(self.folder / path) for path in wanted}

    def changes(self) -> tuple[RemoteChange, ...]:
        found = dict(self._files())
        removed = [RemoteChange(path, None) for path in sorted(self._sent.keys() - found.keys())]
        changed = [
            RemoteChange(path, file.read_bytes())
            for path, file in self._within_limit(found)
            if self._marks.get(path) != _mark(file)
        ]
        return (*removed, *(file for file in changed if self._is_new(file)))

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _has(self, file: SentFile) -> bool:
        known = self._sent.get(file.path)
        with suppress(OSError):
            return known == file and self._marks[file.path] == _mark(self.folder / file.path)
        return False

    def _is_new(self, changed: RemoteChange) -> bool:
        sent, data = self._sent.get(changed.path), changed.data or b""
        return sent is None or sent.digest != hashlib.sha256(data).hexdigest()

    def _within_limit(self, found: dict[str, Path]) -> Iterator[tuple[str, Path]]:
        size = 0
        for path, file in sorted(found.items()):
            if self._marks.get(path) != _mark(file):
                size += file.stat().st_size
            if size > MAX_BROUGHT:
                raise InvalidInput(
                    f"It wrote more than {size_text(MAX_BROUGHT)} on a worker that does not see "
                    "the workspace, so no file was copied back. Write less.",
                    code="too_large",
                )
            yield path, file

    def _files(self) -> Iterator[tuple[str, Path]]:
        for folder, names, files in os.walk(self.folder):
            names[:] = [name for name in names if not self._is_left_out(name)]
            for name in files:
                file = Path(folder, name)
                if not self._is_left_out(name) and stat.S_ISREG(file.lstat().st_mode):
                    yield file.relative_to(self.folder).as_posix(), file

    def _is_left_out(self, name: str) -> bool:
        """Also what the sandbox has set aside here."""
        return name in self._left_out or SET_ASIDE in name

    def _remove_all_but(self, kept: Collection[str]) -> None:
        folders: list[Path] = []
        for folder, names, files in os.walk(self.folder):
            for name in names:
                below = Path(folder, name)
                if below.is_symlink():
                    below.unlink()
                else:
                    below.chmod(0o700)  # whatever the call has made of it
                    folders.append(below)
            for name in files:
                file = Path(folder, name)
                if file.relative_to(self.folder).as_posix() not in kept:
                    file.unlink()
        for below in reversed(folders):
            with suppress(OSError):  # something is kept there
                below.rmdir()


def _mark(file: Path) -> tuple[int, ...]:
    facts = file.lstat()
    return facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


# Run in a worker's process by its coordinator


def store_of(folder: str) -> FileStore:
    return FileStore(Path(folder, FOLDER, "contents"))


_trees: dict[Path, CopiedTree] = {}


def tree_at(folder: str, task: str | None, settings: Settings) -> CopiedTree:
    """A tree for the calls of this thread, which has one at a time; for code in scratch, that of
    its task, because its process stays in it.
    """
    name = f"task-{task}" if task is not None else f"thread-{threading.get_ident()}"
    path = Path(folder, FOLDER, name)
    if path not in _trees:
        _trees[path] = CopiedTree(path, store_of(folder), settings.checkpoint_exclude)
    return _trees[path]


def remove_tree(task: str, dask_worker: Any) -> None:
    tree = _trees.pop(Path(dask_worker.local_directory, FOLDER, f"task-{task}"), None)
    if tree:
        tree.remove()


def missing_digests(digests: Sequence[str], dask_worker: Any) -> list[str]:
    return store_of(dask_worker.local_directory).lacks(digests)


async def store_piece(
    sender: str, digest: str, piece: bytes, is_last: bool, dask_worker: Any
) -> bool:
    store = store_of(dask_worker.local_directory)
    return await asyncio.to_thread(store.add, sender, digest, piece, is_last=is_last)
