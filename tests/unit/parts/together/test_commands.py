"""`jupyter cowork init`, `skills` and `memory`."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.hosts.cli.app import main
from cowork_jupyter.parts.memory.memory import MEMORY_FILE
from tests.unit.parts.skills.conftest import write_skill

from ...hosts.cli.terminals import run_here


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
    assert "stays unchanged" in capsys.readouterr().err
    assert (tmp_path / "AGENTS.md").read_text() == "Mine."


def test_skills_are_listed_and_switched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_skill(tmp_path / ".agents" / "skills", "team", "Our way.")
    (tmp_path / ".agents" / "skills" / "bad").mkdir()
    (tmp_path / ".agents" / "skills" / "bad" / "SKILL.md").write_text("x")
    here = ("--workspace", str(tmp_path))
    assert run_here("skills", *here) == 0
    said = capsys.readouterr()
    team, *others = said.out.splitlines()
    assert team.split() == ["team", "workspace", "not", "trusted", "Our", "way."]
    assert [line.split()[0] for line in others if " package    on " in line] == [
        *("data-cleaning", "joins", "model-evaluation"),
        *("notebook-tidy-up", "plotting", "time-series"),
    ]
    assert "The workspace's skill 'bad' is skipped." in said.err
    assert run_here("skills", "--off", "joins", *here) == 0
    assert "joins             package    off" in capsys.readouterr().out
    assert run_here("skills", "--on", "joins", *here) == 0
    assert "joins             package    on" in capsys.readouterr().out


def test_a_name_that_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here("skills", "--off", "nonsense") == 1
    assert capsys.readouterr().err == "cowork: There is no skill 'nonsense'.\n"


def run_memory(
    capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str
) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["memory", *arguments, f"--workspace={folder}"])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out + shown.err


def test_it_is_shown_and_forgotten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_memory(capsys, tmp_path) == (0, "Nothing is remembered about this folder yet.\n")
    (tmp_path / ".cowork").mkdir()
    (tmp_path / MEMORY_FILE).write_text("- one\n- two\n")
    code, shown = run_memory(capsys, tmp_path)
    assert code == 0
    assert "- one" in shown
    assert "Not followed until you trust it" in shown
    code, shown = run_memory(capsys, tmp_path, "--forget", "two")
    assert code == 1
    assert "Review the whole file first" in shown
    assert run_memory(capsys, tmp_path, "--forget")[0] == 0
    assert not (tmp_path / MEMORY_FILE).exists()


def test_without_a_run_there_is_nothing_to_keep(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, shown = run_memory(capsys, tmp_path, "--keep")
    assert code == 1
    assert "nothing new to remember" in shown
