"""`%cowork init`, in a kernel of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.hosts.kernel.commands import command
from cowork_jupyter.hosts.kernel.link import CellProblem
from tests.unit.hosts.kernel.conftest import session, shell

__all__ = ["session", "shell"]


@pytest.mark.usefixtures("session", "shell")
def test_a_first_file_of_instructions_is_shown_and_written(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("day,units\n2025-01-01,4\n")
    shown = command("init --show")
    assert shown
    assert "`AGENTS.md` would be written:" in shown.markdown
    assert "- `sales.csv`: `day`, `units`" in shown.markdown
    assert not (tmp_path / "AGENTS.md").exists()
    made = command("init")
    assert made
    assert "is written" in made.markdown
    assert (tmp_path / "AGENTS.md").exists()
    with pytest.raises(CellProblem, match="already exists and stays unchanged"):
        command("init")
    with pytest.raises(CellProblem, match="Usage: %cowork init"):
        command("init --force")
