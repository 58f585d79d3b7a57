"""Where paths lead, and which patterns they fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.policy.paths import (
    AnchorDirs,
    PathPattern,
    literal_pattern,
    relative_to,
    target_of,
)

GROUNDS = AnchorDirs("/work", "/home/ada")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("data", "/work/data", True),
        ("data", "/work/deep/data", True),
        ("data", "/work/data/in/it.csv", True),
        ("/data", "/work/deep/data", False),
        ("/data", "/work/data/x", True),
        ("./data", "/work/data/x", True),
        ("data/", "/work/deep/data/x", True),
        ("data/*.csv", "/work/data/a.csv", True),
        ("data/*.csv", "/work/data/deep/a.csv", False),
        ("data/**", "/work/data/deep/a.csv", True),
        ("*.csv", "/work/anywhere/a.csv", True),
        ("*.csv", "/elsewhere/a.csv", False),
        ("/", "/work/anything", True),
        ("**", "/work/anything", True),
        ("~/notes", "/home/ada/notes/x", True),
        ("~/notes", "/work/notes", False),
        ("//etc", "/etc/passwd", True),
        ("//etc", "/work/etc", False),
        ("//**", "/etc/passwd", True),
        ("/data", "/work-evil/data", False),
        (r"/a\*b", "/work/a*b", True),
        (r"/a\*b", "/work/axb", False),
        ("/data", "/work/database", False),
    ],
)
def test_pattern_is_an_anchored_gitignore_line(pattern: str, path: str, fits: bool) -> None:
    assert PathPattern(pattern).matches(path, GROUNDS) is fits


@pytest.mark.parametrize("pattern", ["", " ", "!data", "../up", "a/../b", "[open", "a\0b"])
def test_a_pattern_that_makes_no_sense_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        PathPattern(pattern)


names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8)
paths = st.lists(names.filter(lambda name: name not in (".", "..")), min_size=1, max_size=4)


@given(paths, paths)
def test_a_literal_pattern_fits_its_path_and_no_other(one: list[str], other: list[str]) -> None:
    path, another = "/work/" + "/".join(one), "/work/" + "/".join(other)
    pattern = PathPattern(literal_pattern(path, GROUNDS))
    assert pattern.matches(path, GROUNDS)
    assert pattern.matches(another, GROUNDS) is (relative_to(another, path) is not None)


def test_a_target_knows_both_its_name_and_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    anchors = AnchorDirs.of(tmp_path)
    target = target_of(anchors, "link/new.txt")
    assert target.spelled == f"{anchors.root}/link/new.txt"
    assert target.real == f"{anchors.root}/real/new.txt"
    assert target.label(anchors) == "link/new.txt → real/new.txt"


def test_what_is_removed_is_the_link_itself(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    anchors = AnchorDirs.of(tmp_path)
    assert target_of(anchors, "link", follow=False).is_inside(anchors.root)
    assert not target_of(anchors, "link").is_inside(anchors.root)


def test_link_out_is_outside_in_every_spelling(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    anchors = AnchorDirs.of(tmp_path)
    for path in ("out/passwd", "../x", "/etc/passwd", "~/x", "a/../../x"):
        assert not target_of(anchors, path).is_inside(anchors.root), path
