"""Which kinds of events happened in which conversation, never their content.

A page with many conversations cannot subscribe to each. It hears of activity here, and asks for
what it shows.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

TOO_MANY = {"text-delta", "reasoning-delta", "tool-call", "tool-result", "usage", "notice"}
"""Frequent events that change nothing in a list of conversations."""


class ActivityFeed:
    """Notifies every listening page. Called with events from any thread."""

    def __init__(self) -> None:
        self._listeners: set[ActivityListener] = set()

    def __call__(self, event: Any) -> None:
        if event.type in TOO_MANY:
            return
        for listener in tuple(self._listeners):
            listener.note(event.context_id, str(event.type))

    def listen(self) -> ActivityListener:
        listener = ActivityListener()
        self._listeners.add(listener)
        return listener

    def leave(self, listener: ActivityListener) -> None:
        self._listeners.discard(listener)


class ActivityListener:
    """What one page has not been told yet; stays small however slow the page is."""

    def __init__(self) -> None:
        self._happened: dict[str, set[str]] = {}
        self._loop = asyncio.get_running_loop()
        self._awake = asyncio.Event()

    def note(self, context_id: str, what: str) -> None:
        with suppress(RuntimeError):  # its loop is closed
            self._loop.call_soon_threadsafe(self._note, context_id, what)

    def _note(self, context_id: str, what: str) -> None:
        self._happened.setdefault(context_id, set()).add(what)
        self._awake.set()

    async def take(self) -> dict[str, list[str]]:
        """Wait until something happens, then return all event types by conversation."""
        await self._awake.wait()
        self._awake.clear()
        happened, self._happened = self._happened, {}
        return {context: sorted(kinds) for context, kinds in happened.items()}
