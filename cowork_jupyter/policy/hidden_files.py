"""Files of the workspace that code must not come across without asking.

A tool that reads a file names it, and so it can be decided about. Code that needs no approval
names nothing, so it finds these empty: what may contain secrets, and what a rule keeps from
being read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

from .paths import AnchorDirs, Target
from .protected import is_secret
from .rules import Rule, matches_path

_NOT_ENTERED = frozenset({".git", "node_modules", "__pycache__"})
"""What is in there is published, or made from what is beside it."""
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_INSTALLED = _NOT_ENTERED | {"lib", "lib64", "include", "share", "pkgs"}
"""The same in an environment, where packages bring certificates of their own."""


def hidden_files(anchors: AnchorDirs, rules: Sequence[Rule]) -> dict[str, int]:
    """Files and whole folders that `is_secret`, or one of the rules, is about.

    Each with its inode: what is put in its place is another one, and has to be hidden anew.
    """
    about = [rule for rule in rules if not rule.is_bare]
    found, waiting = dict[str, int](), [anchors.root]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                listed = list(entries)
        except OSError:  # what we cannot read, the code cannot either
            continue
        is_environment = _ENVIRONMENT_MARKS.intersection(entry.name for entry in listed)
        closed = _INSTALLED if is_environment else _NOT_ENTERED
        for entry in listed:
            if _is_hidden(entry, about, anchors):
                found[entry.path] = entry.inode()
            elif entry.is_dir(follow_symlinks=False) and entry.name not in closed:
                waiting.append(entry.path)
    return found


def _is_hidden(entry: os.DirEntry[str], rules: Sequence[Rule], anchors: AnchorDirs) -> bool:
    # Of a file its name says it, since all folders above it were looked at; of a folder, where it
    # lies in the workspace.
    is_folder = entry.is_dir(follow_symlinks=False)
    if _is_secret(entry.path[len(anchors.root) :] if is_folder else f"/{entry.name}"):
        return True
    target = Target(entry.path, entry.path)
    return any(matches_path(rule, target, anchors) for rule in rules)


@lru_cache(maxsize=100_000)
def _is_secret(path: str) -> bool:
    """Kept, because the same names are looked at each time that code runs."""
    return is_secret(Target(path, path))
