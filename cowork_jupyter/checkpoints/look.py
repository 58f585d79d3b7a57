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

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

AT_ONCE = 40
"""Folders that the second process tells about at a time."""

Known = tuple[str, tuple[int, ...], list[str], bytes]
"""A folder's path, its own numbers, the names in it and theirs."""

numbers_of = attrgetter("st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns")
own_numbers_of = attrgetter("st_dev", "st_ino", "st_mode", "st_mtime_ns", "st_ctime_ns")


def unchanged(descriptor: int, names: list[str], rows: bytes) -> bool:
    """Whether all numbers are as they were. This loop is where an idle scan spends its time."""
    numbers: list[int] = []
    look, add = os.stat, numbers.extend
    try:
        for name in names:
            add(numbers_of(look(name, dir_fd=descriptor, follow_symlinks=False)))
    except OSError:
        return False
    return packed(numbers) == rows


def packed(numbers: list[int] | tuple[int, ...]) -> bytes:
    """Numbers as bytes, which are compared at once."""
    try:
        return array("q", numbers).tobytes()
    except OverflowError:  # some filesystems number their files beyond what is signed
        return array("q", [(one + 2**63) % 2**64 - 2**63 for one in numbers]).tobytes()


def main() -> None:
    """Answer, as long as somebody asks: which folders below the current one are unchanged?"""
    while True:
        try:
            folders: list[Known] = marshal.load(sys.stdin.buffer)  # noqa: S302 (from the scan)
        except EOFError:
            return
        for start in range(0, len(folders), AT_ONCE):
            some = folders[start : start + AT_ONCE]
            _say([folder[0] for folder in some if _is_same(*folder)])
        _say(None)


def _say(paths: list[str] | None) -> None:
    """Tell what was found so far; None is the end of an answer."""
    marshal.dump(paths, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _is_same(path: str, own: tuple[int, ...], names: list[str], rows: bytes) -> bool:
    """The folder's own numbers tell, too, that it is the folder that was meant."""
    try:
        descriptor = os.open(path or ".", OPEN_FOLDER)
    except OSError:
        return False
    try:
        return own_numbers_of(os.fstat(descriptor)) == own and unchanged(descriptor, names, rows)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
