"""Starts the process that serves a model, watches it, and ends it. Belongs to one event loop."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

from ..domain.errors import Unavailable
from ..domain.health import ModelProblem, ModelState
from .process import Endpoint, ServingProcess

CONTEXT = 16_384
"""Tokens; fewer if the model was made for fewer."""
PARALLEL = 2
"""Conversations at once. More would only be slower each, on one machine."""
_ENDING = 15.0
"""Seconds in which a process that broke off a connection is seen to end."""


class LocalServer:
    """One model file, served from the first question on until it is closed."""

    def __init__(self, file: Path, *, context: int = CONTEXT, parallel: int = PARALLEL) -> None:
        self.file = file
        self.name = file.stem
        self._orders = {"context": context, "parallel": parallel}
        self._process: ServingProcess | None = None
        self._start: asyncio.Task[Endpoint] | None = None
        self._closed = False

    async def endpoint(self) -> Endpoint:
        """Where it answers. Starts it if it does not run, and waits until the model is loaded."""
        if self._closed:
            raise _stopped()
        if self._start is None or self._is_over(self._start):
            self._start = asyncio.create_task(self._started())
        # Shielded: who stops waiting does not stop the loading, which others wait for too.
        return await asyncio.shield(self._start)

    async def lost(self, endpoint: Endpoint) -> bool:
        """Whether the process that answered there is gone, or just about to be."""
        process = self._process
        if process is None or process.endpoint != endpoint:
            return True
        return await asyncio.to_thread(process.ends_within, _ENDING)

    def state(self) -> ModelState:
        """Ready also before the first question: asking it is what starts it."""
        why_not = self._why_not()
        return ModelState(
            provider="local",
            name=self.name,
            base_url=None,
            ready=not why_not,
            why_not=why_not,
            source="chosen",
            problem=self._problem(why_not),
        )

    def log(self) -> list[str]:
        """The last lines that the process wrote."""
        return list(self._process.log) if self._process else []

    async def close(self) -> None:
        """End the process; whoever waits for it is told."""
        self._closed = True
        await self._end()
        if self._start:
            await asyncio.gather(self._start, return_exceptions=True)

    async def _started(self) -> Endpoint:
        await self._end()  # what an earlier process has left
        missing = self._missing()
        if missing:
            raise Unavailable(missing, code="local_model_missing", retryable=False)
        if self._closed:
            raise _stopped()
        try:
            # Not in another thread: the process ends with the thread that started it.
            self._process = ServingProcess(self.file, self.name, self._orders)
            return await asyncio.wrap_future(self._process.loaded)
        except OSError as error:
            raise Unavailable(
                f"Could not start the process that serves {self.name}: {error.strerror}.",
                code="local_model_failed",
            ) from error
        except Unavailable:
            if self._closed:
                raise _stopped() from None
            raise

    def _is_over(self, start: asyncio.Task[Endpoint]) -> bool:
        """Whether nothing comes of it any more: it failed, or its process has ended since."""
        if not start.done():
            return False
        return start.exception() is not None or not self._process or self._process.ends_within(0)

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            await asyncio.to_thread(process.end)

    def _problem(self, why_not: str | None) -> ModelProblem | None:
        if not why_not:
            return None
        is_loading = self._start is not None and not self._start.done()
        return "loading" if is_loading and not self._missing() else "model"

    def _why_not(self) -> str | None:
        missing = self._missing()
        if missing or not self._start:
            return missing
        if not self._start.done():
            share = self._process.share_read if self._process else 0.0
            return f"Loading {self.name}: {share:.0%} read."
        failure = self._start.exception()
        return str(failure) if failure else None

    def _missing(self) -> str | None:
        if not self.file.is_file():
            return f"The model {self.file} is missing. Choose another: jupyter cowork model list"
        if importlib.util.find_spec("xllamacpp") is None:
            return "Serving a model needs another package. Run: pip install 'cowork-jupyter[local]'"
        return None


def _stopped() -> Unavailable:
    return Unavailable("The local model stopped.", code="local_model_stopped", retryable=False)
