"""A notebook with a real kernel on a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.hosts.server import kernel_connection
from cowork_jupyter.hosts.server.kernels import ServerKernels
from cowork_jupyter.tools.kernel.state import Code, CodeResult, CodeRun
from cowork_jupyter.workspace import Workspace

from .api import PATIENCE as PATIENCE

NOTEBOOK = "sales.ipynb"
CELLS = ("a = 1", "print('from a cell')\na + 1")


def write_notebook(path: Path, *sources: str) -> None:
    """A notebook with code cells `c0`, `c1`, … and some text behind them."""
    cells: list[dict[str, Any]] = [
        {"id": f"c{at}", "cell_type": "code", "source": source, "metadata": {}, "outputs": []}
        | {"execution_count": None}
        for at, source in enumerate(sources or CELLS)
    ]
    cells.append({"id": "words", "cell_type": "markdown", "source": "# text", "metadata": {}})
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python"}}
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(document))


class Place:
    """A notebook with a kernel, and the code that is run there."""

    def __init__(self, app: Any, root: Path) -> None:
        self.app = app
        self.workspace = Workspace(root)
        extension = app.extension_manager.extension_apps["cowork_jupyter"].copy().pop()
        self.kernels: ServerKernels = extension.service.factory.tools.kernels
        self.shown: list[str] = []
        self.kernel_id = ""

    @property
    def manager(self) -> Any:
        return self.app.kernel_manager.get_kernel(self.kernel_id)

    async def start(self) -> None:
        session = await self.app.session_manager.create_session(
            path=NOTEBOOK, name=NOTEBOOK, type="notebook", kernel_name="python3"
        )
        self.kernel_id = session["kernel"]["id"]

    async def end(self) -> None:
        """Jupyter may just be bringing back a kernel that died, and cannot end it meanwhile."""
        await self.kernels.close()
        kernels = self.app.kernel_manager
        for manager in map(kernels.get_kernel, kernels.list_kernel_ids()):
            manager.stop_restarter()
            while not manager.ready.done():
                await asyncio.wait([manager.ready])
        await kernels.shutdown_all(now=True)

    async def run(self, code: str, **more: Any) -> CodeResult:
        async with asyncio.timeout(PATIENCE):
            run = CodeRun(NOTEBOOK, Code(code), self.shown.append, **more)
            return await self.kernels.run(self.workspace, run)

    async def run_cell(self, cell_id: str, source: str) -> CodeResult:
        async with asyncio.timeout(PATIENCE):
            run = CodeRun(NOTEBOOK, Code(source, cell_id), self.shown.append)
            return await self.kernels.run(self.workspace, run)

    async def value(self, expression: str) -> str:
        (output,) = (await self.run(expression)).outputs
        text: str = output["data"]["text/plain"]
        return text

    async def until_shown(self, words: str) -> None:
        await until(lambda: words in "".join(self.shown))


async def until(so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not so():
            await asyncio.sleep(0.02)


@pytest.fixture
def a_patient_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests say by themselves when they want the kernel to be too busy."""
    for name in ("BUSY_AFTER", "PATIENCE", "EVALUATION_SECONDS", "LEAVE_SECONDS"):
        monkeypatch.setattr(kernel_connection, name, PATIENCE)


@pytest.fixture
def place(jp_serverapp: Any, jp_root_dir: Path, jp_asyncio_loop: Any) -> Iterator[Place]:
    write_notebook(jp_root_dir / NOTEBOOK)
    made = Place(jp_serverapp, jp_root_dir)
    jp_asyncio_loop.run_until_complete(made.start())
    yield made
    jp_asyncio_loop.run_until_complete(made.end())
