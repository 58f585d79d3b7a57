"""What a command comes across on the disk: files that a search reads, and settings of git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cowork_jupyter.policy import disk_facts
from cowork_jupyter.policy.disk_facts import (
    ELSEWHERE,
    HOOK,
    PROGRAMS,
    doubt_about_git,
    tree_read_by,
)
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.policy.shell import analyse


@pytest.fixture
def anchors(tmp_path: Path) -> AnchorDirs:
    for name in ("a.py", ".env", "sub/b.py", "sub/.hidden/c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link").symlink_to("/etc/hosts")
    return AnchorDirs.of(tmp_path)


def found(anchors: AnchorDirs, line: str) -> set[str] | None:
    (command,) = analyse(line).commands
    tree = tree_read_by(command, anchors.root, anchors)
    if tree is None:
        return None
    return {os.path.relpath(one.spelled, anchors.root) for one in tree.files}


ALL = {"a.py", ".env", "sub/b.py", "sub/.hidden/c"}


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("grep -r x .", ALL),
        ("grep -rn x", ALL),
        ("grep --recursive x sub", {"sub/b.py", "sub/.hidden/c"}),
        ("grep -d recurse x .", ALL),
        ("rg x", {"a.py", "sub/b.py"}),
        ("rg --hidden x", ALL),
        ("rg -uu x sub", {"sub/b.py", "sub/.hidden/c"}),
        ("diff -r . sub", ALL),
        ("timeout 5 grep -r x .", ALL),
        ("grep -R x .", {*ALL, "link"}),
        ("grep x a.py", None),
        ("diff a.py .env", None),
        ("cat a.py", None),
    ],
)
def test_the_files_that_a_command_comes_across(
    anchors: AnchorDirs, line: str, files: set[str] | None
) -> None:
    assert found(anchors, line) == files


def test_large_folder_is_incomplete(anchors: AnchorDirs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_facts, "MAX_FILES", 2)
    (command,) = analyse("grep -r x .").commands
    tree = tree_read_by(command, anchors.root, anchors)
    assert tree is not None
    assert not tree.complete
    assert len(tree.files) == 2


def test_a_folder_that_cannot_be_read_is_left_out(anchors: AnchorDirs) -> None:
    (command,) = analyse("grep -r x nowhere").commands
    tree = tree_read_by(command, f"{anchors.root}/nowhere", anchors)
    assert tree is not None
    assert tree.files == ()


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


def test_no_repository_no_doubt(tmp_path: Path) -> None:
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
