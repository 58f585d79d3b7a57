"""The built-in guide: how soon a newcomer sees a plan, and how it copes with a large table."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.guide.code import Style, cells_for, script_code
from cowork_jupyter.parts.guide.model import NAME, GuideModel
from cowork_jupyter.parts.guide.request import Request
from cowork_jupyter.parts.guide.tables import LINES_READ, table_of
from cowork_jupyter.service.wiring import build_service
from tests.unit.hosts.kernel.kernels import kernel

from .rows import Row

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"
GOAL = "%%plan\nRemove duplicate rows from data/sales.csv and plot revenue over time by region"
ROWS = 1_000_000
FILES, LARGE = 40, 2_600_000
PEAK = "\nimport resource; print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "notebooks"
        shutil.copytree(NOTEBOOKS, place)
        yield _plan(place)
        yield _quickstart(place)
        yield from _million_rows(Path(folder))
        yield from asyncio.run(_many_files(Path(folder) / "many"))


def _clean(folder: Path) -> dict[str, Any]:
    """Nothing configured, nothing remembered."""
    names = [name for name in os.environ if name.startswith(("COWORK_", "OPENAI_"))]
    own = {f"JUPYTER_{what}_DIR": str(folder / what) for what in ("DATA", "CONFIG")}
    return dict.fromkeys(names, "") | own


def _plan(place: Path) -> Row:
    with kernel(place, **_clean(place.parent / "plan")) as cells:
        began = time.perf_counter()
        shown = cells.run(GOAL, "plan")
        seconds = time.perf_counter() - began
    assert "1. Clean `data/sales.csv`" in shown.markdown
    return Row(
        "%%plan with the guide, to its finished card", seconds, "s", 1.5, "first of a kernel"
    )


def _quickstart(place: Path) -> Row:
    command = ("-m", "jupyter", "execute", "quickstart.ipynb")
    environment = {**os.environ, **_clean(place.parent / "whole")}
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *command], cwd=place, env=environment, check=True, capture_output=True
    )
    return Row("the whole quickstart in a bare kernel", time.perf_counter() - began, "s", 25)


async def _many_files(folder: Path) -> list[Row]:
    """From a request that names no file to the first reply that is no tool call."""
    workspace = folder / "workspace"
    (workspace / "data").mkdir(parents=True)
    for n in range(FILES - 1):
        rows = "".join(f"{n * row},{row % 9},2024-{row % 12 + 1:02d}-01\n" for row in range(900))
        (workspace / "data" / f"t{n:02d}.csv").write_text(f"id_{n},amount_{n},day_{n}\n{rows}")
    _write(workspace / "big.csv", LARGE)
    service = build_service(Settings(workspace=workspace, data_dir=folder / "data", model=NAME))
    service.factory.llm.model = GuideModel()
    context = service.conversations.create()
    taken = []
    for text in ("plot revenue by region", "plot revenue by product"):
        began = time.perf_counter()
        job = service.send_message(context.id, text, AgentRole.PLANNER).job_id
        assert job
        ended = await service.jobs.wait(job)
        taken.append(time.perf_counter() - began)
        assert ended.status is JobStatus.COMPLETED, ended.error
    await service.close()
    name, note = f"a plan among {FILES} files, one of 100 MB", "no file is named"
    return [Row(name, taken[0], "s", 2, note), Row("the next one", taken[1], "s", 1, note)]


def _million_rows(folder: Path) -> Iterator[Row]:
    file = folder / "big.csv"
    _write(file)
    with file.open() as lines:
        table = table_of("big.csv", "".join(next(lines) for _ in range(LINES_READ)))
    assert table
    cells = cells_for(Request("profile", table), Style(packages=frozenset({"pandas"})))
    _, only_read = _run(folder, script_code(cells[:1]))
    seconds, profiled = _run(folder, script_code(cells))
    size = file.stat().st_size / 1e6
    yield Row("profile of a million rows", seconds, "s", 6, f"{size:.0f} MB, pandas' import too")
    ratio = max(0.0, profiled - only_read) / size
    yield Row("its memory above pandas reading the file", ratio, "×", 2, "of the file's size")


def _write(file: Path, rows: int = ROWS) -> None:
    chance = random.Random(3)
    with file.open("w") as out:
        out.write("id,day,region,product,units,revenue\n")
        for n in range(rows):
            day = f"2025-{n % 12 + 1:02d}-{n % 28 + 1:02d}"
            where, what = chance.choice("NSWE"), chance.choice(("tea", "coffee", "cocoa"))
            out.write(f"{n},{day},{where},{what},{n % 90},{chance.random() * 500:.2f}\n")


def _run(folder: Path, code: str) -> tuple[float, float]:
    """Seconds, and the most memory it took, in MB."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code + PEAK], cwd=folder, check=True, capture_output=True, text=True
    )
    return time.perf_counter() - began, float(done.stdout.rsplit("peak", 1)[1]) * 1024 / 1e6
