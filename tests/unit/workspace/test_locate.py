"""Paths: what leads inside is found, what leads outside is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import CoworkError, Forbidden, InvalidInput, NotFound
from cowork_jupyter.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("inside")
    (root / "sub" / "b.txt").write_text("below")
    (tmp_path / "data-evil").mkdir()
    (tmp_path / "data-evil" / "secret.txt").write_text("secret")
    return root


def read(root: Path, path: str) -> str:
    with Workspace(root).locate(path) as place:
        return place.read().decode()


def found_at(root: Path, path: str) -> str:
    with Workspace(root).locate(path) as place:
        return place.path


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.txt", "a.txt"),
        ("./sub//b.txt", "sub/b.txt"),
        ("sub/../a.txt", "a.txt"),
        ("sub/deep/../b.txt", "sub/b.txt"),
        ("sub/deep/..", "sub"),
        (".", "."),
        ("sub/", "sub"),
        ("new/folder/file.txt", "new/folder/file.txt"),
    ],
)
def test_path_inside_is_reported_from_the_top(root: Path, path: str, found: str) -> None:
    assert found_at(root, path) == found


@pytest.mark.parametrize("path", ["..", "../data-evil/secret.txt", "sub/../../data/a.txt", "/etc"])
def test_path_outside_is_refused(root: Path, path: str) -> None:
    with pytest.raises(Forbidden, match="outside the workspace") as caught:
        read(root, path)
    assert caught.value.code == "outside_workspace"


def test_absolute_path_is_compared_by_components(root: Path) -> None:
    assert read(root, str(root / "a.txt")) == "inside"
    with pytest.raises(Forbidden):
        read(root, str(root) + "-evil/secret.txt")
    with pytest.raises(Forbidden):
        read(root, f"{root}/../data-evil/secret.txt")


def test_root_may_be_spelled_through_a_symlink(root: Path, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(root)
    assert read(alias, str(alias / "a.txt")) == "inside"
    assert read(alias, str(root / "a.txt")) == "inside"
    assert read(root, str(alias / "a.txt")) == "inside"


@pytest.mark.parametrize(
    ("path", "why"),
    [("", "empty"), ("  ", "empty"), ("a\0b", "NUL"), ("x" * 300, "long"), ("\ud800", "invalid")],
)
def test_what_cannot_be_a_path_is_refused(root: Path, path: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        read(root, path)


def test_over_long_path_of_short_names_is_refused(root: Path) -> None:
    with pytest.raises(InvalidInput, match="long"):
        read(root, "/".join(["name"] * 2000))


def test_too_deep_path_is_refused(root: Path) -> None:
    (root / "again").symlink_to("sub/../sub")
    assert read(root, "again/../" * 15 + "a.txt") == "inside"
    deep = root / "/".join("d" * 300)
    deep.mkdir(parents=True)
    with pytest.raises(InvalidInput, match="too many folders"):
        read(root, "/".join("d" * 300))


@pytest.mark.parametrize("target", ["a.txt", "sub/../a.txt", "{root}/a.txt", "./sub/up/a.txt"])
def test_symlink_that_stays_inside_works(root: Path, target: str) -> None:
    (root / "sub" / "up").symlink_to("..")
    (root / "link").symlink_to(target.format(root=root))
    assert read(root, "link") == "inside"


@pytest.mark.parametrize("target", ["../data-evil", "{root}-evil", "/", "sub/../../data-evil"])
def test_symlink_that_leads_outside_is_refused(root: Path, target: str) -> None:
    (root / "link").symlink_to(target.format(root=root))
    with pytest.raises(Forbidden):
        read(root, "link/secret.txt")


def test_dots_after_a_folder_link_are_resolved(root: Path) -> None:
    (root / "link").symlink_to("sub/deep")
    assert os.path.realpath(root / "link/../b.txt") == str(root.resolve() / "sub/b.txt")
    assert found_at(root, "link/../b.txt") == "sub/b.txt"


def test_symlink_circle_is_refused(root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    for path in ("one", "one/more"):
        with pytest.raises(InvalidInput, match="form a loop"):
            read(root, path)


def test_last_symlink_is_not_followed_when_not_asked(root: Path) -> None:
    (root / "link").symlink_to("a.txt")
    with Workspace(root).locate("link", follow=False) as place:
        assert place.path == "link"


def test_missing_parent_followed_by_dots_is_not_found(root: Path) -> None:
    with pytest.raises(NotFound):
        found_at(root, "nowhere/../a.txt")


def test_file_used_as_folder_is_explained(root: Path) -> None:
    with pytest.raises(InvalidInput, match="not a folder"):
        read(root, "a.txt/more")


def test_missing_workspace_is_explained(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Workspace(tmp_path / "gone").locate("a")


def test_folder_swapped_after_the_look_is_not_left(root: Path) -> None:
    with Workspace(root).locate("sub/b.txt") as place:
        (root / "sub").rename(root / "moved")
        (root / "sub").symlink_to(root.parent / "data-evil")
        place.replace(b"changed")
    assert (root / "moved" / "b.txt").read_text() == "changed"
    assert not (root.parent / "data-evil" / "b.txt").exists()


def test_descriptors_are_not_leaked(root: Path) -> None:
    workspace = Workspace(root)
    (root / "loop").symlink_to("loop")
    before = len(list(Path("/dev/fd").iterdir()))
    for path in ["a.txt", "sub/deep/x/y", "../x", "loop/x", "sub/b.txt/x", "sub/../../x"]:
        for _ in range(20):
            try:
                with workspace.locate(path) as place:
                    place.read()
            except CoworkError:
                pass
    assert len(list(Path("/dev/fd").iterdir())) == before
