"""JupyterLab's start with the extension against the same without it, taking turns."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil

from .rows import Row

ROUNDS = 5


def measure() -> Iterator[Row]:
    start(extension=True)  # warms the disk cache; not counted
    with_us: list[tuple[float, float]] = []
    without: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        without.append(start(extension=False))
        with_us.append(start(extension=True))
    seconds = [statistics.median(one[0] for one in runs) for runs in (with_us, without)]
    memory = [statistics.median(one[1] for one in runs) for runs in (with_us, without)]
    yield Row(
        "server start, time to /api/status, against plain JupyterLab",
        seconds[0] / seconds[1],
        "×",
        1.03,
        f"{seconds[0]:.2f} s against {seconds[1]:.2f} s, median of {ROUNDS}",
    )
    yield Row(
        "server start, resident memory above plain JupyterLab",
        memory[0] - memory[1],
        "MiB",
        10,
        f"{memory[0]:.1f} MiB against {memory[1]:.1f} MiB",
    )


def start(*, extension: bool, settings: str = "") -> tuple[float, float]:
    """Seconds to the first answer, and MiB resident then; `settings` are the user's own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        if settings:
            file = Path(folder) / "CONFIG" / "cowork" / "settings.json"
            file.parent.mkdir(parents=True)
            file.write_text(settings)
        began = time.perf_counter()
        process = subprocess.Popen(
            _command(port, folder, extension=extension),
            env=_environment(Path(folder)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token=t", began + 60)
            seconds = time.perf_counter() - began
            return seconds, psutil.Process(process.pid).memory_info().rss / 2**20
        finally:
            process.terminate()
            process.wait()


def _command(port: int, folder: str, *, extension: bool) -> list[str]:
    return [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"),
        *(f"--port={port}", "--IdentityProvider.token=t", f"--ServerApp.root_dir={folder}"),
        f"--ServerApp.jpserver_extensions={{'cowork_jupyter': {extension}}}",
    ]


def _environment(folder: Path) -> dict[str, str]:
    kinds = ("CONFIG", "DATA", "RUNTIME")
    return {**os.environ, **{f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in kinds}}


def _wait_for(url: str, give_up: float) -> None:
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            if time.perf_counter() > give_up:
                raise
            time.sleep(0.005)
