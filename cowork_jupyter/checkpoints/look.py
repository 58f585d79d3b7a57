"""The numbers by which files are known again, and whether a folder's are as they were.

A second process runs this file alone, see `looker`; it imports next to nothing, so that it
is small and starts at once.
"""

from __future__ import annotations

import marshal
import os
import sys
from array import array
from operator import attrgetter
from struct import Struct

DIFFERENT, SAME = 0, 1
"""All that the second process says of a folder."""

Known = tuple[tuple[int, ...], list[str], int]
"""A folder's own numbers, the names in it and the mark of theirs."""
Question = tuple[list[str], dict[str, Known]]
"""Folders to look at, one after the other, and what is not known of them yet."""

numbers_of = attrgetter("st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns")
own_numbers_of = attrgetter("st_dev", "st_ino", "st_mode", "st_mtime_ns", "st_ctime_ns")
_ROW = Struct("=QQqqqq")
"""What is packed, as the system gives it: device and inode have no sign."""
_NEVER = array("q", [-1]).tobytes()


def unchanged(descriptor: int, names: list[str], mark: int) -> bool:
    """Whether all numbers are as they were. This line is where an idle scan spends its time."""
    look = os.stat
    try:
        found = [numbers_of(look(name, dir_fd=descriptor, follow_symlinks=False)) for name in names]
    except OSError:
        return False
    return hash(tuple(found)) == mark


def mark_of(rows: bytes) -> int:
    """One number (of 64 bits) that stands for those of all files of a folder.

    Hashing them as they come takes a tenth less time than packing them to compare bytes.
    """
    return hash(tuple(_ROW.iter_unpack(rows)))


def packed(numbers: list[int] | tuple[int, ...]) -> bytes:
    """Numbers as bytes, which are compared at once."""
    try:
        return array("q", numbers).tobytes()
    except OverflowError:  # some filesystems number their files beyond what is signed
        return array("q", [(number + 2**63) % 2**64 - 2**63 for number in numbers]).tobytes()


def row_of(facts: os.stat_result) -> bytes:
    """The numbers by which a file is known again."""
    return packed(numbers_of(facts))


def doubted(row: bytes) -> bytes:
    """The numbers of a file that will be read again, because no file has this time of change."""
    return row[: -len(_NEVER)] + _NEVER


def main() -> None:
    """Answer, as long as somebody asks: which folders below the current one are unchanged?"""
    known: dict[str, Known] = {}
    while True:
        try:
            paths, news = marshal.load(sys.stdin.buffer)  # noqa: S302 (from the scan)
        except EOFError:
            return
        known = {path: news.get(path) or known[path] for path in paths}  # the rest is forgotten
        for path in paths:
            os.write(1, bytes([SAME if _is_same(path, known[path]) else DIFFERENT]))


def _is_same(path: str, known: Known) -> bool:
    """The folder's own numbers tell, too, that it is the folder that was meant."""
    own, names, mark = known
    try:
        descriptor = os.open(
            path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        )
    except OSError:
        return False
    try:
        return own_numbers_of(os.fstat(descriptor)) == own and unchanged(descriptor, names, mark)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
