"""A local model, asked like any other: its process starts with the first question."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import re
import secrets
import subprocess
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ...domain.errors import Unavailable
from ...domain.health import ModelProblem, ModelState
from ...domain.settings import Connection
from ...llm.chunks import Chunk, ModelRequest, Restarted
from ...llm.client import Model, ModelTraits
from ...llm.failures import ModelError, RetryPolicy, UnknownModel

CONTEXT = 16_384
"""Tokens; fewer if the model was made for fewer."""
PARALLEL = 2
"""Conversations at once. More would only be slower each, on one machine."""
_ENDING = 15.0
"""How long a process that dropped a connection may take to exit."""
LOG_LINES = 100
_MAX_LINE_LENGTH = 1 << 16
_KEPT_OF_LINE = 400
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_PROBLEM = re.compile(r"^\S+ E (.+)")
"""xllamacpp log format: time, level, message."""


class LocalServer:
    def __init__(self, file: Path, *, context: int = CONTEXT, parallel: int = PARALLEL) -> None:
        self.file = file
        self.name = file.stem
        self._orders = {"context": context, "parallel": parallel}
        self._process: ServingProcess | None = None
        self._start: asyncio.Task[Endpoint] | None = None
        self._closed = False

    async def endpoint(self) -> Endpoint:
        """Start the process if needed and wait until the model is loaded."""
        if self._closed:
            raise _stopped()
        if self._start is None or self._is_over(self._start):
            self._start = asyncio.create_task(self._started())
        # Shielded: a caller that is cancelled must not cancel the loading others wait for.
        return await asyncio.shield(self._start)

    async def lost(self, endpoint: Endpoint) -> bool:
        """Whether the process behind the endpoint is gone or about to exit."""
        process = self._process
        if process is None or process.endpoint != endpoint:
            return True
        return await asyncio.to_thread(process.ends_within, _ENDING)

    def state(self) -> ModelState:
        """Ready even before the first question, which starts the process."""
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
        return list(self._process.log) if self._process else []

    async def close(self) -> None:
        """End the process; pending callers get `local_model_stopped`."""
        self._closed = True
        await self._end()
        if self._start:
            await asyncio.gather(self._start, return_exceptions=True)

    async def _started(self) -> Endpoint:
        await self._end()
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
        """Whether the start failed, or its process has exited since."""
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


_PATIENT = RetryPolicy(patience=0, first=1_800.0, idle=300.0)
"""A small machine reads a long prompt for minutes, and nobody else can be asked instead."""


class LocalModel:
    traits = ModelTraits()

    def __init__(
        self, file: Path, *, context: int = CONTEXT, options: Mapping[str, Any] | None = None
    ) -> None:
        self.server = LocalServer(file, context=context)
        self.name = self.server.name
        self._options = options
        self._models: dict[Endpoint, Model] = {}

    def state(self) -> ModelState:
        return self.server.state()

    async def address(self) -> Connection:
        served = await self.server.endpoint()
        return Connection(served.base_url, served.model, served.api_key)

    async def aclose(self) -> None:
        for model in self._models.values():
            await model.aclose()
        await self.server.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        """Stream the answer. A process that dies is restarted once."""
        if request.model not in ("", self.name):
            raise UnknownModel(
                f"'{request.model}' is not available here, only the local model {self.name}: "
                "choose that one for this conversation."
            )
        for attempt in (1, 2):
            endpoint = await self.server.endpoint()
            try:
                async with aclosing(self._at(endpoint).stream(request)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except ModelError as error:
                died = error.retryable and await self.server.lost(endpoint)
                if attempt == 2 or not died:
                    raise
            yield Restarted("The local model's process ended. Restarting it.", 2, 0.0)

    def _at(self, endpoint: Endpoint) -> Model:
        """Every start has its own address and key, hence its own client."""
        if endpoint not in self._models:
            self._models[endpoint] = Model(
                base_url=endpoint.base_url,
                model=endpoint.model,
                api_key=endpoint.api_key,
                retries=_PATIENT,
                options=self._options,
            )
        return self._models[endpoint]


@dataclass(frozen=True)
class Endpoint:
    base_url: str
    api_key: str = field(repr=False)
    model: str


class ServingProcess:
    """One run of the process that serves a model, from now until `end()` or our own exit.

    It listens on the loopback interface only, at a port and with a key created per run. The key is
    passed through a pipe, so that no third process sees it.
    """

    def __init__(self, file: Path, name: str, orders: dict[str, Any]) -> None:
        self._name = name
        self._key = secrets.token_urlsafe(32)
        self.loaded: Future[Endpoint] = Future()
        self.share_read = 0.0
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self._error = "its process ended without a message"
        self._process = _start(file.parent)
        # The status reader joins the log reader at the end, so the log reader must start first.
        self._threads = [
            threading.Thread(target=self._read_log, daemon=True),
            threading.Thread(target=self._read_status, daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._send({**orders, "file": str(file), "name": name, "key": self._key})

    @property
    def endpoint(self) -> Endpoint | None:
        loaded = self.loaded
        return loaded.result() if loaded.done() and not loaded.exception() else None

    def ends_within(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> None:
        """Kill the process (it has no state to save) and wait: call it from a thread."""
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):  # what it was to be told does not matter any more
                _pipe(pipe).close()

    def _send(self, orders: dict[str, Any]) -> None:
        pipe = _pipe(self._process.stdin)
        with contextlib.suppress(OSError):  # it has ended already, which is noticed elsewhere
            pipe.write(f"{json.dumps(orders)}\n".encode())
            pipe.flush()

    def _read_status(self) -> None:
        """Read status lines until the model is loaded or the process ends."""
        for line in _pipe(self._process.stdout):
            news = _parse_status(line)
            self.share_read = news.get("read", self.share_read)
            self._error = news.get("error", self._error)
            if "address" in news:
                self.loaded.set_result(Endpoint(f"{news['address']}/v1", self._key, self._name))
                return
        self._process.kill()
        self._process.wait()
        self._threads[0].join()  # until the log is complete
        self.loaded.set_exception(self._failure())

    def _read_log(self) -> None:
        pipe = _pipe(self._process.stderr)
        while line := pipe.readline(_MAX_LINE_LENGTH):
            words = line.decode(errors="replace").rstrip().replace(self._key, "…")
            self.log.append(words[:_KEPT_OF_LINE])

    def _failure(self) -> Unavailable:
        """The first problem in the log is the cause; the others follow from it."""
        problems = (_PROBLEM.match(line) for line in self.log)
        cause = next((problem[1] for problem in problems if problem), self._error)
        return Unavailable(
            f"Could not load the local model {self._name}: {cause}.", code="local_model_failed"
        )


def _parse_status(line: bytes) -> dict[str, Any]:
    """Some Python installations print lines of their own at startup; ignore them."""
    try:
        answer = json.loads(line)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "cowork_jupyter.parts.local_models.serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        # It serves files that came from somewhere: it need not know our secrets.
        env={
            name: value
            for name, value in os.environ.items()
            if not any(word in name.upper() for word in _SECRET)
        },
        # Ctrl-C in the terminal is for Jupyter, which asks first.
        start_new_session=True,
    )


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe
    return pipe
