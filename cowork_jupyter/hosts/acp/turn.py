"""One prompt, from its beginning to its end."""

from __future__ import annotations

import asyncio

from acp import schema


class Turn:
    """What a prompt waits for."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[schema.StopReason] = asyncio.get_running_loop().create_future()
        self.cancelled = False
        self.limit: schema.StopReason | None = None
        """Set when the user did not want to go on past a limit."""

    def end(self, reason: schema.StopReason) -> None:
        """Let the prompt be answered."""
        if not self.ended.done():
            self.ended.set_result(reason)

    def fail(self, error: Exception) -> None:
        """Let the prompt be answered with an error."""
        if not self.ended.done():
            self.ended.set_exception(error)
            self.ended.exception()  # the prompt may be gone: then nobody needs to be warned
