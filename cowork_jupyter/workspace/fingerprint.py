"""Detect changed files, mostly from stat data and without reading them."""

from __future__ import annotations

import hashlib
import json
import os
import stat

from ..domain.errors import CoworkError
from .workspace import Workspace

GONE = "gone"
_FOLDER = "folder"
_MAX_READ = 16 * 2**20
"""Of larger files only the stat data counts."""


def fingerprint(workspace: Workspace, path: str) -> str:
    """Return a value for `has_changed`; `GONE` if there is no such file."""
    kept = _kept(workspace, path)
    digest = "" if kept in (GONE, _FOLDER) else _digest(workspace, path)
    return f"{kept} {digest}".rstrip()


def has_changed(workspace: Workspace, path: str, known: str) -> bool:
    """Whether the content differs from `known`. Folders never count as changed."""
    kept, _, digest = known.partition(" ")
    now = _kept(workspace, path)
    if now in (kept, _FOLDER):
        return False
    return not digest or now == GONE or _digest(workspace, path) != digest


def _kept(workspace: Workspace, path: str) -> str:
    try:
        with workspace.locate(path) as place:
            facts = place.stat()
    except CoworkError:
        return GONE
    if stat.S_ISDIR(facts.st_mode):
        return _FOLDER
    return _written(facts)


def _written(facts: os.stat_result) -> str:
    return f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}"


def _digest(workspace: Workspace, path: str) -> str:
    try:
        with workspace.locate(path) as place:
            data = place.read(_MAX_READ + 1)
    except CoworkError:
        return ""
    if len(data) > _MAX_READ:
        return ""
    return hashlib.sha256(_cells(data) if path.endswith(".ipynb") else data).hexdigest()


def _cells(data: bytes) -> bytes:
    """What somebody wrote into a notebook; outputs and execution counts change with every run."""
    try:
        cells = json.loads(data)["cells"]
        written = [[cell["cell_type"], "".join(cell["source"])] for cell in cells]
    except (ValueError, KeyError, TypeError):
        return data
    return json.dumps(written).encode()
