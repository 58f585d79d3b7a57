"""What was at a path, or in the whole workspace, at one moment, and how that changed."""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from struct import Struct
from typing import Any, Literal, NamedTuple

Attributes = tuple[tuple[str, bytes], ...]
"""Names and values, sorted, of the extended attributes that people and programs give to files
(`user.…`). A difference in them alone is not a change: programs that sync folders set theirs long
after a file was written, and a rollback would take that for the user's work."""

Kind = Literal["file", "link", "folder", "tree"]
"""A tree is a folder, or a file, that is not kept but known to be made by a tool."""
Identity = tuple[int, int]
"""Inode, and time of birth in nanoseconds where the file system knows it."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file, symlink or folder as it was at one moment."""

    kind: Kind
    mode: int
    """Permission bits."""
    size: int = 0
    modified: int = 0
    """In nanoseconds; with the size, it identifies a file whose content is not kept. 0 if the
    content is that of a document open in a browser."""
    digest: bytes | None = None
    """Of the stored content; None for links, folders and what is not kept."""
    target: str | None = None
    why_not_kept: str = ""
    attributes: Attributes = ()
    identity: Identity = (0, 0)
    """Of a tree."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one path; None means that nothing was there."""

    path: str
    before: FileEntry | None
    after: FileEntry | None

    @property
    def kind(self) -> Literal["added", "changed", "removed"]:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def depth(self) -> tuple[int, str]:
        """A sort key that puts folders before what is in them."""
        return self.path.count("/"), self.path


class Uncovered(NamedTuple):
    """A path that a checkpoint does not keep."""

    path: str
    why: str


def same(entry: FileEntry | None, other: FileEntry | None) -> bool:
    """Whether content, kind and permissions are the same."""
    if entry is None or other is None:
        return entry is other
    if entry.kind != other.kind:
        return False
    if entry.kind == "link":
        return entry.target == other.target
    if entry.kind == "tree":
        return entry.identity == other.identity
    if entry.mode != other.mode or entry.kind == "folder":
        return entry.mode == other.mode
    if entry.digest and other.digest:
        return entry.digest == other.digest
    return (entry.size, entry.modified) == (other.size, other.modified)


def merge_changes(changes: Iterable[Change]) -> list[Change]:
    """Combine consecutive changes: the first state before, the last state after."""
    merged: dict[str, Change] = {}
    for change in changes:
        first = merged.get(change.path, change)
        merged[change.path] = Change(change.path, first.before, change.after)
    different = (change for change in merged.values() if not same(change.before, change.after))
    return sorted(different, key=lambda change: change.path)


def attributes_to_list(attributes: Attributes) -> list[list[str]]:
    return [[name, value.hex()] for name, value in attributes]


def attributes_from_list(rows: Iterable[list[str]] = ()) -> Attributes:
    return tuple((name, bytes.fromhex(value)) for name, value in rows)


def changes_to_bytes(changes: Iterable[Change]) -> bytes:
    """JSON escapes what is not UTF-8 in names, so they round-trip."""
    rows = [[change.path, _to_list(change.before), _to_list(change.after)] for change in changes]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 1)


def changes_from_bytes(data: bytes) -> list[Change]:
    rows = json.loads(zlib.decompress(data))
    return [Change(path, _from_list(before), _from_list(after)) for path, before, after in rows]


def _to_list(entry: FileEntry | None) -> list[Any] | None:
    if entry is None:
        return None
    digest = entry.digest.hex() if entry.digest else None
    row = [
        entry.kind,
        entry.mode,
        entry.size,
        entry.modified,
        digest,
        entry.target,
        entry.why_not_kept,
    ]
    if entry.kind == "tree":
        return [*row, [], entry.identity]
    return [*row, attributes_to_list(entry.attributes)] if entry.attributes else row


def _from_list(row: list[Any] | None) -> FileEntry | None:
    if row is None:
        return None
    kind, mode, size, modified, digest, target, why, *more = row
    return FileEntry(
        kind,
        mode,
        size,
        modified,
        digest=bytes.fromhex(digest) if digest else None,
        target=target,
        why_not_kept=why,
        attributes=attributes_from_list(*more[:1]),
        identity=(more[1][0], more[1][1]) if len(more) > 1 else (0, 0),
    )


# --- the state of a workspace

stat_key = attrgetter("st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns")
"""A file with the same key as in the last snapshot is not read again."""
folder_key = attrgetter("st_dev", "st_ino", "st_mode", "st_mtime_ns", "st_ctime_ns")
"""A folder with the same key is not listed again."""

_ROW = Struct("=QQqqqq")  # device and inode are unsigned
ROW_SIZE = _ROW.size
DIGEST_SIZE = 32
NO_CONTENT = bytes(DIGEST_SIZE)
"""The digest of what has no stored content."""
WHOLE = ""
"""The key in `Folder.not_kept` for the folder itself, if nothing in it is kept."""
_NO_TIME = b"\xff" * 8


def stat_row(facts: os.stat_result) -> bytes:
    device, inode, *rest = stat_key(facts)
    return _ROW.pack(device % 2**64, inode % 2**64, *rest)


def untrusted_row(row: bytes) -> bytes:
    """A row that matches no file, because of its change time: the file will be read again."""
    return row[: -len(_NO_TIME)] + _NO_TIME


@dataclass(slots=True, eq=False)
class Folder:
    """The contents of one folder. Never modified once a snapshot has it, and kept by the next
    snapshots as the same object as long as nothing changes.
    """

    own: tuple[int, ...] | None
    """Its `folder_key`; None if it must be listed again."""
    mode: int
    files: dict[str, bytes]
    """Everything but subfolders and what is excluded: the `stat_row` of each, and its digest."""
    folders: list[str]
    targets: dict[str, str] = field(default_factory=dict)
    """Of symlinks."""
    not_kept: dict[str, str] = field(default_factory=dict)
    """Why, for files and folders that are excluded or could not be stored."""
    attributes: dict[str, Attributes] = field(default_factory=dict)
    trees: dict[str, Identity] = field(default_factory=dict)
    """What is not kept, and could be moved away if a tool made it."""
    _hash: int | None = None

    @classmethod
    def closed(cls, why: str, mode: int = 0, identity: Identity | None = None) -> Folder:
        """A folder of which nothing is kept."""
        trees = {WHOLE: identity} if identity else {}
        return cls(None, mode, {}, [], {}, {WHOLE: why}, {}, trees)

    def is_unchanged(self, descriptor: int) -> bool:
        """Whether all files have the same stat values. An idle scan spends its time here.

        Comparing hashes of the values is a tenth faster than packing them to compare rows.
        """
        if self._hash is None:
            self._hash = hash(tuple(_ROW.unpack_from(row) for row in self.files.values()))
        look = os.stat
        try:
            keys = [
                stat_key(look(name, dir_fd=descriptor, follow_symlinks=False))
                for name in self.files
            ]
        except OSError:
            return False
        return hash(tuple(keys)) == self._hash

    def entries(self) -> dict[str, FileEntry]:
        """By name, without subfolders."""
        return {name: self._entry(name) for name in self.files}

    def known(self, name: str, row: bytes) -> FileEntry | None:
        """The entry of a file that still has this `stat_row`, if its content is stored."""
        if not self.files.get(name, b"").startswith(row):
            return None
        entry = self._entry(name)
        return entry if entry.digest else None

    def _entry(self, name: str) -> FileEntry:
        if name in self.targets:
            return FileEntry("link", 0o777, target=self.targets[name])
        row = self.files[name]
        _, _, mode, size, modified, _ = _ROW.unpack_from(row)
        digest = row[ROW_SIZE:]
        return FileEntry(
            "file",
            stat.S_IMODE(mode),
            size,
            modified,
            digest=None if digest == NO_CONTENT else digest,
            why_not_kept=self.not_kept.get(name, ""),
            attributes=self.attributes.get(name, ()),
        )

    def contents(self) -> set[bytes]:
        """The digests of all stored contents."""
        return {row[ROW_SIZE:] for row in self.files.values()} - {NO_CONTENT}

    def to_bytes(self) -> bytes:
        attributes = {name: attributes_to_list(values) for name, values in self.attributes.items()}
        facts = (
            self.own,
            self.mode,
            [*self.files],
            self.folders,
            self.targets,
            self.not_kept,
            attributes,
            self.trees,
        )
        head = json.dumps(facts, separators=(",", ":")).encode()
        rows = [row[:ROW_SIZE] for row in self.files.values()]
        digests = [row[ROW_SIZE:] for row in self.files.values()]
        return zlib.compress(b"".join((len(head).to_bytes(4, "big"), head, *rows, *digests)), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> Folder:
        raw = zlib.decompress(data)
        body = 4 + int.from_bytes(raw[:4], "big")
        own, mode, names, folders, targets, not_kept, *more = json.loads(raw[4:body])
        rows_end = body + ROW_SIZE * len(names)
        rows = _split(raw[body:rows_end], ROW_SIZE)
        digests = _split(raw[rows_end:], DIGEST_SIZE)
        files = {name: row + digest for name, row, digest in zip(names, rows, digests, strict=True)}
        attributes, trees = [*more, {}, {}][:2]  # earlier versions stored none
        return cls(
            tuple(own) if own else None,
            mode,
            files,
            folders,
            targets,
            not_kept,
            attributes={name: attributes_from_list(values) for name, values in attributes.items()},
            trees={name: (inode, born) for name, (inode, born) in trees.items()},
        )


def _split(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@dataclass(slots=True)
class Snapshot:
    """All folders by path; the workspace itself is the empty path."""

    folders: dict[str, Folder]

    def uncovered(self) -> list[Uncovered]:
        return [
            Uncovered(join_path(path, name), why)
            for path, folder in sorted(self.folders.items())
            for name, why in sorted(folder.not_kept.items())
        ]

    def changes_until(self, after: Snapshot) -> list[Change]:
        """What is different in a later snapshot, sorted by path."""
        # What could not be read on one side is not gone on the other.
        closed = tuple(
            f"{path}/"
            for folders in (self.folders, after.folders)
            for path, folder in folders.items()
            if WHOLE in folder.not_kept
        )
        changes: dict[str, Change] = {}
        for folder_path in self.folders.keys() | after.folders.keys():
            old, new = self.folders.get(folder_path), after.folders.get(folder_path)
            if old is new or (closed and f"{folder_path}/".startswith(closed)):
                continue
            old_entries, new_entries = _entries(folder_path, old), _entries(folder_path, new)
            for path in old_entries.keys() | new_entries.keys():
                change = Change(path, old_entries.get(path), new_entries.get(path))
                if not same(change.before, change.after):
                    # A folder that became a file is met twice: here, and in the folder above.
                    other = changes.get(path, change)
                    changes[path] = Change(
                        path, change.before or other.before, change.after or other.after
                    )
        made = (entry for entry in after.trees().items() if not self._has(entry[0]))
        changes |= {path: Change(path, None, tree) for path, tree in made}
        return [changes[path] for path in sorted(changes)]

    def trees(self) -> dict[str, FileEntry]:
        return {
            join_path(path, name) if name else path: FileEntry(
                "tree", 0, why_not_kept=folder.not_kept.get(name, ""), identity=identity
            )
            for path, folder in self.folders.items()
            for name, identity in folder.trees.items()
        }

    def _has(self, path: str) -> bool:
        """Whether anything was there that might have been kept."""
        if path in self.folders:
            return True
        above, _, name = path.rpartition("/")
        folder = self.folders.get(above)
        if folder is None:
            return bool(above) and self._has(above)
        listed = folder.not_kept, folder.files, folder.folders
        return WHOLE in folder.not_kept or any(name in names for names in listed)


def join_path(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _entries(path: str, folder: Folder | None) -> dict[str, FileEntry]:
    """By path, the folder itself included, unless it is the workspace."""
    if folder is None:
        return {}
    own = {path: FileEntry("folder", folder.mode)} if path else {}
    return own | {join_path(path, name): entry for name, entry in folder.entries().items()}
