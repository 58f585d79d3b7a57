"""Keeps apart what works on the same files: steps of a plan, and delegated tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import PurePosixPath

_Paths = frozenset[PurePosixPath]


class FileLocks:
    """Whoever wants a file waits for those who wanted it before; so nobody waits in a circle."""

    def __init__(self) -> None:
        self._wanted: dict[asyncio.Event, _Paths] = {}

    @asynccontextmanager
    async def hold(self, paths: Iterable[str]) -> AsyncIterator[None]:
        """Hold all of these. A folder includes all that is in it."""
        wanted, ended = frozenset(map(PurePosixPath, paths)), asyncio.Event()
        earlier = [event for event, others in self._wanted.items() if _meet(wanted, others)]
        self._wanted[ended] = wanted
        try:
            for event in earlier:
                await event.wait()
            yield
        finally:
            del self._wanted[ended]
            ended.set()


def _meet(some: _Paths, others: _Paths) -> bool:
    return not (some.isdisjoint(_with_folders(others)) and others.isdisjoint(_with_folders(some)))


def _with_folders(paths: _Paths) -> _Paths:
    return paths.union(*(path.parents for path in paths))
