"""Reports progress to a guest while its call runs: a client may give up if it hears nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from ...mcp.server.tool_host import Tell

AGAIN = 5.0
"""Seconds of silence after which the last message is repeated."""
_MAX_LENGTH = 500
_MAX_UNTOLD = 100
"""Messages that wait for a slow client; further ones are dropped."""
_LAST_WORDS = 1.0
"""Seconds that a call waits for its last messages to be delivered."""

Say = Callable[[str], None]


def running(tool: str) -> str:
    return f"{tool} is running"


@asynccontextmanager
async def reporting_progress(tool: str, tell: Tell) -> AsyncIterator[Say]:
    """Deliver messages to the guest in order, and repeat the last one.

    Nothing is reported for a call that ends before that and says nothing.
    """
    words = asyncio.Queue[str](_MAX_UNTOLD)

    def say(text: str) -> None:
        if text := text.strip()[-_MAX_LENGTH:]:
            with suppress(asyncio.QueueFull):
                words.put_nowait(text)

    passing_on = asyncio.create_task(_pass_on(words, tell, running(tool)))
    try:
        yield say
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await words.join()
    finally:
        passing_on.cancel()


async def _pass_on(words: asyncio.Queue[str], tell: Tell, last: str) -> None:
    while True:
        new = False
        with suppress(TimeoutError):
            async with asyncio.timeout(AGAIN):
                last, new = await words.get(), True
        with suppress(Exception):  # it may have gone, which is noticed elsewhere
            await tell(last)
        if new:
            words.task_done()
