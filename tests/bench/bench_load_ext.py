"""`%load_ext cowork_jupyter` in a process that has ipywidgets loaded, as kernels do."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

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
