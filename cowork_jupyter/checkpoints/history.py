"""Checkpoints put together: one step, one job, everything since."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from .entries import Change
from .store import Stored
from .unfinished import merged

Scope = Literal["this", "step", "job", "card", "since"]
"""One tool; all of its plan step; all of its job; it and what came after it in the jobs of the
same card; it and all that came after it."""


def selected(
    history: list[Stored], first: Stored, scope: Scope, card: Collection[str] = ()
) -> list[Stored]:
    """The checkpoints of one conversation that a word stands for, oldest first.

    `card` are the jobs on the card that shows the first one's.
    """
    own = [one for one in history if one.context_id == first.context_id]
    if scope == "card":
        after = [one for one in own if one.position >= first.position]
        return [one for one in after if one.id == first.id or one.job_id in card]
    if scope == "since" or (scope == "this" and not first.changes):
        # What was noted before a job has no changes of its own: it stands for all that follows.
        return [one for one in own if one.position >= first.position]
    if scope == "job" or (scope == "step" and first.task_id is None):
        return [one for one in own if one.job_id == first.job_id] if first.job_id else [first]
    if scope == "step":
        return [one for one in own if one.task_id == first.task_id]
    return [first]


def between(history: list[Stored], one: Stored, other: Stored) -> list[Stored]:
    """The checkpoints after the older of the two, up to and with the newer."""
    low, high = sorted((one.position, other.position))
    return [each for each in history if low < each.position <= high]


def composed(checkpoints: Iterable[Stored]) -> list[Change]:
    """All changes as one: what was there at first, what is there in the end."""
    return merged(change for checkpoint in checkpoints for change in checkpoint.changes)
