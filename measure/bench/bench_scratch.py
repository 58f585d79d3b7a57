"""What a scratch kernel costs: its start, beside a plain Python, and code in one that runs."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.kernel.scratch_kernel import ScratchKernels
from cowork_jupyter.tools.registry import tools_without_kernels
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox

from .rows import Row

ROUNDS = 15
FILES = 2_000
"""In the workspace, each of which is looked at before code runs."""


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for number in range(FILES):
            (root / f"{number}.csv").touch()
        plain, start, next_one = asyncio.run(_take_turns(root))
    yield Row(
        "start of a scratch kernel with its first result, above a plain Python",
        start - plain,
        "ms",
        150,
        f"{start:.0f} ms against {plain:.0f} ms, median of {ROUNDS}",
    )
    yield Row("code in a scratch kernel that runs", next_one, "ms", 25, f"{FILES} files around it")


async def _take_turns(root: Path) -> tuple[float, float, float]:
    """Median milliseconds of a plain Python, a new scratch kernel, and more code in it."""
    sandbox = Sandbox(Settings(workspace=root, data_dir=root / "data"))
    kernels = ScratchKernels(sandbox)
    plain, start, more = list[float](), list[float](), list[float]()
    for turn in range(ROUNDS + 1):
        context = ToolContext(
            Workspace(root), AgentRole.PLANNER, sandbox=sandbox, scratch=kernels.of(str(turn))
        )
        times = await _plain(), await _code(context), await _code(context)
        await kernels.end(str(turn))
        if turn:  # the first one starts the keeper
            for kept, took in zip((plain, start, more), times, strict=True):
                kept.append(took * 1000)
    sandbox.close()
    return statistics.median(plain), statistics.median(start), statistics.median(more)


async def _plain() -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(6 * 7)", stdout=-3)
    assert await process.wait() == 0
    return time.perf_counter() - began


async def _code(context: ToolContext) -> float:
    began = time.perf_counter()
    await tools_without_kernels(confined=True).call("run_code", {"code": "6 * 7"}, context)
    return time.perf_counter() - began
