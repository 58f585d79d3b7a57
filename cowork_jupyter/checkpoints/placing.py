"""Where cells stand after an agent's changes were taken out of a notebook."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence

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
            below = next((one for one in original[index + 1 :] if one in fixed), None)
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
    places = {one: place for place, one in enumerate(found)}
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
