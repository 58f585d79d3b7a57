"""From a message about a table to the first tool call, the model answering at once."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

from cowork_jupyter.domain.settings import ProfileChoice, Settings
from cowork_jupyter.llm.chunks import Chunk, Finished, ModelRequest, TextChunk
from cowork_jupyter.llm.client import Model
from cowork_jupyter.llm.tokens import estimate_tokens
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.tools.kernel.state import CodeResult, CodeRun, NoKernels
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace import Workspace

from .rows import Row

TIMES = 20
ROWS = 5_000
BLOCK = "```python\nimport pandas as pd\nprint(pd.read_csv('sales.csv')['units'].mean())\n```"


class InstantCoder(Model):
    """Writes a block of Python, then a word; notes how long the first request was."""

    def __init__(self) -> None:
        super().__init__(base_url="http://localhost/v1", model="instant")
        self.tokens: list[int] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        self.tokens.append(sum(estimate_tokens(one["content"]) for one in request.messages))
        yield TextChunk(BLOCK if len(self.tokens) == 1 else "Done.")
        yield Finished("stop")


class WatchedKernel(NoKernels):
    """Notes when code arrives, and runs nothing."""

    home = "this kernel"

    def __init__(self) -> None:
        self.at: list[float] = []

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        self.at.append(time.perf_counter())
        return CodeResult(run.path)


def measure() -> Iterator[Row]:
    profiles: tuple[ProfileChoice, ...] = ("thin", "full")
    for profile in profiles:
        taken = [_first_call(profile) for _ in range(TIMES)]
        seconds, tokens = statistics.median(one[0] for one in taken), taken[0][1]
        yield Row(
            f"message to first tool call, {profile} prompt",
            seconds * 1000,
            "ms",
            60,
            f"a table of {ROWS:,} rows is named and its facts go along; median of {TIMES}",
        )
        yield Row(
            f"tokens of the first request, {profile} prompt",
            tokens,
            "tokens",
            900 if profile == "thin" else 3_000,
            "system prompt with its tools, facts of the table, and the request; estimated",
        )


def _first_call(profile: ProfileChoice) -> tuple[float, int]:
    """Seconds to the first call, and tokens of the first request."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        workspace.mkdir()
        rows = [f"2025-01-{day % 28 + 1:02},North,{day % 60}" for day in range(ROWS)]
        (workspace / "sales.csv").write_text("\n".join(["date,region,units", *rows]))
        settings = Settings(
            workspace=workspace,
            data_dir=Path(folder),
            model="m",
            tool_protocol="code",
            prompt_profile=profile,
            sandbox="none",
        )
        return asyncio.run(_ask(settings))


async def _ask(settings: Settings) -> tuple[float, int]:
    service = build_service(settings)
    service.factory.llm.model = model = InstantCoder()
    service.factory.tools.registry = tools_with_kernels()
    service.factory.tools.kernels = kernel = WatchedKernel()
    context = service.conversations.create()
    service.rules.add(Effect.ALLOW, "run_code", Scope.SESSION, context.id)
    began = time.perf_counter()
    message = service.send_message(context.id, "What is the mean of units in sales.csv?")
    await service.jobs.wait(message.job_id or "")
    await service.close()
    return kernel.at[0] - began, model.tokens[0]
