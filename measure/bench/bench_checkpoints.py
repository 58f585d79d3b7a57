"""Checkpoints beside git's way of doing it: a shadow repository, `add -A && write-tree`."""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cowork_jupyter.checkpoints.entries import Change
from cowork_jupyter.checkpoints.rollback import carry_out, plan_rollback
from cowork_jupyter.checkpoints.store import Checkpoint, CheckpointStore
from cowork_jupyter.checkpoints.workspace_state import Exclusions, WorkspaceState

from .rows import Row

FILES = 50_000
BYTES = 1_800
MANY = 500_000
ROUNDS = 9
GIGABYTE = 10**9
NO_CONFIG = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from many_small_files(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield large_file(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield from very_many_files(Path(folder))


class Sides:
    """One tree, our store and git's."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.git_dir = folder / "tree", folder / "git"
        self.store_folder = folder / "store"
        self.tree.mkdir()
        self._environment = {**os.environ, **NO_CONFIG}
        self._git("init", "-q")
        self.open()

    def open(self) -> None:
        self.store = CheckpointStore(self.store_folder)
        self.state = WorkspaceState(self.store, self.tree, Exclusions())

    def git(self) -> None:
        self._git("add", "-A")
        self._git("write-tree")

    def _git(self, *arguments: str) -> None:
        command = ["git", f"--git-dir={self.git_dir}", f"--work-tree={self.tree}", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=self._environment)


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def fill(tree: Path, count: int, size: int) -> None:
    """Text that looks like a project's: half of it unlike any other, fifty files a folder."""
    chance = random.Random(7)
    for number in range(count):
        if number % 50 == 0:
            folder = tree / f"part{number // 2500}" / f"sub{number // 50 % 50}"
            folder.mkdir(parents=True)
        noise = chance.randbytes(size // 4).hex().encode()
        text = b"%08d " % number + noise + b" words" * (size // 12)
        (folder / f"module_{number}.py").write_bytes(text[:size])


def many_small_files(folder: Path) -> Iterator[Row]:
    sides = Sides(folder)
    fill(sides.tree, FILES, BYTES)
    time.sleep(2.5)  # or the youngest files are not believed, by either side
    ours, gits = seconds(sides.state.scan), seconds(sides.git)
    note = f"{ours:.2f} s, git {gits:.2f} s; {FILES:,} files, {FILES * BYTES / 1e6:.0f} MB"
    yield Row("first checkpoint against git", ours / gits, "×", 0.4, note)

    pairs = [(seconds(sides.state.scan), seconds(sides.git)) for _ in range(ROUNDS)]
    ours, gits = (statistics.median(side) for side in zip(*pairs, strict=True))
    note = f"{ours * 1000:.0f} ms, git {gits * 1000:.0f} ms; median of {ROUNDS}, in turn"
    yield Row("unchanged checkpoint against git", ours / gits, "×", 1.0, note)

    sides.state.close()
    sides.open()
    reopened = seconds(sides.state.scan)
    used = sum(path.stat().st_blocks * 512 for path in sides.store_folder.rglob("*"))
    note = f"{used / 1e6:.0f} MB on the disk; opening the store and a scan: {reopened:.2f} s"
    yield Row("disk used against the content once", used / (FILES * BYTES), "×", 1.1, note)
    yield named_file(sides)
    yield rollback(sides)
    sides.state.close()


def named_file(sides: Sides) -> Row:
    times = []
    for number in range(30):
        path = f"part{number % 20}/sub0/module_{number % 20 * 2500}.py"

        def checkpoint(path: str = path, number: int = number) -> None:
            before = sides.state.capture([path])[path]
            (sides.tree / path).write_text(f"changed {number}")
            after = sides.state.capture([path])[path]
            change = [Change(path, before, after)]
            sides.store.record(Checkpoint("ctx", changes=change, id=f"cp{number}"), sides.tree)

        times.append(seconds(checkpoint) * 1000)
    worst = max(times)
    note = f"before, the write, after, stored; median of {len(times)}, slowest {worst:.1f}"
    return Row("one changed file, known by name", statistics.median(times), "ms", 20, note)


def rollback(sides: Sides) -> Row:
    before = sides.state.scan()
    for number in range(1000):
        place = sides.tree / f"part{number % 20}/sub{number // 20}/module_"
        paths = list(place.parent.iterdir())
        paths[0].write_text(f"spoilt {number}")
    changes = before.changes_until(sides.state.scan())
    sides.store.record(Checkpoint("ctx", changes=changes, id="spoilt"), sides.tree)

    def take_back() -> None:
        chosen = [sides.store.checkpoint("spoilt")]
        plan = plan_rollback(sides.state, chosen, sides.store.checkpoints(sides.state.root))
        sides.store.record(Checkpoint("ctx", changes=plan.changes, id="back"), sides.tree)
        carry_out(sides.state, plan.changes, plan)
        assert len(plan.restored) == len(changes) == 1000

    return Row("rollback of 1,000 files", seconds(take_back), "s", 1.5)


def large_file(folder: Path) -> Row:
    sides = Sides(folder)
    chunk = random.Random(7).randbytes(10**6)
    with (sides.tree / "data.bin").open("wb") as file:
        for number in range(GIGABYTE // len(chunk)):
            file.write(number.to_bytes(8, "big") + chunk[8:])
    ours, gits = seconds(sides.state.scan), seconds(sides.git)
    sides.state.close()
    note = f"{ours:.2f} s, git {gits:.1f} s"
    return Row("first checkpoint of a 1 GB file against git", ours / gits, "×", 0.1, note)


VERY_MANY = """
import resource, sys, time
from pathlib import Path
from measure.bench.bench_checkpoints import Exclusions, CheckpointStore, WorkspaceState
store = CheckpointStore(Path(sys.argv[2]))
state = WorkspaceState(store, Path(sys.argv[1]), Exclusions())
for _ in range(2):
    began = time.perf_counter()
    state.scan()
    print(time.perf_counter() - began)
state.close()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def very_many_files(folder: Path) -> Iterator[Row]:
    few, many = [scanned(folder, count) for count in (MANY // 10, MANY)]
    ratio = many[0] / few[0] / 10
    note = f"first {many[0]:.1f} s, unchanged {many[1]:.2f} s; a tenth: {few[0]:.1f}, {few[1]:.2f}"
    yield Row(f"{MANY:,} files: cost of each against a tenth of them", ratio, "×", 1.5, note)
    yield Row(f"{MANY:,} files: memory", many[2], "MB", 400, "the whole process, at its peak")


def scanned(folder: Path, count: int) -> list[float]:
    """Seconds of the first scan and of one unchanged, and megabytes, in a process of its own."""
    tree, store = folder / f"tree{count}", folder / f"store{count}"
    fill(tree, count, 64)
    time.sleep(2.5)
    command = [sys.executable, "-c", VERY_MANY, str(tree), str(store)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    shutil.rmtree(tree)
    shutil.rmtree(store)
    return [float(line) for line in done.stdout.split()]


assert resource  # used by the process above
