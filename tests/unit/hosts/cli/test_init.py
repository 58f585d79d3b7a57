"""`jupyter cowork init`."""

from __future__ import annotations

from pathlib import Path

import pytest

from .terminals import run_here


def test_it_shows_then_writes_and_never_overwrites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_text("day,units\n2025-01-01,4\n")
    assert run_here("init", "--show") == 0
    shown = capsys.readouterr().out
    assert "- `sales.csv`: `day`, `units`" in shown
    assert not (tmp_path / "AGENTS.md").exists()
    assert run_here("init") == 0
    assert "Wrote AGENTS.md." in capsys.readouterr().out
    assert (tmp_path / "AGENTS.md").read_text() == shown
    (tmp_path / "AGENTS.md").write_text("Mine.")
    assert run_here("init", "--workspace", str(tmp_path)) == 1
    assert "is left as it is" in capsys.readouterr().err
    assert (tmp_path / "AGENTS.md").read_text() == "Mine."
