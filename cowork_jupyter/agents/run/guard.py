"""Detects agents that go in circles."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...domain.replies import ToolCall

_MEMORY = 4
_SAME = 3
_NO_CALL = ""


class CircleGuard:
    def __init__(self) -> None:
        self._turns: list[str] = []
        self._errors: list[str] = []

    def observe(self, calls: Sequence[ToolCall], error: str = "") -> str | None:
        """Record a turn and its error. Returns the circle that it closes, in words."""
        self._turns = [*self._turns, _signature(calls)][-_MEMORY:]
        self._errors = [*self._errors, error][-_SAME:]
        circle = find_circle(self._turns) or _same_error(self._errors)
        if circle:
            self._turns.clear()
            self._errors.clear()
        return circle


def _same_error(errors: Sequence[str]) -> str | None:
    """A model that writes different code each time, all failing alike, is stuck as well."""
    if len(errors) == _SAME and errors[0] and len(set(errors)) == 1:
        return f"the same error three times, {errors[0]}"
    return None


def find_circle(turns: Sequence[str]) -> str | None:
    """Detect AAA, ABAB, or three turns without any call."""
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
