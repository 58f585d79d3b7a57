"""The coordinator's side of sent files: what goes out, and what is written back."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ...domain.errors import Conflict, CoworkError, InvalidInput
from ...tools.text_files import size_text
from ...workspace import IgnoreRules, PathHandle, Workspace, kind_of, visible_files
from ..tables.sources import find_source
from .sent_files import Layout, RemoteChange, SentFile, missing_digests, store_piece

MAX_FILES = 5_000
MAX_SENT = 1_000_000_000
PIECE = 4 * 1024 * 1024

At = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class FileBundle:
    workspace: Workspace
    layout: Layout

    async def deliver(self, sender: str, at: At) -> None:
        by_digest = {file.digest: file for file in self.layout.files}
        for digest in await at(missing_digests, sorted(by_digest)):
            path = by_digest[digest].path
            with self.workspace.locate(path) as place, place.open() as file:
                while piece := await asyncio.to_thread(file.read, PIECE):
                    await at(store_piece, sender, digest, piece, False)
            if not await at(store_piece, sender, digest, b"", True):
                raise Conflict(
                    f"'{path}' was changed while it was sent to a worker. Try again.",
                    code="changed_at_home",
                    retryable=True,
                )


def pack(workspace: Workspace, paths: Iterable[str], tables: Iterable[str], cwd: str) -> FileBundle:
    """Collect the files at these paths; what is not there, or may not be read, is not sent."""
    found = dict.fromkeys([*_expand_paths(workspace, paths), *_tables(workspace, tables)])
    if len(found) > MAX_FILES:
        raise InvalidInput(
            f"The workers do not see the workspace, and more than {MAX_FILES:,} files would have "
            "to be sent. Name fewer.",
            code="too_large",
        )
    _refuse_beyond(sum(_size(workspace, path) for path in found))
    files = []
    for path in found:
        with suppress(CoworkError), workspace.locate(path) as place:
            files.append(_describe_file(path, place))
    folders = (cwd,) if _is_folder(workspace, cwd) else ()
    return FileBundle(workspace, Layout(tuple(files), folders))


def write_back(workspace: Workspace, layout: Layout, changes: Sequence[RemoteChange]) -> list[str]:
    """Write what a call changed, all of it or nothing; returns the paths.

    Files that are not as they were sent were changed here meanwhile: raises Conflict.
    """
    sent = {file.path: file.digest for file in layout.files}
    changed = [
        change.path
        for change in changes
        if _digest(workspace, change.path) != sent.get(change.path)
    ]
    if changed:
        raise Conflict(
            f"{', '.join(map(repr, changed[:10]))} was changed here, or is not among the files "
            "of the step, while a worker changed a copy. Nothing that the worker wrote was kept. "
            "Read the file as it is now, then try again.",
            code="changed_at_home",
        )
    for change in changes:
        with workspace.locate(change.path) as place:
            _write(place, change.data)
    return [change.path for change in changes]


def _write(place: PathHandle, data: bytes | None) -> None:
    if data is None:
        place.unlink()
    elif place.exists():
        place.replace(data)
    else:
        place.create(data)


def _digest(workspace: Workspace, path: str) -> str | None:
    with workspace.locate(path) as place:
        return _describe_file(path, place).digest if place.exists() else None


def _describe_file(path: str, place: PathHandle) -> SentFile:
    with place.open() as file:
        opened: Any = file  # typed as if it could not be read into a buffer
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return SentFile(path, digest, bool(place.stat().st_mode & 0o100))


def _expand_paths(workspace: Workspace, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if _is_folder(workspace, path):
            below = visible_files(workspace, path, IgnoreRules(workspace))
            yield from islice(below, MAX_FILES + 1)
        else:
            yield path


def _tables(workspace: Workspace, paths: Iterable[str]) -> Iterator[str]:
    """Problems with them are raised here: the worker could not know."""
    for path in paths:
        for file in find_source(workspace, path)["files"]:
            yield file["path"]


def _is_folder(workspace: Workspace, path: str) -> bool:
    try:
        with workspace.locate(path) as place:
            return kind_of(place.stat().st_mode) == "folder"
    except CoworkError:
        return False


def _size(workspace: Workspace, path: str) -> int:
    with suppress(CoworkError), workspace.locate(path) as place:
        return place.stat().st_size
    return 0


def _refuse_beyond(size: int) -> None:
    if size > MAX_SENT:
        raise InvalidInput(
            "The workers do not see the workspace, and these files are too large to send: "
            f"{size_text(size)}, the limit is {size_text(MAX_SENT)}. Name fewer, or let the "
            "workers share the folder.",
            code="too_large",
        )
