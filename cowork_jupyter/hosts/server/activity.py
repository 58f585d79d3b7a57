"""Where something happened, in whichever conversation, never what.

A page with many conversations cannot listen to each. It hears this, and asks for what it shows.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

TOO_MANY = {"text-delta", "reasoning-delta", "tool-call", "tool-result", "usage", "notice"}
"""What comes by the thousand, and changes nothing that is shown of a conversation in a list."""


class ActivityFeed:
    """Tells every page that listens. Events come from any thread."""

    def __init__(self) -> None:
        self._listeners: set[ActivityListener] = set()

    def __call__(self, event: Any) -> None:
        """Note that something happened."""
        if event.type in TOO_MANY:
            return
        for listener in tuple(self._listeners):
            listener.note(event.context_id, str(event.type))

    def listen(self) -> ActivityListener:
        """From now on; `leave` with it when done."""
        listener = ActivityListener()
        self._listeners.add(listener)
        return listener

    def leave(self, listener: ActivityListener) -> None:
        """Nobody reads this one any more."""
        self._listeners.discard(listener)


class ActivityListener:
    """What one page has not been told yet. However slow it is, this stays small."""

    def __init__(self) -> None:
        self._happened: dict[str, set[str]] = {}
        self._loop = asyncio.get_running_loop()
        self._awake = asyncio.Event()

    def note(self, context_id: str, what: str) -> None:
        with suppress(RuntimeError):  # its loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._note, context_id, what)

    def _note(self, context_id: str, what: str) -> None:
        self._happened.setdefault(context_id, set()).add(what)
        self._awake.set()

    async def take(self) -> dict[str, list[str]]:
        """Wait for something, then all there is: what happened, by conversation."""
        await self._awake.wait()
        self._awake.clear()
        happened, self._happened = self._happened, {}
        return {context: sorted(kinds) for context, kinds in happened.items()}
