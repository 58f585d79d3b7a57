from __future__ import annotations

import pytest

from tests.unit.hosts.cli.terminals import run_here


def test_help_spells_names_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here("acp", "--help") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Let an editor drive the agent over the Agent Client Protocol" in told
