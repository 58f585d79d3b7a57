"""Reverts an agent's changes to a notebook cell by cell, while everybody else's stay.

What the agent did is a series of steps, each with the notebook before and after; what lies
between two steps, and after the last one, is somebody else's work. A cell is reverted through the
steps that changed it as long as each finds it as it left it, or as it found it. If one does
not, both have changed the cell: a conflict, and the user decides. Outputs are nobody's change: a
cell whose text stays keeps its outputs.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..domain.redaction import without_surrogates
from .entries import Change, FileEntry
from .views import SkippedCell
from .workspace_state import WorkspaceState

Document = dict[str, Any]
"""A notebook as JSON, in format 4.5 or later, where cells have ids."""

T = TypeVar("T")

MAX_SIZE = 64 * 1024 * 1024
KEPT_METADATA = frozenset({"language_info", "widgets"})
"""Written by kernels and outputs."""
_MISSING: Any = object()
Order = Sequence[str]
"""The ids of a notebook's cells, from top to bottom."""


class NotByCell(ValueError):
    """The notebook is old or broken: its cells have no unique ids."""


@dataclass(frozen=True)
class Merge:
    document: Document
    conflicts: list[SkippedCell]
    """Cells that stay as they are unless the user chooses to revert them."""
    cells: tuple[tuple[str, str | None], ...]
    """The id of each cell that changes, and its new text; None if it is removed."""
    is_change: bool
    others_stay: bool
    """Whether somebody else changed cells that the agent did not."""


@dataclass(frozen=True)
class _Version:
    """Equal if type and text are."""

    cell_type: str
    source: str
    cell: dict[str, Any] = field(compare=False)


@dataclass(frozen=True)
class _Notebook:
    document: Document
    cells: dict[str, _Version]

    @property
    def metadata(self) -> dict[str, Any]:
        return dict(self.document.get("metadata") or {})


def revert_steps(
    steps: Sequence[tuple[Document, Document]], now: Document, chosen: Collection[str] | None = ()
) -> Merge:
    """The present notebook without the agent's steps, given oldest first.

    `chosen` are ids of cells, as shown to the user, to revert although somebody else changed them,
    too; None means all. Raises `NotByCell`.
    """
    history = [(_notebook(before), _notebook(after)) for before, after in steps]
    present = _notebook(now)
    ids = dict.fromkeys(name for notebook in _all(history, present) for name in notebook.cells)
    outcomes = {
        name: _without_agent(
            [(before.cells.get(name), after.cells.get(name)) for before, after in history],
            present.cells.get(name),
        )
        for name in ids
    }
    both_changed = [name for name in ids if outcomes[name].conflict]
    conflicts = [
        name
        for name in both_changed
        if chosen is not None and without_surrogates(name) not in chosen
    ]
    target = {
        name: outcome.before if outcome.conflict and name not in conflicts else outcome.value
        for name, outcome in outcomes.items()
    }
    orders = [(list(before.cells), list(after.cells)) for before, after in history]
    there = {name for name in ids if target[name] is not None}
    cells = []
    for name in _arrange(orders, list(present.cells), there):
        version, current_cell = target[name], present.cells.get(name)
        assert version  # it is there
        cells.append(
            current_cell.cell if current_cell and current_cell == version else version.cell
        )
    document = {**now, "cells": cells, "metadata": _metadata(history, present)}
    return Merge(
        document,
        [_conflict(name, outcomes[name], present) for name in conflicts],
        tuple(
            (name, version.source if (version := target[name]) else None)
            for name in ids
            if target[name] != present.cells.get(name)
        ),
        document != now,
        any(
            not outcome.touched and outcome.value != outcome.before for outcome in outcomes.values()
        ),
    )


def _all(history: list[tuple[_Notebook, _Notebook]], present: _Notebook) -> Iterable[_Notebook]:
    return [present, *(notebook for step in history for notebook in step)]


def _notebook(document: Document) -> _Notebook:
    try:
        cells = document["cells"]
        versions = {str(cell["id"]): _version(cell) for cell in cells}
    except (KeyError, TypeError, AttributeError) as error:
        raise NotByCell(str(error)) from error
    if len(versions) < len(cells):
        raise NotByCell("two cells have the same id")
    return _Notebook(document, versions)


def _version(cell: dict[str, Any]) -> _Version:
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    return _Version(str(cell["cell_type"]), text, cell)


def _conflict(name: str, outcome: _Outcome[_Version], present: _Notebook) -> SkippedCell:
    before, now = outcome.before, present.cells.get(name)
    number = list(present.cells).index(name) + 1 if now else None
    return SkippedCell(
        cell_id=without_surrogates(name),
        number=number,
        before=without_surrogates(before.source) if before else None,
        now=without_surrogates(now.source) if now else None,
    )


@dataclass(frozen=True)
class _Outcome(Generic[T]):
    """Of a cell, or a key of the metadata."""

    value: T | None
    """Without the agent's steps; with a conflict, as it is now."""
    before: T | None
    """Before the first step that changed it."""
    touched: bool
    """Whether the agent changed it."""
    conflict: bool = False


def _without_agent(steps: Sequence[tuple[T | None, T | None]], now: T | None) -> _Outcome[T]:
    changing = _join(steps)
    first = (changing or steps)[0][0]
    value = now
    for before, after in reversed(changing):
        if value not in (before, after):
            return _Outcome(now, first, touched=True, conflict=now != first)
        value = before
    return _Outcome(value, first, touched=bool(changing))


def _join(steps: Iterable[tuple[T | None, T | None]]) -> list[tuple[T | None, T | None]]:
    """Join steps without a change of others in between; drop those without effect."""
    joined: list[tuple[T | None, T | None]] = []
    for before, after in steps:
        if joined and joined[-1][1] == before:
            joined[-1] = (joined[-1][0], after)
        else:
            joined.append((before, after))
    return [(before, after) for before, after in joined if before != after]


def _metadata(history: list[tuple[_Notebook, _Notebook]], present: _Notebook) -> dict[str, Any]:
    """Of the notebook. There are no conflicts: what others changed stays."""
    now = present.metadata
    keys = dict.fromkeys(key for notebook in _all(history, present) for key in notebook.metadata)
    metadata = {}
    for key in keys:
        steps = [
            (before.metadata.get(key, _MISSING), after.metadata.get(key, _MISSING))
            for before, after in history
        ]
        value = now.get(key, _MISSING)
        if key not in KEPT_METADATA:
            value = _without_agent(steps, value).value
        if value is not _MISSING:
            metadata[key] = value
    return metadata


def _arrange(steps: Sequence[tuple[Order, Order]], now: Order, there: Collection[str]) -> list[str]:
    """Order the cells that are `there` as now, but those that the agent placed as before.

    `steps` are the orders before and after each of the agent's steps. Where somebody else has
    put a cell, it stays.
    """
    original = steps[0][0]
    later = [*(before for before, _ in steps[1:]), now]
    by_agent = _placed(steps)
    by_others = _placed(zip((after for _, after in steps), later, strict=True))
    arranged = [name for name in now if name in there]
    present = set(arranged)
    fixed = present - by_agent - by_others
    above: str | None = None
    for index, name in enumerate(original):
        if name not in there or name in present & by_others:
            continue
        if name not in fixed:
            below = next((cell_id for cell_id in original[index + 1 :] if cell_id in fixed), None)
            _put_between(arranged, name, above, below)
        above = name
    for before, _ in steps[1:]:
        _bring_back(arranged, before, there)
    return arranged


def _bring_back(arranged: list[str], order: Order, there: Collection[str]) -> None:
    """Insert cells that others added between two steps and the agent deleted."""
    above: str | None = None
    for name in order:
        if name in there and name not in arranged:
            _put_between(arranged, name, above, None)
        above = name if name in arranged else above


def _put_between(arranged: list[str], name: str, above: str | None, below: str | None) -> None:
    """Put the cell right behind `above`, unless it is between the two already."""
    places = {cell_id: place for place, cell_id in enumerate(arranged)}
    start = -1 if above is None else places[above]
    end = len(arranged) if below is None else places[below]
    if start < places.get(name, -1) < end:
        return
    if name in places:
        arranged.remove(name)
    arranged.insert(0 if above is None else arranged.index(above) + 1, name)


def _placed(steps: Iterable[tuple[Order, Order]]) -> set[str]:
    placed: set[str] = set()
    for before, after in steps:
        placed |= set(after) - set(before)
        placed |= _moved(before, after)
    return placed


def _moved(before: Order, after: Order) -> set[str]:
    """The fewest cells that must have moved: all but a longest increasing subsequence."""
    places = {name: place for place, name in enumerate(before)}
    common = [name for name in after if name in places]
    ends: list[str] = []  # for each length, the subsequence whose end stood highest before
    previous: dict[str, str | None] = {}
    for name in common:
        length = bisect_left(ends, places[name], key=places.__getitem__)
        previous[name] = ends[length - 1] if length else None
        ends[length : length + 1] = [name]
    moved = set(common)
    end = ends[-1] if ends else None
    while end is not None:
        moved.remove(end)
        end = previous[end]
    return moved


def is_notebook(path: str) -> bool:
    return path.lower().endswith(".ipynb")


def merge_notebook(
    state: WorkspaceState,
    steps: Sequence[Change],
    present: FileEntry | None,
    chosen: Collection[str] | None,
) -> Merge | None:
    """The present notebook without these changes; None if it cannot be merged by cell."""
    versions = [_document(state, entry) for step in steps for entry in (step.before, step.after)]
    now = _document(state, present)
    documents = [document for document in versions if document is not None]
    if now is None or len(documents) < len(versions):
        return None
    try:
        return revert_steps(list(zip(documents[::2], documents[1::2], strict=True)), now, chosen)
    except NotByCell:
        return None


def store_notebook(
    state: WorkspaceState, document: Document, present: FileEntry | None
) -> FileEntry:
    """Store the document as Jupyter writes it."""
    text = json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True)
    # Lone surrogates, which JSON can have and UTF-8 cannot, are written as JSON escapes.
    return state.store_content(f"{text}\n".encode("utf-8", "backslashreplace"), present)


def _document(state: WorkspaceState, entry: FileEntry | None) -> Document | None:
    if entry is None or entry.digest is None or entry.size > MAX_SIZE:
        return None
    try:
        document: Any = json.loads(state.store.objects.read(entry.digest))
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
