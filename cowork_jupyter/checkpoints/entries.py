"""What was at a path, and how that changed: the words that all of this package shares."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

Attributes = tuple[tuple[str, bytes], ...]
"""Names and values, sorted, of the extended attributes that people and programs give to files
(`user.…`). To change nothing but them is no change: programs that sync folders set theirs long
after a file was written, and a rollback would take that for the user's work."""

MAX_ATTRIBUTES_SIZE = 64 * 1024
"""Bytes of all values of one file; where there are more, none is kept."""
_USERS = "user."


def attributes_of(file: int) -> Attributes:
    """Those of an open file; none where the system knows of none."""
    if not hasattr(os, "listxattr"):
        return ()
    try:
        names = os.listxattr(file)
        if not names:  # as nearly always
            return ()
        found = sorted((name, os.getxattr(file, name)) for name in names if name.startswith(_USERS))
    except OSError:
        return ()
    return tuple(found) if sum(len(value) for _, value in found) <= MAX_ATTRIBUTES_SIZE else ()


def attributes_to_list(attributes: Attributes) -> list[list[str]]:
    """For the database, in what JSON can say."""
    return [[name, value.hex()] for name, value in attributes]


def attributes_from_list(rows: Iterable[list[str]] = ()) -> Attributes:
    """Back from the database."""
    return tuple((name, bytes.fromhex(value)) for name, value in rows)


def give_back(file: int, attributes: Attributes) -> None:
    """Set them, as far as the filesystem takes them: the content matters more."""
    for name, value in attributes:
        with suppress(OSError):
            os.setxattr(file, name, value)


Kind = Literal["file", "link", "folder"]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One thing in the workspace, as it was at one moment."""

    kind: Kind
    mode: int
    """Permission bits."""
    size: int = 0
    modified: int = 0
    """Nanoseconds; how a file that is not kept is known again."""
    digest: bytes | None = None
    """Of the content that is kept; None for links, folders and what is not kept."""
    target: str | None = None
    """Where a link leads."""
    why_not_kept: str = ""
    attributes: Attributes = ()
    """Come back with the content, but make no difference by themselves."""

    def same(self, other: FileEntry | None) -> bool:
        """Whether the two stand for the same thing with the same content."""
        if other is None or self.kind != other.kind:
            return False
        if self.kind == "link":
            return self.target == other.target
        if self.mode != other.mode or self.kind == "folder":
            return self.mode == other.mode
        if self.digest and other.digest:
            return self.digest == other.digest
        return (self.size, self.modified) == (other.size, other.modified)


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one path; None is "nothing there"."""

    path: str
    before: FileEntry | None
    after: FileEntry | None

    @property
    def kind(self) -> Literal["added", "changed", "removed"]:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


@dataclass(frozen=True, slots=True)
class Uncovered:
    """Something that a checkpoint does not keep."""

    path: str
    why: str


def same(entry: FileEntry | None, other: FileEntry | None) -> bool:
    """Whether two states of a path are the same, "nothing there" included."""
    return other is None if entry is None else entry.same(other)


def depth(change: Change) -> tuple[int, str]:
    """To sort by: folders before what is in them."""
    return change.path.count("/"), change.path


def changes_to_bytes(changes: Iterable[Change]) -> bytes:
    """For the database. JSON escapes what is no UTF-8 in names, so they come back the same."""
    rows = [[change.path, _to_list(change.before), _to_list(change.after)] for change in changes]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 1)


def changes_from_bytes(data: bytes) -> list[Change]:
    """Back from the database."""
    rows = json.loads(zlib.decompress(data))
    return [Change(path, _from_list(before), _from_list(after)) for path, before, after in rows]


def _to_list(entry: FileEntry | None) -> list[Any] | None:
    if entry is None:
        return None
    digest = entry.digest.hex() if entry.digest else None
    row = [
        *(entry.kind, entry.mode, entry.size, entry.modified),
        *(digest, entry.target, entry.why_not_kept),
    ]
    return [*row, attributes_to_list(entry.attributes)] if entry.attributes else row


def _from_list(row: list[Any] | None) -> FileEntry | None:
    if row is None:
        return None
    kind, mode, size, modified, digest, target, why, *attributes = row
    return FileEntry(
        *(kind, mode, size, modified, bytes.fromhex(digest) if digest else None, target, why),
        attributes=attributes_from_list(*attributes),
    )
