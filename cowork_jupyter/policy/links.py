"""Further names of files: a hard link is the same file, so what covers one name covers them all."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

_FileId = tuple[int, int]
_MAX_INSIDE = 50_000
"""Files in covered folders that are looked at."""
_MAX_WALKED = 500_000
"""Entries of the workspace among which other names are searched."""


def has_other_names(path: str) -> bool:
    try:
        return _is_linked(os.lstat(path))
    except (OSError, ValueError):
        return False


def other_names(covered: Collection[str], root: str) -> dict[str, int]:
    """Names below the root of files that have one among these, or in a folder among these.

    Each with its inode. Almost always no such file has a second name, and nothing is searched.
    """
    missing, found = _names_elsewhere(covered), dict[str, int]()
    inodes = {inode for _, inode in missing}
    for entry in islice(_walk(root, covered), _MAX_WALKED) if missing else ():
        if entry.inode() not in inodes or not entry.is_file(follow_symlinks=False):
            continue
        facts = entry.stat(follow_symlinks=False)
        file = facts.st_dev, facts.st_ino
        if file in missing:
            found[entry.path] = facts.st_ino
            missing[file] -= 1
            if not any(missing.values()):
                break
    return found


def _names_elsewhere(covered: Collection[str]) -> dict[_FileId, int]:
    """How many further names each file has that has any."""
    missing = dict[_FileId, int]()
    for facts in _files(covered):
        if _is_linked(facts):
            file = facts.st_dev, facts.st_ino
            missing[file] = missing.get(file, facts.st_nlink) - 1
    return {file: names for file, names in missing.items() if names > 0}


def _is_linked(facts: os.stat_result) -> bool:
    return stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1


def _files(covered: Iterable[str]) -> Iterator[os.stat_result]:
    """These files, then those in these folders."""
    folders = list[str]()
    for path in covered:
        try:
            facts = os.lstat(path)
        except OSError:  # gone
            continue
        if stat.S_ISDIR(facts.st_mode):
            folders.append(path)
        else:
            yield facts
    inside = (entry for folder in folders for entry in _walk(folder))
    for entry in islice(inside, _MAX_INSIDE):
        try:
            yield entry.stat(follow_symlinks=False)
        except OSError:
            continue


def _walk(top: str, closed: Collection[str] = ()) -> Iterator[os.DirEntry[str]]:
    """All entries but those that are closed, and what is in these."""
    waiting = [top]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                listed = [entry for entry in entries if entry.path not in closed]
        except OSError:
            continue
        waiting += (entry.path for entry in listed if entry.is_dir(follow_symlinks=False))
        yield from listed
