"""Calls of several conversations at the same time: which of them changed what.

Around code that runs, the workspace is scanned, which finds as well what others did meanwhile.
What others did to files that they name is theirs, as far as that explains what was found: else
taking back one agent's work would take back another's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from .entries import Change, same


@dataclass(eq=False)
class RunningCall:
    """A call while it runs, and until its changes are known."""

    context_id: str
    named: frozenset[str] = frozenset()
    """The files that it names."""
    brief: bool = False
    """Whether it changes nothing else, and so does not take long."""
    over: bool = False
    """Whether it has ended, and only its changes are not known yet."""
    others: list[Change] = field(default_factory=list)
    """What calls of other conversations have done meanwhile to what they name, in order."""
    known: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether others know what this one did to what it names."""


class SideBySide:
    """The calls that run now."""

    def __init__(self) -> None:
        self._running: set[RunningCall] = set()

    def begin(self, context_id: str) -> RunningCall:
        """From here on, which is before the first look, others tell this call what they do."""
        call = RunningCall(context_id)
        self._running.add(call)
        return call

    def end(self, call: RunningCall) -> None:
        """Its changes are stored, or cannot be."""
        call.known.set()
        self._running.discard(call)

    async def own(self, call: RunningCall, found: list[Change]) -> list[Change]:
        """Of what was found after a call, all but what others are known to have done."""
        strangers = [other for other in self._running if other.context_id != call.context_id]
        for stranger in strangers:
            stranger.others.extend(change for change in found if change.path in call.named)
        call.known.set()  # before it waits for others, who may wait for it
        doubtful = {change.path for change in found} - call.named
        for stranger in strangers:
            if stranger.named & doubtful and (stranger.brief or stranger.over):
                await stranger.known.wait()
        return [
            change
            for change in found
            if change.path in call.named or not _explained(change, call.others)
        ]


def _explained(change: Change, others: Iterable[Change]) -> bool:
    """Whether what others did, one after the other, leads from before to after."""
    state = change.before
    for other in others:
        if other.path == change.path and same(state, other.before):
            state = other.after
            if same(state, change.after):
                return True
    return False
