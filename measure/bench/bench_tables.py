"""Tables: a large CSV described, in how much time and memory, and a query beside DuckDB itself."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.tables.tools import MEMORY_MB, THREADS
from cowork_jupyter.service.parts import shipped_tools
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.table_facts import table_facts
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox

from .rows import Row

BYTES = 1_000_000_000
ROUNDS = 3
_LINES = 10_000
SQL = "SELECT region, count(*), avg(price), max(units) FROM 'big.csv' GROUP BY region ORDER BY 1"


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        workspace = Workspace(Path(name))
        settings = Settings(workspace=workspace.root, data_dir=workspace.root / "data")
        sandbox = Sandbox(settings)
        context = ToolContext(workspace, AgentRole.PLANNER, sandbox=sandbox)
        path = workspace.root / "big.csv"
        write_large(path, BYTES)
        began = time.perf_counter()
        with workspace.locate("big.csv") as place:
            assert table_facts("big.csv", place.read(512 * 1024), BYTES)
        looked = time.perf_counter() - began
        yield Row("facts of a 1 GB CSV that go with a question", looked, "s", 1, "first 512 KB")
        described, memory = asyncio.run(describe(context))
        yield Row("describe_table of a 1 GB CSV", described, "s", 60, "every row, one pass")
        limit = f"DuckDB may use {MEMORY_MB} MB"
        yield Row("memory of describe_table of a 1 GB CSV", memory, "MB", 1000, limit)
        ours, plain = asyncio.run(take_turns(context, path))
        yield Row(
            "query_table of a 1 GB CSV against DuckDB itself",
            ours / plain,
            "×",
            1.3,
            f"{ours:.2f} s against {plain:.2f} s, median of {ROUNDS}",
        )
        sandbox.close()


def write_large(path: Path, size: int) -> None:
    """A CSV file of about this size: a block of rows, again and again."""
    regions = ("North", "South", "East", "West")
    block = "".join(
        f"2025-{1 + n % 12:02}-{1 + n % 28:02},{regions[n % 4]},{n * 7919 % 1000},"
        f"{n * 104729 % 99991 / 100},customer {n * 31 % 9973},some words about order {n}\n"
        for n in range(_LINES)
    )
    with path.open("w") as file:
        file.write("day,region,units,price,customer,note\n")
        for _ in range(size // len(block)):
            file.write(block)


async def describe(context: ToolContext) -> tuple[float, float]:
    """Seconds, and the most memory in MB that the process held, as its limits see it."""
    stop = asyncio.Event()
    watching = asyncio.create_task(_largest(stop))
    began = time.perf_counter()
    await shipped_tools().call("describe_table", {"path": "big.csv"}, context)
    seconds = time.perf_counter() - began
    stop.set()
    return seconds, await watching


async def _largest(stop: asyncio.Event) -> float:
    """The peak that the system keeps for the process, as long as it lives."""
    largest = 0
    while not stop.is_set():
        largest = max(largest, await asyncio.to_thread(_peak))
        await asyncio.sleep(0.05)
    return largest / 1000


def _peak() -> int:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):  # it has just ended
            if b"cowork_tables" in (folder / "cmdline").read_bytes():
                return int((folder / "status").read_text().partition("VmHWM:")[2].split()[0])
    return 0


async def take_turns(context: ToolContext, path: Path) -> tuple[float, float]:
    """Median seconds of the tool, and of DuckDB in this process with as much memory."""
    ours, plain = list[float](), list[float]()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await shipped_tools().call("query_table", {"paths": ["big.csv"], "sql": SQL}, context)
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        with duckdb.connect() as connection:
            connection.execute(f"SET threads = {THREADS}")
            connection.execute(f"SET memory_limit = '{MEMORY_MB}MB'")
            connection.execute(SQL.replace("big.csv", str(path))).fetchall()
        plain.append(time.perf_counter() - began)
    return statistics.median(ours), statistics.median(plain)
