"""What watching costs a cell that works on a table, as a share of the cell's own time."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

from jupyter_client.manager import AsyncKernelManager

from cowork_jupyter.agents.run.watching import MIN_SECONDS, SHARE, CodeToWatch, watch_call
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.effects.memory import KernelMemory
from cowork_jupyter.hosts.server.kernels import ServerKernels
from cowork_jupyter.hosts.server.notebooks import ServerNotebooks
from cowork_jupyter.hosts.server.tabs import ForeignSessions
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.kernel.state import Code, CodeRun
from cowork_jupyter.workspace import Workspace

from .bench_kernels import NOTEBOOK, OneKernel
from .rows import Row

SIZES = (10_000, 1_000_000, 20_000_000)
ROUNDS = 5
MAKE = """
import numpy, pandas
rows = {rows}
numbers = numpy.random.default_rng(0)
orders = pandas.DataFrame({{
    "id": numpy.arange(rows), "price": numbers.random(rows), "units": numbers.integers(1, 9, rows),
    "region": pandas.Categorical.from_codes(numbers.integers(0, 4, rows), list("NESW")),
    "day": numpy.datetime64("2026-01-01", "ns") + numbers.integers(0, 365, rows).astype("m8[D]"),
}})
"""
CELL = """
kept = orders[orders["price"] > 0.1]
daily = kept.groupby(["region", "day"], observed=True)[["price", "units"]].sum()
"""
FORGET = "kept = daily = None"


def measure() -> Iterator[Row]:
    yield from asyncio.run(figures())


async def figures() -> list[Row]:
    manager = AsyncKernelManager()
    with tempfile.TemporaryDirectory() as folder:
        document = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
        (Path(folder) / NOTEBOOK).write_text(document)
        await manager.start_kernel(env=dict(os.environ))
        vars(manager)["execution_state"] = "idle"  # as a server says of its kernels
        try:
            return [one async for one in rows(manager, Path(folder))]
        finally:
            await manager.shutdown_kernel(now=True)


async def rows(manager: AsyncKernelManager, folder: Path) -> AsyncIterator[Row]:
    notebooks = cast("ServerNotebooks", None)  # code that stands in no cell needs none
    others = cast("ForeignSessions", None)  # nor does it start a kernel
    kernels = ServerKernels(OneKernel(manager), notebooks, others, str(folder))
    context = ToolContext(Workspace(folder), AgentRole.ACTOR, kernels=kernels)
    memory = KernelMemory()

    async def run(code: str) -> None:
        ran = await kernels.run(context.workspace, CodeRun(NOTEBOOK, Code(code)))
        assert ran.failure is None, ran.failure

    async def run_watched() -> tuple[float, float]:
        """Seconds for the cell, and for watching it."""
        code = CodeToWatch(CELL, ".", kernels, NOTEBOOK, NOTEBOOK)
        began = time.perf_counter()
        async with watch_call(code, context, memory) as effects:
            started = time.perf_counter()
            await run(CELL)
            own = time.perf_counter() - started
        assert {one.of for one in effects} >= {"kept", "daily"}, "not all was seen"
        return own, time.perf_counter() - began - own

    for size in SIZES:
        await run(MAKE.format(rows=size))
        times = []
        for _ in range(ROUNDS):
            await run(FORGET)
            times.append(await run_watched())
        own, more = (statistics.median(some) for some in zip(*times, strict=True))
        allowed = max(MIN_SECONDS, SHARE * own)
        yield Row(
            f"a watched cell on {size:,} rows, against the cell itself",
            (own + more) / own,
            "×",
            round((own + allowed) / own, 2),
            f"{own:.2f} s alone, {more:.2f} s for watching; {allowed:.2f} s are allowed",
        )
    await kernels.close()
