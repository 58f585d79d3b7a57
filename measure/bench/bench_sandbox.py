"""What confining costs: `/bin/true` in the sandbox against a plain one, taking turns."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.tools.shell import scrub_environment
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Launch, Sandbox

from .rows import Row

ROUNDS = 60


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        workspace = Workspace(Path(name))
        sandbox = Sandbox(Settings(workspace=workspace.root, data_dir=workspace.root / "data"))
        for who, may_write in (("actor", True), ("tester", False)):
            plain, confined = asyncio.run(take_turns(sandbox, workspace, may_write))
            yield Row(
                f"sandboxed start of /bin/true ({who}), above the plain one",
                confined - plain,
                "ms",
                10,
                f"{confined:.1f} ms ({sandbox.kind}) against {plain:.1f} ms, median of {ROUNDS}",
            )
        sandbox.close()


async def take_turns(
    sandbox: Sandbox, workspace: Workspace, may_write: bool
) -> tuple[float, float]:
    """Median milliseconds without and with the sandbox."""
    plain, confined = list[float](), list[float]()
    for turn in range(ROUNDS + 1):
        times = await without(workspace), await within(sandbox, workspace, may_write)
        if turn:  # the first one starts the keeper
            plain.append(times[0])
            confined.append(times[1])
    return statistics.median(plain) * 1000, statistics.median(confined) * 1000


async def without(workspace: Workspace) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec("/bin/true", cwd=workspace.root)
    assert await process.wait() == 0
    return time.perf_counter() - began


async def within(sandbox: Sandbox, workspace: Workspace, may_write: bool) -> float:
    folder = os.open(workspace.root, os.O_RDONLY)
    output = os.open(os.devnull, os.O_WRONLY)
    try:
        began = time.perf_counter()
        launch = Launch(
            ["/bin/true"], workspace, folder, ".", output, scrub_environment(os.environ), may_write
        )
        async with sandbox.running(launch) as command:
            assert await command.wait() == 0
        return time.perf_counter() - began
    finally:
        os.close(folder)
        os.close(output)
