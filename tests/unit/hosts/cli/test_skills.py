"""`jupyter cowork skills`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.guidance.conftest import write_skill

from .terminals import run_here as run


def test_skills_are_listed_and_switched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_skill(tmp_path / ".agents" / "skills", "team", "Our way.")
    (tmp_path / ".agents" / "skills" / "bad").mkdir()
    (tmp_path / ".agents" / "skills" / "bad" / "SKILL.md").write_text("x")
    here = ("--workspace", str(tmp_path))
    assert run("skills", *here) == 0
    said = capsys.readouterr()
    team, *others = said.out.splitlines()
    assert team.split() == ["team", "workspace", "not", "trusted", "Our", "way."]
    assert [line.split()[0] for line in others if " package    on " in line] == [
        *("data-cleaning", "joins", "model-evaluation"),
        *("notebook-tidy-up", "plotting", "time-series"),
    ]
    assert "The workspace's skill 'bad' is skipped." in said.err
    assert run("skills", "--off", "joins", *here) == 0
    assert "joins             package    off" in capsys.readouterr().out
    assert run("skills", "--on", "joins", *here) == 0
    assert "joins             package    on" in capsys.readouterr().out


def test_a_name_that_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("skills", "--off", "nonsense") == 1
    assert capsys.readouterr().err == "cowork: There is no skill 'nonsense'.\n"
