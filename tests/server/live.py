"""A real Jupyter server with the extension, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

TOKEN = "test-token"
START_LIMIT = 180.0
END_LIMIT = 60.0


@dataclass(frozen=True)
class LiveServer:
    """Where the server answers."""

    url: str
    """With the base URL, and a slash at its end."""
    log_file: Path
    process_id: int

    @property
    def folder(self) -> Path:
        """Where all its folders are."""
        return self.log_file.parent

    @property
    def root(self) -> Path:
        """Its workspace."""
        return self.folder / "root"

    @property
    def api(self) -> str:
        """Where our routes begin."""
        return f"{self.url}cowork/"

    @property
    def log(self) -> str:
        """What the server has written so far."""
        return self.log_file.read_text()


@contextmanager
def live_server(
    folder: Path,
    *arguments: str,
    base_url: str = "/",
    token: str = TOKEN,
    environment: dict[str, str] | None = None,
) -> Iterator[LiveServer]:
    """`with live_server(tmp_path) as server:` runs one with folders of its own."""
    root, log_file = folder / "root", folder / "server.log"
    root.mkdir(exist_ok=True)  # a server that was killed may be started again
    command = [
        *(sys.executable, "-m", "jupyter_server", "--no-browser"),
        *(["--allow-root"] if os.geteuid() == 0 else []),
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port_retries=0",
        f"--ServerApp.base_url={base_url}",
        f"--ServerApp.root_dir={root}",
        f"--IdentityProvider.token={token}",
        *arguments,
    ]
    with (
        held_port() as port,
        log_file.open("wb") as log,
        subprocess.Popen(
            [*command, f"--port={port}"],
            cwd=root,
            env=_environment(folder, environment or {}),
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        server = LiveServer(f"http://127.0.0.1:{port}{base_url}", log_file, process.pid)
        try:
            _wait_until_it_answers(server, process)
            yield server
        finally:
            _end(process)


def _environment(folder: Path, more: dict[str, str]) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COWORK_", "OPENAI_", "JUPYTER"))
    }
    folders = {f"JUPYTER_{what}_DIR": str(folder / what) for what in ("CONFIG", "DATA", "RUNTIME")}
    return {**inherited, **folders, "IPYTHONDIR": str(folder / "ipython"), **more}


def _wait_until_it_answers(server: LiveServer, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + START_LIMIT
    with httpx.Client(timeout=10) as client:
        while process.poll() is None and time.monotonic() < give_up:
            try:
                client.get(f"{server.url}api")
                return
            except httpx.TransportError:
                time.sleep(0.05)
    raise TimeoutError(f"The Jupyter server did not start:\n{server.log}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()


@contextmanager
def held_port() -> Iterator[int]:
    """A port that nobody else is given meanwhile: it is bound here, but nobody listens to it.

    Servers bind with SO_REUSEADDR as well, so one that asks for just this port gets it.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]
