"""Keeps a guest told while its call runs: a client may give up on whom it hears nothing from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from ...mcp.server.tool_host import Tell

AGAIN = 5.0
"""Seconds of silence after which the last words are said again."""
_MAX_LENGTH = 500
_MAX_UNTOLD = 100
"""Words that wait for a slow client; what comes beyond that it does not hear."""
_LAST_WORDS = 1.0
"""Seconds that a call waits for its last words to be taken."""

Say = Callable[[str], None]


def running(tool: str) -> str:
    """What is said of a call that has nothing else to say."""
    return f"{tool} is running"


@asynccontextmanager
async def reporting_progress(tool: str, tell: Tell) -> AsyncIterator[Say]:
    """What is said goes to the guest in its order, and the last of it again and again.

    Nothing is told of a call that is over sooner than that and says nothing.
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
