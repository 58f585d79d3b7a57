"""What a tool call costs at a worker of a Dask cluster, against the same call here."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.dask.dask import DaskPool
from cowork_jupyter.service.parts import shipped_tools
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.registry import ToolRegistry
from cowork_jupyter.workspace import Workspace

from .rows import Row

CALLS = 40
CANCELS = 5
LONG: dict[str, Any] = {"command": "echo started; sleep 60"}


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Row]:
    (folder / "a.txt").write_text("some words\n")
    pool = DaskPool(Settings(folder, folder, workers="dask", max_parallel=2, sandbox="none"))
    await pool.prepare()
    try:
        nobody = RunLog(None, "", "", AgentRole.ACTOR)  # type: ignore[arg-type]
        here, there = shipped_tools(), pool.tools(shipped_tools(), nobody)
        local, remote = await _reading(here, folder), await _reading(there, folder)
        stopped = statistics.median([await _cancelling(there, folder) for _ in range(CANCELS)])
    finally:
        await pool.aclose()
    note = f"median of {CALLS}; {local * 1000:.2f} ms here"
    return [
        Row("a call at a Dask worker", remote * 1000, "ms", 100, note),
        Row("cancelling a command there", stopped * 1000, "ms", 500, f"median of {CANCELS}"),
    ]


async def _reading(tools: ToolRegistry, folder: Path) -> float:
    context = ToolContext(Workspace(folder), AgentRole.ACTOR)
    taken = []
    for _ in range(CALLS):
        began = time.perf_counter()
        await tools.call("read_file", {"path": "a.txt"}, context)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


async def _cancelling(tools: ToolRegistry, folder: Path) -> float:
    """Seconds from the cancel until the command has ended."""
    started = asyncio.Event()
    context = ToolContext(Workspace(folder), AgentRole.ACTOR, lambda _text: started.set())
    running = asyncio.create_task(tools.call("execute_command", LONG, context))
    await started.wait()
    began = time.perf_counter()
    running.cancel()
    await asyncio.wait([running])
    return time.perf_counter() - began
