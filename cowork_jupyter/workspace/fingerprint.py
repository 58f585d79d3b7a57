"""Has a file changed? Answered from what the system keeps about it, without reading it."""

from __future__ import annotations

from ..domain.errors import CoworkError
from .workspace import Workspace

GONE = "gone"


def fingerprint(workspace: Workspace, path: str) -> str:
    """Something that differs once the file has been written; `GONE` where there is none."""
    try:
        with workspace.locate(path) as place:
            facts = place.stat()
    except CoworkError:
        return GONE
    return f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}"
