"""A kernel has the magics from its start, and pays for them when they are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, plan

from .kernels import started_kernel, wait_until_ready

pytestmark = pytest.mark.process

MODULES = "import json, sys; print(json.dumps(sorted(sys.modules)))"
HEAVY = {"anywidget", "httpx", "ipywidgets", "jupyter_server", "openai", "pydantic", "sqlite3"}
LIGHT = {"completion", "magics"}


def modules_after_start(folder: Path, *, loaded: bool) -> set[str]:
    """Of a kernel that has us configured as pip leaves it, or where the user wants us not."""
    profile = folder / "profile_default"
    profile.mkdir(parents=True)
    if not loaded:
        unwanted = "c.InteractiveShellApp.extra_extensions = []\n"
        (profile / "ipython_kernel_config.py").write_text(unwanted)
    with started_kernel(folder, IPYTHONDIR=str(folder)) as cells:
        found: list[str] = json.loads(cells.run(MODULES).printed)
    return set(found)


def test_a_kernel_that_does_not_use_the_magics_imports_next_to_nothing(tmp_path: Path) -> None:
    without = modules_after_start(tmp_path / "without", loaded=False)
    added = modules_after_start(tmp_path / "with", loaded=True) - without
    ours = {name for name in added if name.split(".")[0] == "cowork_jupyter"}
    package = {"cowork_jupyter", "cowork_jupyter._version"}
    package |= {"cowork_jupyter.hosts", "cowork_jupyter.hosts.kernel"}
    assert ours == package | {f"cowork_jupyter.hosts.kernel.{name}" for name in LIGHT}
    assert added - ours <= {"IPython.core.magic_arguments", "locale", "_locale"}
    assert not added & HEAVY


@pytest.mark.slow
def test_the_first_cell_can_be_a_magic_also_after_a_restart(
    tmp_path: Path, connected: ScriptedServer
) -> None:
    connected.add(plan("Write a", "Write it"), plan("Write b", "Write it"))
    with started_kernel(tmp_path) as cells:
        assert cells.run("%%plan\nWrite a").card["snapshot"]["status"] == "completed"
        cells.manager.restart_kernel(now=True)
        wait_until_ready(cells.client)
        assert cells.run("%%plan\nWrite b").card["snapshot"]["status"] == "completed"


def test_an_empty_act_and_completion_work_from_the_start(tmp_path: Path, connected: Any) -> None:
    with started_kernel(tmp_path) as cells:
        assert "This conversation has no plan yet" in cells.run("%%act").error
        assert "audit" in cells.completions("%cowork au")


def test_loading_by_hand_still_works(tmp_path: Path, connected: Any) -> None:
    with started_kernel(tmp_path) as cells:
        for line in ("%load_ext cowork_jupyter", "%reload_ext cowork_jupyter"):
            assert cells.run(line).status == "ok"
        assert "%cowork audit" in cells.run("%cowork help").text
