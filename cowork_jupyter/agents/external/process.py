"""The process of an external agent: supervised, spoken to by lines of JSON."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from ...domain.errors import Unavailable
from ...mcp.client.secrets import Resolved
from ...tools.environment import scrubbed
from ...workspace.sandbox import supervised
from ...workspace.sandbox.supervised import SupervisedProcess

MAX_GARBAGE = 20
"""Lines that are no frames: some programs greet, none goes on like that."""
_TAIL = 20


class JsonLines:
    """The SDK's transport, with limits."""

    def __init__(self, process: SupervisedProcess) -> None:
        self._reader, self._writer = process.stdout, process.stdin
        self._garbage = 0
        self._writing = asyncio.Lock()

    async def receive(self) -> dict[str, Any] | None:
        """The next frame; None at the end, or when it makes no sense to go on."""
        while self._garbage < MAX_GARBAGE:
            try:
                line = await self._reader.readline()
            except (ValueError, ConnectionError):  # too long, or gone
                return None
            if not line:
                return None
            with suppress(ValueError, RecursionError):
                frame = json.loads(line)
                if isinstance(frame, dict):
                    return frame
            self._garbage += bool(line.strip())
        return None

    async def send(self, message: dict[str, Any]) -> None:
        async with self._writing:
            self._writer.write(json.dumps(message, default=str).encode() + b"\n")
            await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def started(
    agent: Resolved, folder: str, environment: Mapping[str, str]
) -> AsyncIterator[tuple[JsonLines, deque[str]]]:
    """The running agent, and the last lines that it wrote about itself. At the end none is left."""
    variables = scrubbed(environment) | agent.env
    program = shutil.which(agent.command, path=variables.get("PATH"))
    if program is None:
        raise Unavailable(f"The program '{agent.command}' is not installed.", code="no_agent")
    process = await supervised.start(program, agent.args, variables, folder)
    last: deque[str] = deque(maxlen=_TAIL)
    overhearing = asyncio.create_task(_overhear(process, last))
    try:
        yield JsonLines(process), last
    finally:
        await asyncio.shield(process.end())
        overhearing.cancel()
        await asyncio.gather(overhearing, return_exceptions=True)


async def _overhear(process: SupervisedProcess, last: deque[str]) -> None:
    while piece := await process.stderr.read(65_536):
        last.extend(piece.decode(errors="replace").splitlines())
