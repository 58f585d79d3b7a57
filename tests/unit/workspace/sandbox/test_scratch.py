"""Scratch folders go with their process, also if it had no time to clean up."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cowork_jupyter.workspace.sandbox import scratch
from cowork_jupyter.workspace.sandbox.scratch import Scratch, sweep

pytestmark = pytest.mark.process

AT_ONCE = -1.0


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "_SHARED_MEMORY", tmp_path)
    return tmp_path


def _left_behind(place: Path) -> list[Path]:
    """What a process has in this place that is killed."""
    program = f"""
import os, signal, tempfile
from pathlib import Path
from cowork_jupyter.workspace.sandbox import scratch
tempfile.tempdir = {str(place)!r}
scratch._SHARED_MEMORY = Path(tempfile.tempdir)
made = scratch.Scratch()
(made.work / "large").write_text("x")
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    found = sorted(place.iterdir())
    assert len(found) == 2
    return found


def test_closing_leaves_nothing(place: Path) -> None:
    made = Scratch()
    (made.work / "file").touch()
    made.close()
    assert list(place.iterdir()) == []


def test_sweep_removes_folders_of_killed_processes(place: Path) -> None:
    left = _left_behind(place)
    made = Scratch()
    sweep({place}, AT_ONCE)
    assert [one for one in left if one.exists()] == []
    assert made.work.is_dir()
    assert made.memory.is_dir()
    made.close()


def test_making_one_sweeps(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = _left_behind(place)
    monkeypatch.setattr(scratch.sweep, "__defaults__", (AT_ONCE,))
    made = Scratch()
    until = time.monotonic() + 60
    while any(one.exists() for one in left):
        assert time.monotonic() < until
        time.sleep(0.01)
    made.close()


def test_sweep_leaves_new_and_foreign_folders(place: Path) -> None:
    new = place / "cowork-scratch-new"
    new.mkdir()
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    (place / "cowork-scratch-link").symlink_to(elsewhere)
    (place / "cowork-other").mkdir()
    sweep({place})
    sweep({place, place / "nowhere"}, new=3600)
    assert sorted(one.name for one in place.iterdir()) == [
        "cowork-other",
        "cowork-scratch-link",
        "cowork-scratch-new",
        "elsewhere",
    ]
    sweep({place}, AT_ONCE)
    assert not new.exists()
    assert elsewhere.exists()


def test_a_fork_that_ends_takes_nothing_with_it(place: Path) -> None:
    program = """
import os, sys
from cowork_jupyter.workspace.sandbox.scratch import Scratch
made = Scratch()
child = os.fork()
if not child:
    sys.exit(0)
os.waitpid(child, 0)
print(made.work.is_dir() and made.memory.is_dir())
"""
    environment = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
