"""What the agent itself costs in each turn, the model answering at once."""

from __future__ import annotations

import asyncio
import re
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from cowork_jupyter.domain.contexts import JobStatus, Usage
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.chunks import Chunk, Finished, ModelRequest, TextChunk, UsageChunk
from cowork_jupyter.llm.client import Model
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.tools.base import Tool, ToolContext, ToolResult
from cowork_jupyter.tools.registry import ToolRegistry

from .rows import Row

TURNS = 30
"""As many as one message may take, unless configured."""
JOBS = 10
LONG = 200
"""Turns that fill the history."""
WORDS = "Let me look at the next file.\n"


class InstantModel(Model):
    """Reads one file after the other, and notes when it was asked."""

    def __init__(self, turns: int) -> None:
        super().__init__(base_url="http://localhost/v1", model="instant")
        self.turns = turns
        self.asked: list[float] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        self.asked.append(time.perf_counter())
        turn = len(self.asked)
        call = f'{{"tool": "read_file", "parameters": {{"path": "{turn % 10}.py"}}}}'
        for piece in re.findall(r"\s*\S+", WORDS + call if turn <= self.turns else "Done."):
            yield TextChunk(piece)
        yield Finished("stop")
        yield UsageChunk(Usage(prompt_tokens=9_000, completion_tokens=20, total_tokens=9_020))


def measure() -> Iterator[Row]:
    turns: list[float] = []
    for _ in range(JOBS):
        with tempfile.TemporaryDirectory() as folder:
            turns += asyncio.run(run(Path(folder), TURNS))
    with tempfile.TemporaryDirectory() as folder:
        full = asyncio.run(run(Path(folder), LONG))[-TURNS:]
    yield Row(
        "loop overhead per turn, model time excluded",
        statistics.median(turns) * 1000,
        "ms",
        3,
        f"without read_file's own time, with store, events and a subscriber; median of "
        f"{len(turns)} in {JOBS} jobs; {statistics.median(full) * 1000:.1f} ms with a full history",
    )


async def run(folder: Path, turns: int) -> list[float]:
    """Seconds from each question to the model to the next one, less what the tool took."""
    workspace = folder / "workspace"
    workspace.mkdir()
    for number in range(10):
        lines = [f"value_{line} = {line * number}" for line in range(40)]
        (workspace / f"{number}.py").write_text("\n".join(lines))
    settings = Settings(workspace=workspace, data_dir=folder, max_iterations=turns + 1, model="m")
    service = build_service(settings)
    service.factory.llm.model = model = InstantModel(turns)
    reading: list[float] = []
    service.factory.tools.registry = ToolRegistry(
        timed(tool, reading) for tool in service.factory.tools.registry.values()
    )
    context = service.conversations.create()
    watching = asyncio.create_task(watch(service, context.id))
    message = service.send_message(context.id, "Read everything.")
    job = await service.jobs.wait(message.job_id or "")
    assert job.status is JobStatus.COMPLETED, job.error
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    await service.close()
    whole = [later - one for one, later in pairwise(model.asked)]
    return [turn - tool for turn, tool in zip(whole, reading, strict=False)]


def timed(tool: Tool, spent: list[float]) -> Tool:
    """The same tool, noting how long it takes: that is its own time, not the loop's."""

    async def run(parameters: Any, context: ToolContext) -> ToolResult:
        began = time.perf_counter()
        try:
            return await tool.run(parameters, context)
        finally:
            spent.append(time.perf_counter() - began)

    return replace(tool, run=run)


async def watch(service: CoworkService, context_id: str) -> None:
    async for _ in service.journal.bus.subscribe(context_id):
        pass
