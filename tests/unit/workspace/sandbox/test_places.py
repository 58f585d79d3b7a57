"""Leaving out single places where only whole folders can be allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cowork_jupyter.workspace.sandbox.places import (
    devices,
    find_homes,
    find_places,
    is_inside,
    split_around,
)

pytestmark = pytest.mark.process


def make(folder: Path, *names: str) -> str:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return os.path.realpath(folder)


def test_inside_is_by_whole_names() -> None:
    assert is_inside("/data/a", "/data")
    assert is_inside("/data", "/data")
    assert not is_inside("/data-evil", "/data")
    assert is_inside("/anything", "/")


def test_what_is_beside_a_hole_is_named_and_the_folder_only_listed(tmp_path: Path) -> None:
    root = make(tmp_path, "a/x", "b/secret/key", "b/open", "c")
    parts = dict(split_around(root, [f"{root}/b/secret"]))
    assert parts == {
        root: True,
        f"{root}/a": False,
        f"{root}/b": True,
        f"{root}/b/open": False,
        f"{root}/c": False,
    }


def test_a_folder_without_holes_stays_whole(tmp_path: Path) -> None:
    root = make(tmp_path, "a/x")
    assert dict(split_around(root, ["/elsewhere"])) == {root: False}


def test_a_folder_is_split_for_a_secret_that_is_not_there_yet(tmp_path: Path) -> None:
    root = make(tmp_path, "project/x")
    assert dict(split_around(root, [f"{root}/.ssh"])) == {root: True, f"{root}/project": False}


def test_symlinks_beside_a_hole_are_not_followed(tmp_path: Path) -> None:
    root = make(tmp_path, "secret/key")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    assert f"{root}/link" not in dict(split_around(root, [f"{root}/secret"]))


def test_secrets_of_a_home_are_hidden_and_the_home_is_not(tmp_path: Path) -> None:
    home = make(tmp_path / "home", ".ssh/id", ".netrc", ".config/gcloud/key", "notes")
    places = find_places("/srv/ws", [home], [], [])
    readable = dict(places.readable())
    assert readable[f"{home}/notes"] is False
    for secret in (".ssh", ".ssh/id", ".netrc", ".config/gcloud"):
        assert f"{home}/{secret}" not in readable


def test_a_secret_behind_a_symlink_is_hidden_where_it_really_is(tmp_path: Path) -> None:
    home = make(tmp_path / "home", "vault/id")
    (tmp_path / "home" / ".ssh").symlink_to(tmp_path / "home" / "vault")
    assert f"{home}/vault" in find_places("/srv/ws", [home], [], []).hidden


def test_a_workspace_inside_a_hidden_folder_stays_readable(tmp_path: Path) -> None:
    data = make(tmp_path / "data", "ws/a", "cowork.sqlite")
    places = find_places(f"{data}/ws", ["/nobody"], [data, f"{data}/cowork.sqlite"], [])
    assert data not in places.hidden
    assert f"{data}/cowork.sqlite" in places.hidden
    assert dict(places.readable())[f"{data}/ws"] is False


def test_start_up_files_are_protected_where_the_workspace_is_a_home(tmp_path: Path) -> None:
    home = make(tmp_path / "home", ".bashrc", "work/x")
    places = find_places(home, [home], [], [])
    assert places.holds_home
    writable = [path for path, is_split in places.writable_parts() if not is_split]
    assert writable == [f"{home}/work"]


def test_start_up_files_in_an_ordinary_workspace_are_files_like_others(tmp_path: Path) -> None:
    root = make(tmp_path / "ws", ".bashrc")
    places = find_places(root, ["/nobody"], [], [])
    assert not places.holds_home
    assert places.protected == ()


def test_the_users_own_home_comes_first(tmp_path: Path) -> None:
    assert find_homes({"HOME": str(tmp_path)})[0] == os.path.realpath(tmp_path)


def test_disks_are_not_among_the_devices() -> None:
    found = devices()
    assert "/dev/null" in found
    assert not any(
        name.startswith(("/dev/sd", "/dev/vd", "/dev/nvme", "/dev/mem")) for name in found
    )


def test_what_is_a_programs_own_is_opened_without_the_workspace_and_secrets(tmp_path: Path) -> None:
    home = make(tmp_path / "home", "work/ws/a", "work/tools/b", ".codex/auth", ".agent/.ssh/x")
    root = f"{home}/work/ws"
    own = [f"{home}/work", f"{home}/.codex"]
    places = find_places(root, [home], [f"{home}/.codex/private"], [], own)
    assert dict(places.state_parts()) == {
        f"{home}/work": True,
        f"{home}/work/tools": False,
        f"{home}/.codex": True,
        f"{home}/.codex/auth": False,
    }
    assert f"{home}/.codex/auth" in dict(places.readable())
    assert f"{home}/.codex" not in dict(find_places(root, [home], [], []).readable())
