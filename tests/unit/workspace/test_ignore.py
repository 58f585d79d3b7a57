"""Globs as .gitignore writes them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cowork_jupyter.workspace import Glob, IgnoreRules, Workspace, visible_files


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.py", "a/b.py", True),
        ("*.py", "b.pyc", False),
        ("a/*.py", "a/b.py", True),
        ("a/*.py", "a/c/b.py", False),
        ("a/*.py", "x/a/b.py", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("**/foo", "foo", True),
        ("**/foo", "x/y/foo", True),
        ("/foo", "foo", True),
        ("/foo", "x/foo", False),
        ("**", "x/y", True),
        ("*.{py,md}", "x/a.md", True),
        ("*.{py,md}", "x/a.txt", False),
        ("{a,b{c,d}}", "bd", True),
        ("\\!x", "!x", True),
        ("\\*", "*", True),
        ("\\*", "x", False),
        ("\\{a\\}", "{a}", True),
        ("[a-c]1", "b1", True),
        ("[^a]b", "cb", True),
        ("[!a]b", "ab", False),
        ("[]]", "]", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a**b", "axxb", True),
        ("**/a/**/b", "x/a/y/a/z/b", True),
        ("ü*", "x/über", True),
        ("a*", "a\nb", True),
    ],
)
def test_glob_fits(glob: str, path: str, fits: bool) -> None:
    assert Glob(glob).matches(path) is fits


@pytest.mark.parametrize("glob", ["[a", "{a", "a}", "a\\", "{a,b}" * 8])
def test_malformed_glob_is_refused(glob: str) -> None:
    with pytest.raises(ValueError, match=r"glob|alternatives"):
        Glob(glob)


@pytest.mark.timeout(30)
def test_evil_glob_does_not_take_for_ever() -> None:
    assert not Glob("*a" * 30 + "b").matches("a" * 255)
    assert not Glob("**/a/" * 30 + "b").matches("/".join("a" * 200))


def make(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def seen(root: Path, start: str = ".") -> list[str]:
    workspace = Workspace(root)
    return list(visible_files(workspace, start, IgnoreRules(workspace)))


def test_hidden_and_ignored_files_are_passed_by(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            ".gitignore": "# note\n*.log\n!keep.log\nbuild/\n/top.txt\ndocs/*.tmp\nspace\\ \n",
            "a.log": "",
            "keep.log": "",
            "build/out.txt": "",
            "top.txt": "",
            "sub/top.txt": "",
            "docs/x.tmp": "",
            "docs/deep/x.tmp": "",
            ".hidden": "",
            ".folder/x": "",
            "space ": "",
        },
    )
    assert seen(tmp_path) == ["docs/deep/x.tmp", "keep.log", "sub/top.txt"]


def test_nearer_rules_win(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            ".gitignore": "*.csv\n",
            "a.csv": "",
            "sub/.gitignore": "!*.csv\n/deep/no.csv\n",
            "sub/b.csv": "",
            "sub/deep/no.csv": "",
            "sub/deep/yes.csv": "",
        },
    )
    assert seen(tmp_path) == ["sub/b.csv", "sub/deep/yes.csv"]


def test_start_that_is_ignored_itself_is_still_looked_into(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "data/\n*.bin\n", "data/x.csv": "", "data/y.bin": ""})
    assert seen(tmp_path) == []
    assert seen(tmp_path, "data") == ["data/x.csv"]


def test_order_is_by_name_within_each_folder(tmp_path: Path) -> None:
    make(tmp_path, {"a.txt": "", "a/z": "", "b/y": "", "B": ""})
    assert seen(tmp_path) == ["B", "a/z", "a.txt", "b/y"]


def test_symlinks_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, {"sub/x": ""})
    (tmp_path / "link").symlink_to("sub")
    (tmp_path / "file").symlink_to("sub/x")
    assert seen(tmp_path) == ["sub/x"]


def test_endlessly_nested_folders_do_no_harm(tmp_path: Path) -> None:
    make(tmp_path, {"a.txt": ""})
    held = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=held)
        below = os.open("d", os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = below
    os.close(held)
    assert seen(tmp_path) == ["a.txt"]
    # Too deep for what clears up after the tests.
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_walk_and_single_question_agree(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            ".gitignore": "x\n!y\n",
            "x/a": "",
            "y/x": "",
            "y/a": "",
            "z/.h/a": "",
            "z/a": "",
        },
    )
    rules = IgnoreRules(Workspace(tmp_path))
    files = [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()]
    assert sorted(f for f in files if rules.shows(f, start=".")) == seen(tmp_path)


@pytest.mark.parametrize("rules", ["[broken\n", "{a\n", "\\\n", "/\n", "!\n", "\n\n", "\xff"])
def test_rules_that_cannot_be_read_are_passed_over(tmp_path: Path, rules: str) -> None:
    make(tmp_path, {".gitignore": f"{rules}\n*.log", "a.txt": "", "b.log": ""})
    assert seen(tmp_path) == ["a.txt"]
