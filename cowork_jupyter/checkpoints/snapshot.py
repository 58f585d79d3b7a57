"""The workspace at one moment: for each folder, what is in it and where its content is kept.

Folders that did not change are the very same objects in the next snapshot, so two
snapshots are compared folder by folder and an unchanged one costs next to nothing.
"""

from __future__ import annotations

import json
import stat
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from .entries import (
    Attributes,
    Change,
    FileEntry,
    Uncovered,
    attributes_from_list,
    attributes_to_list,
)
from .look import mark_of

FIELDS = 6
"""Numbers about each file: device, inode, mode, size, mtime_ns, ctime_ns."""
ROW = FIELDS * 8
DIGEST = 32
NOTHING = bytes(DIGEST)
"""Stands for the content of what has none that is kept."""
WHOLE = ""
"""The name under which a folder says why nothing in it is kept."""


@dataclass(slots=True, eq=False)
class Folder:
    """What one folder holds. Never changed once a snapshot has it."""

    own: tuple[int, ...] | None
    """Its own device, inode, mode, mtime_ns and ctime_ns; None if it must be listed again."""
    mode: int
    names: list[str]
    """All that is no folder and not left out."""
    rows: bytes
    """The numbers of each name."""
    digests: bytes
    folders: list[str]
    targets: dict[str, str] = field(default_factory=dict)
    """Where the symlinks lead."""
    not_kept: dict[str, str] = field(default_factory=dict)
    """Why, for files and folders that are left out or could not be kept."""
    attributes: dict[str, Attributes] = field(default_factory=dict)
    """Of files that have any."""
    _mark: int | None = None

    @property
    def mark(self) -> int:
        """Stands for all numbers, once they will not change any more."""
        if self._mark is None:
            self._mark = mark_of(self.rows)
        return self._mark

    def known(self) -> dict[str, tuple[bytes, bytes]]:
        """Numbers and digest by name."""
        return {name: self.known_at(at) for at, name in enumerate(self.names)}

    def known_at(self, at: int) -> tuple[bytes, bytes]:
        """Numbers and digest of one of its names."""
        return (
            self.rows[at * ROW : (at + 1) * ROW],
            self.digests[at * DIGEST : (at + 1) * DIGEST],
        )

    def entries(self) -> dict[str, FileEntry]:
        """What is in it, subfolders apart."""
        return {
            name: self._entry(name, row, digest) for name, (row, digest) in self.known().items()
        }

    def _entry(self, name: str, row: bytes, digest: bytes) -> FileEntry:
        _, _, mode, size, modified, _ = array("q", row)
        if name in self.targets:
            return FileEntry("link", 0o777, target=self.targets[name])
        return FileEntry(
            *("file", stat.S_IMODE(mode), size, modified),
            digest=None if digest == NOTHING else digest,
            why_not_kept=self.not_kept.get(name, ""),
            attributes=self.attributes.get(name, ()),
        )

    def contents(self) -> Iterator[bytes]:
        """The digests of all that is kept."""
        for at in range(0, len(self.digests), DIGEST):
            digest = self.digests[at : at + DIGEST]
            if digest != NOTHING:
                yield digest

    def to_bytes(self) -> bytes:
        attributes = {
            name: attributes_to_list(attribute) for name, attribute in self.attributes.items()
        }
        facts = (
            *(self.own, self.mode, self.names, self.folders, self.targets, self.not_kept),
            attributes,
        )
        head = json.dumps(facts, separators=(",", ":")).encode()
        return zlib.compress(len(head).to_bytes(4, "big") + head + self.rows + self.digests, 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> Folder:
        """Back from the database."""
        raw = zlib.decompress(data)
        body = 4 + int.from_bytes(raw[:4], "big")
        own, mode, names, folders, targets, not_kept, *more = json.loads(raw[4:body])
        rows_end = body + ROW * len(names)
        attributes = more[0] if more else {}  # states of earlier versions have none
        return cls(
            *(tuple(own) if own else None, mode, names, raw[body:rows_end], raw[rows_end:]),
            *(folders, targets, not_kept),
            {name: attributes_from_list(attribute) for name, attribute in attributes.items()},
        )


@dataclass(slots=True)
class Snapshot:
    """All folders by their path; the workspace itself is the empty one."""

    folders: dict[str, Folder]

    def uncovered(self) -> list[Uncovered]:
        """What is not kept, and why."""
        return [
            Uncovered(joined(path, name), why)
            for path, folder in sorted(self.folders.items())
            for name, why in sorted(folder.not_kept.items())
        ]

    def changes_until(self, after: Snapshot) -> list[Change]:
        """What is different in a later snapshot, sorted by path."""
        found: dict[str, Change] = {}
        for change in self._changes(after):
            # A folder that became a file is met twice: in its own place, and in the one above.
            other = found.get(change.path, change)
            found[change.path] = Change(
                change.path, change.before or other.before, change.after or other.after
            )
        return [found[path] for path in sorted(found)]

    def _closed(self) -> Iterator[str]:
        return (path for path, folder in self.folders.items() if WHOLE in folder.not_kept)

    def _changes(self, after: Snapshot) -> Iterator[Change]:
        # What could not be looked into on one side is not gone on the other.
        closed = tuple(f"{path}/" for path in {*self._closed(), *after._closed()})
        for path in self.folders.keys() | after.folders.keys():
            before_folder, after_folder = self.folders.get(path), after.folders.get(path)
            if before_folder is after_folder or (closed and f"{path}/".startswith(closed)):
                continue
            if path:
                yield from _different(path, _as_entry(before_folder), _as_entry(after_folder))
            old, new = (
                before_folder.entries() if before_folder else {},
                after_folder.entries() if after_folder else {},
            )
            for name in old.keys() | new.keys():
                yield from _different(joined(path, name), old.get(name), new.get(name))


def joined(folder: str, name: str) -> str:
    """The path of an entry."""
    return f"{folder}/{name}" if folder else name


def _as_entry(folder: Folder | None) -> FileEntry | None:
    return FileEntry("folder", folder.mode) if folder else None


def _different(path: str, before: FileEntry | None, after: FileEntry | None) -> Iterator[Change]:
    if not (before.same(after) if before else after is None):
        yield Change(path, before, after)
