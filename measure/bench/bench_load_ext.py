"""What the magics cost a kernel that starts, and one that uses them."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.manager import start_new_kernel

from .rows import Row

ROUNDS = 5
LOAD = """
import time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
import ipywidgets
began = time.perf_counter()
shell.run_line_magic("load_ext", "cowork_jupyter")
print((time.perf_counter() - began) * 1000)
"""
WITHOUT = "--InteractiveShellApp.extra_extensions=IPython.extensions.storemagic"
"""Puts something that IPython has itself in our place."""


def measure() -> Iterator[Row]:
    times = [
        float(subprocess.run([sys.executable, "-c", LOAD], check=True, capture_output=True).stdout)
        for _ in range(ROUNDS)
    ]
    yield Row(
        "%load_ext with ipywidgets loaded",
        statistics.median(times),
        "ms",
        60,
        f"median of {ROUNDS} fresh processes",
    )
    with_us, without = (
        min(_kernel_start(*arguments) for _ in range(ROUNDS)) for arguments in ((), (WITHOUT,))
    )
    yield Row(
        "start of a kernel with the magics : without",
        with_us / without,
        "×",
        1.1,
        f"processor time, best of {ROUNDS}: {with_us:.3f} s and {without:.3f} s",
    )


def _kernel_start(*arguments: str) -> float:
    """Seconds of processor time that it has taken when it answers."""
    with TemporaryDirectory() as folder:
        manager, client = start_new_kernel(extra_arguments=[*arguments], cwd=folder)
        try:
            expression = {"taken": "__import__('time').process_time()"}
            reply: Any = client.execute("", user_expressions=expression, reply=True, timeout=60)
            return float(reply["content"]["user_expressions"]["taken"]["data"]["text/plain"])
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
