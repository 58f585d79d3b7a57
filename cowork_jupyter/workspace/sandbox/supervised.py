"""Starts external programs that speak JSON lines under a supervisor, so that none outlives us."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ...domain.errors import Unavailable
from . import supervisor

NOT_SUPERVISED = (
    "Programs cannot be started on Windows, because nothing there ends everything they start. "
    "Run Jupyter in WSL 2."
)
MAX_LINE_LENGTH = 16 * 2**20
LAST_WORDS = 2.0
"""Seconds that a program has to exit by itself once its input is closed."""
_PATIENCE = 30.0
"""Seconds for the supervisor to finish: a moment, unless the machine is very busy."""


class SupervisedProcess:
    def __init__(self, process: asyncio.subprocess.Process, lifeline: int) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr
        self._process = process
        self._lifeline: int | None = lifeline

    async def wait(self) -> int:
        return await self._process.wait()

    def cut(self) -> None:
        """Kill it now, with all it has started."""
        held, self._lifeline = self._lifeline, None
        if held is not None:
            os.close(held)

    async def end(self) -> None:
        """Close its input, wait a moment, then kill what is left."""
        try:
            self.stdin.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS):
                    await self.wait()
        finally:
            self.cut()  # also on cancellation
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self.wait()


async def start(
    program: str, arguments: Sequence[str], environment: Mapping[str, str], folder: str | None
) -> SupervisedProcess:
    """The environment is exactly these variables."""
    if sys.platform == "win32":
        raise Unavailable(NOT_SUPERVISED, code="unsupported_system", retryable=False)
    end, lifeline = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-X", "utf8", supervisor.__file__, str(end)),
            *(program, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=MAX_LINE_LENGTH,
            pass_fds=[end],
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(end)
    return SupervisedProcess(process, lifeline)
