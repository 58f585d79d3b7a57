"""Extended attributes that people and programs give to files (`user.…`): origin, type, tags.

They come back together with the content. To change nothing but them is no change: programs
that sync folders set theirs long after a file was written, and a rollback would take that for
the user's work. What belongs to the system, such as access lists, is left to the system.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

Attributes = tuple[tuple[str, bytes], ...]
"""Names and values, sorted."""

MAX = 64 * 1024
"""Bytes of all values of one file; where there are more, none is kept."""
_OURS = "user."


def attributes_of(file: int) -> Attributes:
    """Those of an open file; none where the system knows of none."""
    if not hasattr(os, "listxattr"):
        return ()
    try:
        names = os.listxattr(file)
        if not names:  # as nearly always
            return ()
        found = sorted((name, os.getxattr(file, name)) for name in names if name.startswith(_OURS))
    except OSError:
        return ()
    return tuple(found) if sum(len(value) for _, value in found) <= MAX else ()


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
