"""Programs that run notebooks: the run waits for nobody, and the notebook reads well after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat.v4
import pytest

from cowork_jupyter.domain.settings import BUILT_IN
from tests.scripted import ScriptedServer, call, plan, text

from .kernels import RECORD, VIEW

pytestmark = pytest.mark.process

MAX_CARD = 20_000
STEP = {"action": "Write a.txt", "files": ["a.txt"], "tools_needed": ["create_file"]}
CELLS = ["%load_ext cowork_jupyter", "%%plan\nWrite a file", "%%act", "%%act\nDelete everything"]


def write(folder: Path, *sources: str) -> Path:
    make: Any = nbformat.v4
    cells = [make.new_code_cell(one, id=f"c{n}") for n, one in enumerate(sources)]
    path = folder / "report.ipynb"
    path.write_text(make.writes(make.new_notebook(cells=cells)))
    return path


def run(folder: Path, *arguments: str) -> None:
    """A command of Jupyter's."""
    subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=dict(os.environ),
        check=True,
        timeout=120,
    )


@pytest.mark.slow
def test_jupyter_execute_runs_a_notebook_to_its_end(
    tmp_path: Path, connected: ScriptedServer
) -> None:
    connected.add(plan("Write a", STEP))
    connected.add(call("create_file", path="a.txt", content="a\n"), text("Written."))
    connected.add(call("execute_command", command="rm -rf ."), text("I was not allowed to."))
    path = write(tmp_path, *CELLS)
    plain = path.stat().st_size
    run(tmp_path, "jupyter", "execute", "--inplace", path.name)
    assert (tmp_path / "a.txt").exists()
    notebook = json.loads(path.read_text())
    outputs = [cell["outputs"] for cell in notebook["cells"][1:]]
    cards = [one["data"] for output in outputs for one in output]
    assert [card[RECORD]["snapshot"]["status"] for card in cards] == ["completed"] * 3
    assert "`execute_command`" in "".join(cards[2]["text/markdown"])
    assert not any(VIEW in card for card in cards)
    assert "widgets" not in notebook["metadata"]
    assert path.stat().st_size - plain <= 3 * MAX_CARD
    assert str(tmp_path) not in path.read_text()


@pytest.mark.slow
def test_nbconvert_shows_it_to_readers_without_anything_installed(
    tmp_path: Path, connected: ScriptedServer
) -> None:
    connected.add(plan("Write a", STEP))
    path = write(tmp_path, *CELLS[:2])
    run(tmp_path, "jupyter", "nbconvert", "--execute", "--to", "html", path.name)
    page = (tmp_path / "report.html").read_text()
    assert "<strong>Planner</strong> · Write a file" in page
    assert "<li>Write a.txt" in page


def test_without_a_model_the_guide_answers_under_its_own_name(tmp_path: Path) -> None:
    path = write(tmp_path, *CELLS[:2])
    run(tmp_path, "jupyter", "nbconvert", "--execute", "--to", "markdown", path.name)
    assert BUILT_IN in (tmp_path / "report.md").read_text()
