"""Notices when an agent goes in circles."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...domain.replies import ToolCall

_MEMORY = 4
_NO_CALL = ""


class CircleGuard:
    """Told of every turn, says which circle it sees, if any."""

    def __init__(self) -> None:
        self._turns: list[str] = []

    def observe(self, calls: Sequence[ToolCall]) -> str | None:
        """Remember a turn. Returns the circle that it closes, in words."""
        self._turns = [*self._turns, _signature(calls)][-_MEMORY:]
        circle = find_circle(self._turns)
        if circle:
            self._turns.clear()
        return circle


def find_circle(turns: Sequence[str]) -> str | None:
    """What the newest turns have in common: AAA, ABAB, or three without any call."""
    if len(turns) >= 3 and len(set(turns[-3:])) == 1:
        monologue = turns[-1] == _NO_CALL
        return "three replies without a call" if monologue else "the same call three times"
    if len(turns) >= 4 and tuple(turns[-4:-2]) == tuple(turns[-2:]) and _NO_CALL not in turns[-2:]:
        return "the same two calls in turn"
    return None


def _signature(calls: Sequence[ToolCall]) -> str:
    if not calls:
        return _NO_CALL
    return json.dumps([(call.tool, call.parameters) for call in calls], sort_keys=True, default=str)
