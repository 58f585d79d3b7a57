"""An agent's changes taken out of a notebook, cell by cell, while everybody else's stay. Pure.

What the agent did is a series of steps, each with the notebook before and after; what lies
between two steps, and after the last one, is somebody else's work. A cell goes back through the
steps that changed it as long as each finds it as it left it, or as it found it. If one does
not, both have changed the cell, and the user decides. Outputs come and go by running, which is
nobody's change: a cell whose text stays keeps what it shows.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .entries import Change, FileEntry
from .store import WorkspaceState

Document = dict[str, Any]
"""A notebook as JSON, format 4.5 or later: its cells have ids."""

T = TypeVar("T")

KEPT_METADATA = frozenset({"language_info", "widgets"})
"""Written by kernels and by what cells show."""


class NotByCell(ValueError):
    """The cells of a notebook cannot be told apart: it is old, broken, or none."""


@dataclass(frozen=True)
class CellConflict:
    """A cell that both the agent and someone else changed."""

    cell_id: str
    number: int | None
    """Where it stands now, counted from 1; None if it was deleted."""
    before: str | None
    """Its text before the agent came; None if the agent inserted it."""
    now: str | None
    """Its text now; None if it was deleted."""


@dataclass(frozen=True)
class Merge:
    """A notebook without the agent's changes."""

    document: Document
    conflicts: tuple[CellConflict, ...]
    """Cells that stay as they are unless they are chosen."""
    cells: tuple[tuple[str, str | None], ...]
    """Each cell that goes back, by its id, and the text it gets; None if it goes away."""
    is_change: bool
    """Whether anything is not as it is now."""
    others_stay: bool
    """Whether there are cells that only somebody else changed."""


@dataclass(frozen=True)
class _Version:
    """One cell at one time; two are the same if their text is."""

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


def take_back(
    steps: Sequence[tuple[Document, Document]], now: Document, chosen: Collection[str] = ()
) -> Merge:
    """The notebook as it is now without the agent's steps, oldest first.

    `chosen` are ids of cells that go back although somebody else changed them, too. Raises
    `NotByCell`.
    """
    story = [(_notebook(before), _notebook(after)) for before, after in steps]
    present = _notebook(now)
    ids = dict.fromkeys(name for notebook in _all(story, present) for name in notebook.cells)
    outcomes = {
        name: _without_agent(
            [(before.cells.get(name), after.cells.get(name)) for before, after in story],
            present.cells.get(name),
        )
        for name in ids
    }
    conflicts = [name for name in ids if outcomes[name].conflict and name not in chosen]
    target = {
        name: outcome.before if outcome.conflict and name in chosen else outcome.value
        for name, outcome in outcomes.items()
    }
    orders = [(list(before.cells), list(after.cells)) for before, after in story]
    there = {name for name in ids if target[name] is not None}
    cells = []
    for name in arranged(orders, list(present.cells), there):
        version, current_cell = target[name], present.cells.get(name)
        assert version  # it is there
        cells.append(
            current_cell.cell if current_cell and current_cell == version else version.cell
        )
    document = {**now, "cells": cells, "metadata": _metadata(story, present)}
    return Merge(
        document,
        tuple(_conflict(name, outcomes[name], present) for name in conflicts),
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


def _all(story: list[tuple[_Notebook, _Notebook]], present: _Notebook) -> Iterable[_Notebook]:
    return [present, *(notebook for step in story for notebook in step)]


def _notebook(document: Document) -> _Notebook:
    try:
        cells = document["cells"]
        found = {str(cell["id"]): _version(cell) for cell in cells}
    except (KeyError, TypeError, AttributeError) as error:
        raise NotByCell(str(error)) from error
    if len(found) < len(cells):
        raise NotByCell("two cells have the same id")
    return _Notebook(document, found)


def _version(cell: dict[str, Any]) -> _Version:
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    return _Version(str(cell["cell_type"]), text, cell)


def _conflict(name: str, outcome: _Outcome[_Version], present: _Notebook) -> CellConflict:
    before, now = outcome.before, present.cells.get(name)
    number = list(present.cells).index(name) + 1 if now else None
    return CellConflict(
        name, number, before.source if before else None, now.source if now else None
    )


# One thing that both can change: a cell, or a key of the metadata


@dataclass(frozen=True)
class _Outcome(Generic[T]):
    value: T | None
    """What it is without the agent's steps; with a conflict, what it is now."""
    before: T | None
    """What it was before the first step that changed it."""
    touched: bool
    """Whether something of the agent's was in it."""
    conflict: bool = False


def _without_agent(steps: Sequence[tuple[T | None, T | None]], now: T | None) -> _Outcome[T]:
    joined = _joined(steps)
    first = (joined or steps)[0][0]
    value = now
    for before, after in reversed(joined):
        if value not in (before, after):
            return _Outcome(now, first, touched=True, conflict=now != first)
        value = before
    return _Outcome(value, first, touched=bool(joined))


def _joined(steps: Iterable[tuple[T | None, T | None]]) -> list[tuple[T | None, T | None]]:
    """Steps with nobody in between count as one; those that come to nothing as none."""
    found: list[tuple[T | None, T | None]] = []
    for before, after in steps:
        if found and found[-1][1] == before:
            found[-1] = (found[-1][0], after)
        else:
            found.append((before, after))
    return [(before, after) for before, after in found if before != after]


def _metadata(story: list[tuple[_Notebook, _Notebook]], present: _Notebook) -> dict[str, Any]:
    """That of the notebook, where what others changed stays without a question."""
    now = present.metadata
    keys = dict.fromkeys(key for notebook in _all(story, present) for key in notebook.metadata)
    found = {}
    for key in keys:
        steps = [
            (_boxed(before.metadata, key), _boxed(after.metadata, key)) for before, after in story
        ]
        outcome = _without_agent(steps, _boxed(now, key))
        boxed = _boxed(now, key) if key in KEPT_METADATA else outcome.value
        if boxed is not None:
            found[key] = boxed[0]
    return found


def _boxed(metadata: dict[str, Any], key: str) -> tuple[Any] | None:
    """A value, told apart from none."""
    return (metadata[key],) if key in metadata else None


Order = Sequence[str]
"""The ids of a notebook's cells, from top to bottom."""


def arranged(steps: Sequence[tuple[Order, Order]], now: Order, there: Collection[str]) -> list[str]:
    """The cells that are `there` as they stand now, but those that the agent placed as before.

    `steps` are the orders before and after each of the agent's steps, oldest first. Where
    somebody else has put a cell, it stays.
    """
    original = steps[0][0]
    later = [*(before for before, _ in steps[1:]), now]
    by_agent = _placed(steps)
    by_others = _placed(zip((after for _, after in steps), later, strict=True))
    found = [name for name in now if name in there]
    present = set(found)
    fixed = present - by_agent - by_others
    above: str | None = None
    for index, name in enumerate(original):
        if name not in there or name in present & by_others:
            continue
        if name not in fixed:
            below = next((cell_id for cell_id in original[index + 1 :] if cell_id in fixed), None)
            _put_between(found, name, above, below)
        above = name
    for before, _ in steps[1:]:
        _bring_back(found, before, there)
    return found


def _bring_back(found: list[str], order: Order, there: Collection[str]) -> None:
    """Cells that came between two steps, and that the agent deleted, come back at their place."""
    above: str | None = None
    for name in order:
        if name in there and name not in found:
            found.insert(0 if above is None else found.index(above) + 1, name)
        above = name if name in found else above


def _put_between(found: list[str], name: str, above: str | None, below: str | None) -> None:
    """Right behind `above`, unless it stands somewhere between the two already."""
    places = {cell_id: place for place, cell_id in enumerate(found)}
    start = -1 if above is None else places[above]
    end = len(found) if below is None else places[below]
    if start < places.get(name, -1) < end:
        return
    if name in places:
        found.remove(name)
    found.insert(0 if above is None else found.index(above) + 1, name)


def _placed(steps: Iterable[tuple[Order, Order]]) -> set[str]:
    """Cells that were inserted or moved."""
    found: set[str] = set()
    for before, after in steps:
        found |= set(after) - set(before)
        found |= _moved(before, after)
    return found


def _moved(before: Order, after: Order) -> set[str]:
    """The fewest cells that must have been moved: all but a longest run that kept its order."""
    places = {name: place for place, name in enumerate(before)}
    common = [name for name in after if name in places]
    ends: list[str] = []  # for each length, the run whose end stood highest before
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


MAX_SIZE = 64 * 1024 * 1024


def is_notebook(path: str) -> bool:
    """Whether the name is that of a notebook."""
    return path.lower().endswith(".ipynb")


def merged_notebook(
    state: WorkspaceState,
    steps: Sequence[Change],
    present: FileEntry | None,
    chosen: Collection[str],
) -> Merge | None:
    """What is there now without these changes; None where that cannot be told cell by cell."""
    found = [_document(state, entry) for step in steps for entry in (step.before, step.after)]
    now = _document(state, present)
    documents = [document for document in found if document is not None]
    if now is None or len(documents) < len(found):
        return None
    try:
        return take_back(list(zip(documents[::2], documents[1::2], strict=True)), now, chosen)
    except NotByCell:
        return None


def kept_notebook(
    state: WorkspaceState, document: Document, present: FileEntry | None
) -> FileEntry:
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
