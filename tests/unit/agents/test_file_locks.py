"""Locks on files."""

from __future__ import annotations

import asyncio
import random

import pytest

from cowork_jupyter.agents.file_locks import FileLocks

from .helpers import PATIENCE

pytestmark = pytest.mark.asyncio


async def test_two_never_hold_one_file_and_nobody_waits_for_ever() -> None:
    locks, holding = FileLocks(), set[str]()
    names = ["a", "b", "c", "d"]
    chance = random.Random(7)

    async def work() -> None:
        mine = chance.sample(names, k=chance.randint(0, 3))
        async with locks.hold(mine):
            assert not holding & set(mine)
            holding.update(mine)
            await asyncio.sleep(0)
            holding.difference_update(mine)

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(work() for _ in range(200)))
    assert locks._wanted == {}


async def test_who_is_cancelled_while_waiting_leaves_nothing_locked() -> None:
    locks = FileLocks()

    async def want() -> None:
        async with locks.hold(["a"]):
            pass

    async with locks.hold(["a"]):
        waiting = asyncio.create_task(want())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    async with asyncio.timeout(PATIENCE):
        await want()
    assert locks._wanted == {}


async def test_a_folder_is_held_with_all_that_is_in_it() -> None:
    locks = FileLocks()
    got: list[str] = []

    async def want(path: str) -> None:
        async with locks.hold([path]):
            got.append(path)

    async with locks.hold(["data"]):
        paths = ("data/a.csv", "./data", ".", "database.csv")
        waiting = [asyncio.create_task(want(path)) for path in paths]
        await asyncio.sleep(0.01)
        assert got == []  # the last one meets the whole workspace, which was wanted before
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*waiting)
    async with locks.hold(["data"]), asyncio.timeout(PATIENCE):
        await want("database.csv")
