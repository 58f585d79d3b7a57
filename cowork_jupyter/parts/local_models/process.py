"""One run of the process that serves a model.

It listens on the loopback interface only, at a port and with a key created per run. The key is
passed through a pipe, so that no third process sees it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ...domain.errors import Unavailable

LOG_LINES = 100
_MAX_LINE_LENGTH = 1 << 16
_KEPT_OF_LINE = 400
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_PROBLEM = re.compile(r"^\S+ E (.+)")
"""xllamacpp log format: time, level, message."""


@dataclass(frozen=True)
class Endpoint:
    base_url: str
    api_key: str = field(repr=False)
    model: str


class ServingProcess:
    """Starts immediately and lives until `end()` or until this process exits."""

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
