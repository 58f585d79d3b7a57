"""On macOS and Windows: everything imports, and what is said to work does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.policy.decision import UNCONFINED
from cowork_jupyter.workspace.no_follow import NOT_HELD

pytestmark = [pytest.mark.process, pytest.mark.slow]

TABLE = "a,b\n1,2\n3,4\n"


def visit(*arguments: str, given: str = "") -> Any:
    command = [sys.executable, "-W", "ignore", "-m", "tests.unit.platforms.visit", *arguments]
    made = subprocess.run(command, input=given, capture_output=True, text=True, timeout=150)
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)


@pytest.fixture(scope="module")
def foreign() -> str:
    """Modules of others that are loaded as on this system."""
    return json.dumps(visit())


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    (made / "sales.csv").write_text(TABLE)
    return made


def test_macos_works_with_files_and_takes_back_but_confines_nothing(
    foreign: str, workspace: Path
) -> None:
    seen = visit("macos", str(workspace), given=foreign)
    assert seen["not_imported"] == {}
    assert (seen["sandbox"], seen["problems"]) == ("none", [])
    hello, columns, counted, drawn = seen["answers"].values()
    assert hello[0] == columns[0] == "completed"
    assert "built-in guide" in hello[1]
    assert "sales.csv  12 bytes" in columns[1]
    assert "| a | numbers |" in columns[1]
    for _status, said in (counted, drawn):  # both run code
        assert UNCONFINED in said
    assert "sales.csv" in seen["taken_back"]["changed"]
    assert seen["taken_back"]["removed"] == ["new", "new/deep", "new/deep/file.txt"]
    assert (workspace / "sales.csv").read_text() == TABLE
    assert [one.name for one in workspace.iterdir()] == ["sales.csv"]


def test_windows_imports_and_refuses_in_words(foreign: str, workspace: Path) -> None:
    seen = visit("windows", str(workspace), given=foreign)
    assert seen["not_imported"] == {}
    assert seen["sandbox"] == "none"
    assert "unsupported_system" in seen["problems"]
    for status, said in seen["answers"].values():
        assert status == "failed"
        assert NOT_HELD in said
    assert seen["taken_back"] == {"refused": NOT_HELD}
    assert (workspace / "sales.csv").read_text() == TABLE
