"""What commands say while they run."""

from __future__ import annotations

import time

from acp.helpers import SessionUpdate, text_block, tool_content, update_tool_call

from ...record.markdown import fenced

PAUSE = 0.25
"""Seconds between two looks at the output of a command that runs."""


class RunningOutput:
    """The output of a session's commands so far: all of it each time, so not too often."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, float]] = {}
        """By call: what it said so far, and when that was told."""

    def add(self, call_id: str, text: str) -> SessionUpdate | None:
        """Take the next piece; what to tell now, if anything."""
        said, told_at = self._said.get(call_id, ("", 0.0))
        said, now = said + text, time.monotonic()
        is_due = now - told_at >= PAUSE
        self._said[call_id] = (said, now if is_due else told_at)
        block = tool_content(text_block(fenced(said)))
        return update_tool_call(call_id, content=[block]) if is_due else None

    def clear(self) -> None:
        """Nothing runs any more."""
        self._said.clear()
