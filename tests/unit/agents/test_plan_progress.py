"""Locks on files."""

from __future__ import annotations

import asyncio
import random

import pytest

from cowork_jupyter.agents.plan.plan_progress import FileLocks

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
    assert locks._locks == {}


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
    assert locks._locks == {}
