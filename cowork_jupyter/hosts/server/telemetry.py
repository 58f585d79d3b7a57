"""Our events for Jupyter's own event system: what happened and where, never what was said."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

from ...domain.events import Event, EventType

SCHEMA_ID = "https://events.jupyter.org/cowork_jupyter/activity/v1"

SCHEMA: dict[str, Any] = {
    "$id": SCHEMA_ID,
    "version": "1",
    "title": "Cowork activity",
    "description": "Something happened in a conversation with the Cowork agent.",
    "personal-data": False,
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": [str(kind) for kind in EventType]},
        "seq": {"type": "integer"},
        "context_id": {"type": "string"},
        "job_id": {"type": ["string", "null"]},
        "task_id": {"type": ["string", "null"]},
        "status": {"type": ["string", "null"]},
    },
    "required": ["type", "seq", "context_id"],
}

_TOO_MANY = {EventType.TEXT_DELTA, EventType.REASONING_DELTA}
"""Pieces of text come by the thousand and tell nothing without their text."""


class Telemetry:
    """Passes events on to Jupyter's event logger, in the loop that has its listeners."""

    def __init__(self, event_logger: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._event_logger = event_logger
        self._loop = loop
        if SCHEMA_ID not in event_logger.schemas:
            event_logger.register_event_schema(SCHEMA)

    def __call__(self, event: Event) -> None:
        """Pass one event on, without its contents."""
        if event.type in _TOO_MANY:
            return
        facts = event.model_dump(include={"seq", "context_id", "job_id", "task_id"})
        status = getattr(event.data, "status", None)
        known = {**facts, "type": str(event.type), "status": str(status) if status else None}
        emit = partial(self._event_logger.emit, schema_id=SCHEMA_ID, data=known)
        with suppress(RuntimeError):  # Jupyter has ended
            self._loop.call_soon_threadsafe(emit)
