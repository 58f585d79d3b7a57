"""Git runs without asking only where the repository's own settings start nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.policy.repository import ELSEWHERE, HOOK, PROGRAMS, doubt_about_git

USUAL = """
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
[remote "origin"]
\turl = https://example.org/x.git ; a comment
\tfetch = +refs/heads/*:refs/remotes/origin/*
# another
[branch "main"] remote = origin
\tmerge = refs/heads/main
[user]
\tname = A "quoted" name
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / ".git" / "config").write_text(USUAL)
    (tmp_path / "sub").mkdir()
    return tmp_path


def test_the_usual_settings_start_nothing(repository: Path) -> None:
    assert doubt_about_git(str(repository)) is None
    assert doubt_about_git(str(repository / "sub")) is None


def test_where_there_is_no_repository_there_is_nothing_to_doubt(tmp_path: Path) -> None:
    assert doubt_about_git(str(tmp_path)) is None


@pytest.mark.parametrize(
    "more",
    [
        "[core]\n\tfsmonitor = evil",
        "[core] fsmonitor = evil",
        "[CORE]\nFsMonitor=evil",
        "[core]\n\tpager = evil",
        "[core]\n\thooksPath = .",
        '[diff "x"]\n\ttextconv = evil',
        '[filter "x"]\n\tclean = evil',
        "[diff]\n\texternal = evil",
        "[include]\n\tpath = ../evil",
        '[includeIf "gitdir:/"]\n\tpath = ../evil',
        "[alias]\n\tstatus = !evil",
        "[core.x]\n\ty = 1",
        "[core\n\tfsmonitor = evil",
        "[user]\n\tname = a \\\n[core]\nfsmonitor = evil",
        "nonsense here",
        "[pager]\n\tlog = evil",
        "[user]\n\tname = " + "x" * 300_000,
    ],
)
def test_whatever_else_stands_there_is_doubted(repository: Path, more: str) -> None:
    (repository / ".git" / "config").write_text(f"{USUAL}\n{more}\n")
    assert doubt_about_git(str(repository / "sub")) == PROGRAMS


def test_settings_of_a_single_work_tree_count_too(repository: Path) -> None:
    (repository / ".git" / "config.worktree").write_text("[core]\n\tfsmonitor = evil\n")
    assert doubt_about_git(str(repository)) == PROGRAMS


def test_settings_that_cannot_be_read_are_doubted(repository: Path) -> None:
    (repository / ".git" / "config").unlink()
    (repository / ".git" / "config").mkdir()
    assert doubt_about_git(str(repository)) == PROGRAMS


def test_a_hook_that_looking_starts_is_doubted(repository: Path) -> None:
    (repository / ".git" / "hooks" / "pre-commit").write_text("x")
    assert doubt_about_git(str(repository)) is None
    (repository / ".git" / "hooks" / "post-index-change").symlink_to("nowhere")
    assert doubt_about_git(str(repository)) == HOOK


def test_a_repository_that_points_elsewhere_is_doubted(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: ../other\n")
    assert doubt_about_git(str(tmp_path)) == ELSEWHERE


def test_a_folder_that_is_a_bare_repository_is_one(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "config").write_text("[core]\n\tfsmonitor = evil\n")
    assert doubt_about_git(str(tmp_path)) == PROGRAMS
