"""Globs as .gitignore writes them."""

from __future__ import annotations

import pytest

from cowork_jupyter.workspace import Glob


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
