"""What can be done at a place, and what is refused there."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import Conflict, Forbidden, InvalidInput, NotFound
from cowork_jupyter.workspace import PathHandle, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def at(workspace: Workspace, path: str, **options: bool) -> PathHandle:
    return workspace.locate(path, **options)


def test_read_can_be_bounded(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"12345")
    with at(workspace, "a") as place:
        assert place.read(3) == b"123"
        assert place.read() == b"12345"


def test_entries_are_sorted_and_typed(workspace: Workspace) -> None:
    root = workspace.root
    (root / "b").write_bytes(b"123")
    (root / "c").mkdir()
    (root / "a").symlink_to("b")
    os.mkfifo(root / "d")
    with at(workspace, ".") as place:
        found = [(entry.name, entry.kind) for entry in place.entries()]
    assert found == [("a", "link"), ("b", "file"), ("c", "folder"), ("d", "special")]


def test_create_makes_parents_and_never_overwrites(workspace: Workspace) -> None:
    with at(workspace, "x/y/z.txt") as place:
        assert not place.exists()
        place.create(b"one")
        assert place.exists()
    with at(workspace, "x/y/z.txt") as place, pytest.raises(Conflict) as caught:
        place.create(b"two")
    assert caught.value.code == "exists"
    assert (workspace.root / "x/y/z.txt").read_bytes() == b"one"


def test_finding_a_place_makes_nothing(workspace: Workspace) -> None:
    at(workspace, "x/y/z.txt").close()
    assert not list(workspace.root.iterdir())


def test_create_does_not_enter_a_symlink_put_in_its_way(
    workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    with at(workspace, "x/z.txt") as place:
        (workspace.root / "x").symlink_to(outside)
        with pytest.raises((Conflict, InvalidInput)):
            place.create(b"one")
    assert not list(outside.iterdir())


def test_create_at_a_dangling_symlink_makes_its_target(workspace: Workspace) -> None:
    (workspace.root / "link").symlink_to("target")
    with at(workspace, "link") as place:
        place.create(b"one")
    assert (workspace.root / "target").read_bytes() == b"one"


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
def test_replace_keeps_the_mode_and_leaves_nothing_behind(workspace: Workspace, mode: int) -> None:
    file = workspace.root / "a"
    file.write_bytes(b"old")
    file.chmod(mode)
    with at(workspace, "a") as place:
        place.replace(b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert [entry.name for entry in workspace.root.iterdir()] == ["a"]


def test_replace_through_a_symlink_updates_its_target(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"old")
    (workspace.root / "link").symlink_to("a")
    with at(workspace, "link") as place:
        place.replace(b"new")
    assert (workspace.root / "link").is_symlink()
    assert (workspace.root / "a").read_bytes() == b"new"


def test_replace_refuses_a_read_only_file_even_as_root(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"old")
    (workspace.root / "a").chmod(0o444)
    with at(workspace, "a") as place, pytest.raises(Forbidden) as caught:
        place.replace(b"new")
    assert caught.value.code == "read_only"


def test_failed_replace_leaves_the_old_file_alone(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace.root / "a").write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with at(workspace, "a") as place, monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(Exception, match="No space left"):
            place.replace(b"new")
    assert {file.name: file.read_bytes() for file in workspace.root.iterdir()} == {"a": b"old"}


def test_failed_create_leaves_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with at(workspace, "a") as place, monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(Exception, match="No space left"):
            place.create(b"new")
    assert not list(workspace.root.iterdir())


def test_unlink_removes_the_symlink_and_not_its_target(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"old")
    (workspace.root / "link").symlink_to("a")
    with at(workspace, "link", follow=False) as place:
        place.unlink()
    assert [file.name for file in workspace.root.iterdir()] == ["a"]


def test_folders_are_made_and_removed_only_when_empty(workspace: Workspace) -> None:
    with at(workspace, "x/y") as place:
        place.mkdir()
    with at(workspace, "x") as place:
        with pytest.raises(Conflict) as caught:
            place.rmdir()
        assert caught.value.code == "not_empty"
        with pytest.raises(InvalidInput):
            place.unlink()
    with at(workspace, "x/y") as place:
        place.rmdir()
    assert not (workspace.root / "x" / "y").exists()


def test_workspace_itself_is_not_removed(workspace: Workspace) -> None:
    with at(workspace, ".") as place, pytest.raises(Forbidden):
        place.rmdir()


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder"])
def test_what_is_no_file_is_refused_at_once(
    workspace: Workspace, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.root)  # socket paths must be short
    if kind == "fifo":
        os.mkfifo("thing")
    elif kind == "folder":
        Path("thing").mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("thing")
    with at(workspace, "thing") as place:
        for act in (place.read, lambda: place.replace(b"x")):
            with pytest.raises(InvalidInput) as caught:
                act()
            assert caught.value.code in ("not_a_file", "is_folder")


def test_device_reached_by_symlink_is_outside(workspace: Workspace) -> None:
    (workspace.root / "zero").symlink_to("/dev/zero")
    with pytest.raises(Forbidden):
        at(workspace, "zero")


def test_file_is_not_listed_as_a_folder(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"")
    with at(workspace, "a") as place, pytest.raises(InvalidInput, match="not a folder"):
        place.entries()


def test_file_swapped_for_a_symlink_is_not_followed(
    workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("outside") / "secret"
    secret.write_bytes(b"secret")
    (workspace.root / "a").write_bytes(b"old")
    with at(workspace, "a") as place:
        (workspace.root / "a").unlink()
        (workspace.root / "a").symlink_to(secret)
        with pytest.raises(Conflict):
            place.read()
        with pytest.raises(Conflict):
            place.replace(b"new")
    assert secret.read_bytes() == b"secret"


def test_missing_file_is_not_found(workspace: Workspace) -> None:
    for path in ("a", "a/b"):
        with at(workspace, path) as place, pytest.raises(NotFound):
            place.read()


def test_closing_twice_does_no_harm(workspace: Workspace) -> None:
    place = at(workspace, "a")
    place.close()
    place.close()
