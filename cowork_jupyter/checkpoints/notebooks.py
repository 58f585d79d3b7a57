"""Notebooks go back by their cells: running them is no change of anybody's.

Outputs come and go while a notebook is open, cards in it too. So what counts as changed by
somebody else is the text of cells; and what goes back is that text, while every cell that
stays as it is keeps what it shows now.
"""

from __future__ import annotations

import json
from typing import Any

from .entries import Change, Entry
from .store import WorkspaceState

LARGEST = 64 * 1024 * 1024

Cells = list[tuple[str, str, str]]
"""The id, the type and the text of each."""


def taken_back(state: WorkspaceState, story: list[Change], present: Entry | None) -> Entry | None:
    """The notebook without our changes; None where others have changed its cells, too."""
    found = [_document(state, one) for one in (story[0].before, present)]
    if found[0] is None or found[1] is None:
        return None
    ours = [_cells(found[0])]
    for change in story:
        before, after = _document(state, change.before), _document(state, change.after)
        if before is None or after is None or _cells(before) not in ours:
            return None
        ours.append(_cells(after))
    if _cells(found[1]) not in ours:
        return None
    return state.keep(_merged(found[0], found[1]), present)


def is_notebook(path: str) -> bool:
    """Whether the name is that of a notebook."""
    return path.lower().endswith(".ipynb")


def _document(state: WorkspaceState, entry: Entry | None) -> dict[str, Any] | None:
    """What is in a notebook whose cells can be told apart; None if they cannot."""
    if entry is None or entry.digest is None or entry.size > LARGEST:
        return None
    try:
        found = json.loads(state.store.objects.read(entry.digest))
        _cells(found)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return dict(found)


def _cells(document: dict[str, Any]) -> Cells:
    return [(str(one["id"]), str(one["cell_type"]), _text(one)) for one in document["cells"]]


def _text(cell: dict[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _merged(target: dict[str, Any], present: dict[str, Any]) -> bytes:
    """The cells of one, each as the other shows it if its text is the same."""
    shown = {one["id"]: one for one in present["cells"]}
    cells = []
    for cell in target["cells"]:
        now = shown.get(cell["id"])
        stays = now and now["cell_type"] == cell["cell_type"] and _text(now) == _text(cell)
        cells.append(now if stays else cell)
    text = json.dumps({**target, "cells": cells}, indent=1, ensure_ascii=False, sort_keys=True)
    return f"{text}\n".encode()
