"""A server that stalls, for models with little patience on machines that may be busy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.scripted import Rule, Scripted


class Stalling(Rule):
    """Answers like this while it should. Requests do not use it up, and nor should they use up
    the answer after it: one that was given up on its way may come late, or never."""

    def __init__(self, reply: Scripted, should: Callable[[], bool]) -> None:
        super().__init__(reply)
        self._should = should

    def matches(self, body: dict[str, Any]) -> bool:
        return self._should()
