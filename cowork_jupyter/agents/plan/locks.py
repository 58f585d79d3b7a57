"""Locks on files, so that no two tasks write the same one at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager


class FileLocks:
    """A lock for each path, made when needed and dropped when nobody holds it."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._interested: dict[str, int] = {}

    @asynccontextmanager
    async def hold(self, paths: Iterable[str]) -> AsyncIterator[None]:
        """Hold all of these. Acquired in sorted order to avoid deadlock."""
        wanted = sorted(set(paths))
        for path in wanted:
            self._interested[path] = self._interested.get(path, 0) + 1
        try:
            async with AsyncExitStack() as held:
                for path in wanted:
                    lock = self._locks.setdefault(path, asyncio.Lock())
                    await held.enter_async_context(lock)
                yield
        finally:
            for path in wanted:
                self._leave(path)

    def _leave(self, path: str) -> None:
        self._interested[path] -= 1
        if not self._interested[path]:
            del self._interested[path]
            self._locks.pop(path, None)
