"""What the agent's hands in a kernel cost, beside a bare kernel client in the same run."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, cast

from jupyter_client.manager import AsyncKernelManager

from cowork_jupyter.agents.notebook.context import NotebookContext, render
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.hosts.server.kernels import ServerKernels
from cowork_jupyter.hosts.server.notebooks import ServerNotebooks
from cowork_jupyter.hosts.server.tabs import ForeignSessions
from cowork_jupyter.llm.tokens import estimate_tokens
from cowork_jupyter.tools.kernel.state import Code, CodeRun
from cowork_jupyter.tools.notebook.stored import NotebookFiles
from cowork_jupyter.workspace import Workspace

from .rows import Row

NOTEBOOK = "bench.ipynb"
ROUNDS = 30
ROWS = 10_000_000
NAMES = 2_000
CELLS = 500
MILLISECONDS = 1000

FRAME = f"""
import numpy, pandas
frame = pandas.DataFrame({{
    "price": numpy.random.rand({ROWS}), "number": numpy.arange({ROWS}),
    "name": numpy.random.choice(["a", "b"], {ROWS}).astype(object),
}})
"""
INSTEAD = f"frame = [float(number) for number in range({ROWS})]"


class OneKernel:
    """The sessions of a server that has one notebook with one kernel."""

    def __init__(self, manager: AsyncKernelManager) -> None:
        self._manager = manager
        self.kernel_manager = self

    async def list_sessions(self) -> list[dict[str, Any]]:
        return [{"path": NOTEBOOK, "kernel": {"id": "kernel"}}]

    def get_kernel(self, _kernel_id: str) -> AsyncKernelManager:
        return self._manager


def measure() -> Iterator[Row]:
    yield from asyncio.run(figures())


async def figures() -> list[Row]:
    manager = AsyncKernelManager()
    with tempfile.TemporaryDirectory() as folder:
        cells = [
            {"id": f"c{n}", "cell_type": "code", "source": f"name_{n} = [name_{n + 1}] * {n}"}
            for n in range(CELLS)
        ]
        document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (Path(folder) / NOTEBOOK).write_text(json.dumps(document))
        await manager.start_kernel(env=dict(os.environ))
        vars(manager)["execution_state"] = "idle"  # as a server says of its kernels
        try:
            return [one async for one in rows(manager, Path(folder))]
        finally:
            await manager.shutdown_kernel(now=True)


async def rows(manager: AsyncKernelManager, folder: Path) -> Any:
    notebooks = cast("ServerNotebooks", None)  # code that stands in no cell needs none
    others = cast("ForeignSessions", None)  # nor does it start a kernel
    kernels = ServerKernels(OneKernel(manager), notebooks, others, str(folder))
    workspace = Workspace(folder)

    async def run(code: str) -> None:
        ran = await kernels.run(workspace, CodeRun(NOTEBOOK, Code(code)))
        assert ran.failure is None, ran.failure

    await run("1")
    bare = await bare_client(manager)
    ours = await typical(lambda: run("1"))
    yield Row("run_code('1') above a bare client", ours - bare, "ms", 20, f"bare {bare:.1f} ms")

    await run(f"globals().update({{f'name_{{n}}': [n] * n for n in range({NAMES})}})")
    listed = await typical(lambda: kernels.variables(workspace, NOTEBOOK))
    yield Row(f"list_variables, {NAMES:,} names", listed, "ms", 100)

    places = count()

    async def look_around() -> None:
        state, found = await asyncio.gather(
            NotebookFiles().glance(workspace, NOTEBOOK), kernels.variables(workspace, NOTEBOOK)
        )
        assert state
        where = NotebookContext(state, f"c{next(places)}", variables=found.items)
        assert render(where, Settings.notebook_tokens, estimate_tokens)

    looked = await typical(look_around)
    yield Row(f"where the user is, {CELLS:,} cells, {NAMES:,} names", looked, "ms", 200)

    has_pandas = importlib.util.find_spec("pandas") is not None
    await run(FRAME if has_pandas else INSTEAD)
    what = "a pandas.DataFrame" if has_pandas else "a list instead: pandas is not installed"
    look = await typical(lambda: kernels.inspect(workspace, NOTEBOOK, "frame"))
    yield Row(f"inspect_variable, {ROWS:,} rows", look, "ms", 150, what)

    busy = asyncio.create_task(run("import time\nwhile True: time.sleep(0.001)"))
    await asyncio.sleep(1)
    look = await typical(lambda: kernels.inspect(workspace, NOTEBOOK, "frame"))
    yield Row("inspect_variable beside a running cell", look, "ms", 200, what)
    busy.cancel()
    await kernels.close()


async def typical(work: Callable[[], Awaitable[Any]]) -> float:
    """The median time of some work, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await work()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * MILLISECONDS


async def bare_client(manager: AsyncKernelManager) -> float:
    """The same code by a client that is connected already and does nothing else."""
    client = manager.client()
    client.start_channels(stdin=False, hb=False)
    await client.wait_for_ready()

    async def execute() -> None:
        request = client.execute("1", store_history=False)
        while True:
            message = await client.get_iopub_msg(timeout=60)
            told = message["content"].get("execution_state")
            if message["parent_header"].get("msg_id") == request and told == "idle":
                return

    try:
        return await typical(execute)
    finally:
        client.stop_channels()
