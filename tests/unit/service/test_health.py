"""What health says about the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.domain.health import ModelState, Problem
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.health import describe, folder_problems, is_writable
from cowork_jupyter.workspace.sandbox.sandbox import available_sandbox

NO_MODEL = ModelState(provider="none", name=None, base_url=None, ready=False, why_not="none")
NOBODY_CAN_WRITE_HERE = Path("/proc")


def codes(settings: Settings) -> list[str]:
    return [problem.code for problem in folder_problems(settings)]


def test_good_folders_are_no_problem(tmp_path: Path) -> None:
    assert codes(Settings(workspace=tmp_path, data_dir=tmp_path / "not" / "yet")) == []


def test_a_workspace_that_is_not_there(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path / "gone", data_dir=tmp_path)
    assert codes(settings) == ["workspace_missing"]


def test_a_workspace_that_cannot_be_written_to_says_what_to_do(tmp_path: Path) -> None:
    settings = Settings(workspace=NOBODY_CAN_WRITE_HERE, data_dir=tmp_path)
    (problem,) = folder_problems(settings)
    assert problem.code == "workspace_not_writable"
    assert "/proc" in problem.message
    assert "Change its permissions" in problem.message


def test_a_data_directory_that_cannot_be_written_to(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path, data_dir=NOBODY_CAN_WRITE_HERE / "cowork")
    (problem,) = folder_problems(settings)
    assert problem.code == "data_dir_not_writable"
    assert "JUPYTER_DATA_DIR" in problem.message


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    assert is_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("problems", [[], [Problem(code="x", message="y")]])
def test_the_hosts_problems_are_listed_too(tmp_path: Path, problems: list[Problem]) -> None:
    settings = Settings(workspace=tmp_path, data_dir=tmp_path)
    health = describe(settings, NO_MODEL, problems)
    assert health.problems == problems
    assert health.workspace == str(tmp_path)
    assert health.sandbox == available_sandbox("auto")


def test_no_sandbox_is_claimed_where_none_is_wanted(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path, data_dir=tmp_path, sandbox="none")
    assert describe(settings, NO_MODEL).sandbox == "none"
