"""Paths of this server, as pages and sessions name files, and what the workspace calls them."""

from __future__ import annotations

import os.path
from pathlib import Path


def real_path(root: str | Path, path: str | Path) -> str:
    """Where a file of the server, or of the workspace, really is."""
    return os.path.realpath(os.path.join(root, path))  # noqa: PTH118


def workspace_path(root: str, path: str, workspace: Path) -> str:
    """What the record calls the file at a path of the server."""
    return os.path.relpath(real_path(root, path), os.path.realpath(workspace))
