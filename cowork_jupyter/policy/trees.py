"""Commands that read whole folders, and so files that nobody has named.

`grep -r x .` would read `.env` as well, so the files are listed before such a command is decided
about. What git stores of a file counts as published, and is not checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from .paths import AnchorDirs, Target, target_of
from .shell import SimpleCommand
from .shell.table import program_name

MAX_FILES = 5000
"""With more files than this the command asks."""

_GREPS = {"grep", "egrep", "fgrep", "zgrep", "bzgrep", "xzgrep", "diff"}
_SEARCHERS = {"rg", "ag", "ack", "ugrep", "ug"}
_RECURSE = {"--recursive", "--dereference-recursive", "--directories=recurse", "recurse"}
_HIDDEN_TOO = {"--hidden", "--no-ignore", "--unrestricted", "--all", "-."}
_FOLLOW = {"--follow", "--dereference-recursive"}


@dataclass(frozen=True)
class Tree:
    files: tuple[Target, ...]
    complete: bool


def tree_read_by(command: SimpleCommand, folder: str, anchors: AnchorDirs) -> Tree | None:
    """What a command would read beside the files that it names; None if nothing."""
    argv = next(filter(_searches, filter(None, (command.words, *command.hidden))), None)
    if argv is None:
        return None
    words = [target_of(anchors, word, folder).real for word in argv[1:] if word[:1] != "-"]
    tops = [word for word in words if os.path.isdir(word)] or [folder]  # noqa: PTH112
    entries = (entry for top in tops for entry in _walk(top, hidden=_sees_hidden(argv)))
    follow = _has(argv, "RL", _FOLLOW)
    files = list[Target]()
    for entry in entries:
        if len(files) >= MAX_FILES:
            return Tree(tuple(files), complete=False)
        if not entry.is_symlink():
            files.append(Target(entry.path, entry.path))
        elif follow:
            files.append(target_of(anchors, entry.path))
    return Tree(tuple(files), complete=True)


def _searches(argv: tuple[str, ...]) -> bool:
    name = program_name(argv[0])
    return name in _SEARCHERS or (name in _GREPS and _has(argv, "rR", _RECURSE))


def _sees_hidden(argv: tuple[str, ...]) -> bool:
    return program_name(argv[0]) in _GREPS or _has(argv, "u.", _HIDDEN_TOO)


def _has(argv: tuple[str, ...], short: str, long: set[str]) -> bool:
    """Whether one of these flags is given. A value that looks like one counts: that asks too
    often.
    """
    flags = [word for word in argv[1:] if word.startswith("-") and not word.startswith("--")]
    return any(set(short) & set(flag) for flag in flags) or bool(long.intersection(argv))


def _walk(top: str, *, hidden: bool) -> Iterator[os.DirEntry[str]]:
    waiting = [top]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                entries = [entry for entry in found if hidden or not entry.name.startswith(".")]
        except OSError:  # what we cannot read, the command cannot either
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry
