"""`jupyter cowork memory` shows and changes what is remembered of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.guidance.memory import MEMORY_FILE
from cowork_jupyter.hosts.cli.app import main


def run(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["memory", *arguments, f"--workspace={folder}"])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out + shown.err


def test_it_is_shown_and_forgotten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, tmp_path) == (0, "Nothing is remembered about this folder yet.\n")
    (tmp_path / ".cowork").mkdir()
    (tmp_path / MEMORY_FILE).write_text("- one\n- two\n")
    code, shown = run(capsys, tmp_path)
    assert code == 0
    assert "- one" in shown
    assert "Not followed until you trust it" in shown
    code, shown = run(capsys, tmp_path, "--forget", "two")
    assert code == 1
    assert "Review the whole file first" in shown
    assert run(capsys, tmp_path, "--forget")[0] == 0
    assert not (tmp_path / MEMORY_FILE).exists()


def test_without_a_run_there_is_nothing_to_keep(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, shown = run(capsys, tmp_path, "--keep")
    assert code == 1
    assert "nothing new to remember" in shown
