"""Notebooks that somebody else has changed, too, or has open, go back by their cells."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from .entries import Change, FileEntry
from .merge import Document, Merge, NotByCell, take_back
from .store import WorkspaceState

MAX_SIZE = 64 * 1024 * 1024


def is_notebook(path: str) -> bool:
    """Whether the name is that of a notebook."""
    return path.lower().endswith(".ipynb")


def merged(
    state: WorkspaceState,
    steps: Sequence[Change],
    present: FileEntry | None,
    chosen: Collection[str],
) -> Merge | None:
    """What is there now without these changes; None where that cannot be told cell by cell."""
    found = [_document(state, one) for step in steps for one in (step.before, step.after)]
    now = _document(state, present)
    documents = [one for one in found if one is not None]
    if now is None or len(documents) < len(found):
        return None
    try:
        return take_back(list(zip(documents[::2], documents[1::2], strict=True)), now, chosen)
    except NotByCell:
        return None


def kept(state: WorkspaceState, document: Document, present: FileEntry | None) -> FileEntry:
    """The document as a file, written as Jupyter writes it."""
    text = json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True)
    # Half a character, which JSON can have and UTF-8 cannot, is written as JSON's escape of it.
    return state.keep(f"{text}\n".encode("utf-8", "backslashreplace"), present)


def _document(state: WorkspaceState, entry: FileEntry | None) -> Document | None:
    if entry is None or entry.digest is None or entry.size > MAX_SIZE:
        return None
    try:
        found: Any = json.loads(state.store.objects.read(entry.digest))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
