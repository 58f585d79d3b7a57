"""What a search through a folder comes across is known before it runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cowork_jupyter.policy import trees
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.policy.shell import analyse
from cowork_jupyter.policy.trees import tree_read_by


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


def test_a_folder_with_too_many_files_is_not_looked_at_to_the_end(
    anchors: AnchorDirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MAX_FILES", 2)
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
