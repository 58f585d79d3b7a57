"""Leaving out single places where only whole folders can be allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cowork_jupyter.workspace.sandbox.path_access import (
    closed_parts,
    devices,
    find_homes,
    find_path_access,
    is_inside,
    needed_at_home,
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


def test_split_folder_is_only_listed(tmp_path: Path) -> None:
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


def test_a_home_is_closed_but_for_what_is_needed(tmp_path: Path) -> None:
    home = make(tmp_path / "home", ".ssh/id", "notes", ".cache/pip/a", ".local/lib/p.py")
    at_home = needed_at_home([home], {}, "/bin/sh", [])
    places = find_path_access("/srv/ws", [home], [], [], at_home=at_home)
    assert places.homes == (home,)
    readable = dict(places.readable())
    assert readable[f"{home}/.cache/pip"] is readable[f"{home}/.local/lib"] is False
    assert {path for path in readable if path.startswith(home)} == set(at_home)


def test_needed_of_a_home_is_what_programs_and_variables_name(tmp_path: Path) -> None:
    home = make(
        tmp_path / "home", "env/bin/python", "env/lib/x", "env/pyvenv.cfg", ".fly/bin/fly",
        ".fly/token", ".local/bin/tool", ".local/share/keyrings/k", "libs/a.py", "data/a.csv",
    )  # fmt: skip
    variables = {"PATH": f"{home}/.fly/bin:{home}/.local/bin:{home}", "PYTHONPATH": f"{home}/libs"}
    found = needed_at_home([home], variables, f"{home}/env/bin/python", ["~nobody", f"{home}/data"])
    names = {path.removeprefix(f"{home}/") for path in found}
    assert names == {
        *("env/bin", "env/bin/python", "env/lib", "env/pyvenv.cfg", ".fly/bin", ".local/bin"),
        *("libs", "data"),
    }


def test_what_is_linked_into_a_home_is_known_by_both_names(tmp_path: Path) -> None:
    home, away = make(tmp_path / "home", "x"), make(tmp_path / "conda", "lib/x")
    (tmp_path / "home" / "miniconda3").symlink_to(away)
    assert needed_at_home([home], {}, "/bin/sh", []) == {f"{home}/miniconda3": away}


def test_names_with_a_dot_in_a_home_that_is_the_workspace(tmp_path: Path) -> None:
    home = make(tmp_path / "home", ".ssh/id", ".cache/pip/a", ".cache/token", "notes")
    away = make(tmp_path / "vault", "key")
    (tmp_path / "home" / ".vault").symlink_to(away)
    kept = [home, f"{home}/.cache/pip"]
    assert sorted(closed_parts(home, kept, is_open=True)) == sorted(
        [f"{home}/.ssh", f"{home}/.cache/token", away]
    )
    assert list(closed_parts(home, kept, is_open=False)) == [away]
    assert list(closed_parts(home, [*kept, f"{away}/key"], is_open=False)) == []


def test_a_workspace_inside_a_hidden_folder_stays_readable(tmp_path: Path) -> None:
    data = make(tmp_path / "data", "ws/a", "cowork.sqlite")
    places = find_path_access(f"{data}/ws", ["/nobody"], [data, f"{data}/cowork.sqlite"], [])
    assert data not in places.hidden
    assert f"{data}/cowork.sqlite" in places.hidden
    assert dict(places.readable())[f"{data}/ws"] is False


def test_start_up_files_are_protected_in_a_home_workspace(tmp_path: Path) -> None:
    home = make(tmp_path / "home", ".bashrc", "work/x")
    places = find_path_access(home, [home], [], [])
    assert places.holds_home
    writable = [path for path, is_split in places.writable_parts() if not is_split]
    assert writable == [f"{home}/work"]


def test_start_up_files_are_plain_in_other_workspaces(tmp_path: Path) -> None:
    root = make(tmp_path / "ws", ".bashrc")
    places = find_path_access(root, ["/nobody"], [], [])
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


def test_state_of_a_program_excludes_workspace_and_secrets(tmp_path: Path) -> None:
    home = make(tmp_path / "home", "work/ws/a", "work/tools/b", ".codex/auth", ".agent/.ssh/x")
    root = f"{home}/work/ws"
    own = [f"{home}/work", f"{home}/.codex"]
    places = find_path_access(root, [home], [f"{home}/.codex/private"], [], own)
    assert dict(places.state_parts()) == {
        f"{home}/work": True,
        f"{home}/work/tools": False,
        f"{home}/.codex": True,
        f"{home}/.codex/auth": False,
    }
    assert f"{home}/.codex/auth" in dict(places.readable())
    assert f"{home}/.codex" not in dict(find_path_access(root, [home], [], []).readable())
