"""`jupyter cowork mcp` before it serves: what is missing or makes no sense is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.domain.test_health import hide_package

from ...hosts.cli.terminals import run_here


def test_without_the_package_it_says_which_is_needed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_package(monkeypatch)
    assert run_here("mcp") == 1
    told = capsys.readouterr()
    assert "pip install 'cowork-jupyter[mcp]'" in told.err
    assert told.out == ""


def test_a_role_or_policy_that_is_not_there_is_an_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run_here("mcp", "--role", "emperor") == 2
    assert "planner" in capsys.readouterr().err
    assert run_here("mcp", "--policy", str(tmp_path / "none.json")) == 2
    assert "none.json" in capsys.readouterr().err
