"""The mounts of a command, and the command line for bubblewrap; tests/security tries both."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.workspace.sandbox.confine import Bind
from cowork_jupyter.workspace.sandbox.path_access import find_path_access
from cowork_jupyter.workspace.sandbox.scratch import Scratch
from cowork_jupyter.workspace.sandbox.view import bwrap_command, mounts, read_only_mounts

pytestmark = pytest.mark.process


def line(tmp_path: Path, *binds: Bind, network: bool = True) -> str:
    arguments = bwrap_command(
        "/usr/bin/bwrap",
        ["bash", "-c", "ls -l"],
        binds=binds,
        empty=[str(tmp_path), "/not/here"],
        folder="/ws/sub",
        network=network,
    )
    return " ".join(arguments)


def test_everything_is_read_only_and_nothing_is_shared(tmp_path: Path) -> None:
    made = line(tmp_path)
    assert made.startswith("/usr/bin/bwrap --die-with-parent --unshare-all --cap-drop ALL")
    assert "--ro-bind / /" in made
    assert made.endswith("--chdir /ws/sub -- bash -c ls -l")
    assert f"--tmpfs {tmp_path}" in made
    assert "/not/here" not in made


def test_the_network_is_shared_only_if_allowed(tmp_path: Path) -> None:
    assert "--share-net" in line(tmp_path, network=True)
    assert "--share-net" not in line(tmp_path, network=False)


def test_binds_follow_in_order_and_missing_ones_are_left_out(tmp_path: Path) -> None:
    made = line(
        tmp_path,
        Bind("/a", "/ws", writable=True),
        Bind("/b", str(tmp_path), optional=True),
        Bind("/c", "/not/here", optional=True),
    )
    assert f"--bind /a /ws --ro-bind /b {tmp_path} --chdir" in made


def test_the_workspace_is_writable_only_for_those_who_may(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    (root / "data").mkdir(parents=True)
    scratch = Scratch()
    places = find_path_access(str(root), ["/nobody"], [str(root / "data")], [])
    for may_write in (True, False):
        found = {bind.target: bind for bind in mounts(may_write, places, scratch)}
        assert found[str(root)].writable is may_write
        assert found["/tmp"].writable
        assert found[str(root / "data")].source == str(scratch.empty)
        order = list(found)
        assert order.index("/tmp") < order.index(str(root)) < order.index(str(root / "data"))
    scratch.close()


def test_start_up_files_are_read_only_and_the_repository_stays(
    tmp_path: Path,
) -> None:
    for name in (".git/hooks", ".jupyter/x", "sub/.git/hooks"):
        (tmp_path / name).mkdir(parents=True)
    names = (".git/hooks", ".jupyter", ".jupyter/x", "sub/.git/hooks", ".envrc")
    found = read_only_mounts([f"{tmp_path}/{name}" for name in names], str(tmp_path), ())
    assert [(bind.target.removeprefix(f"{tmp_path}/"), bind.writable) for bind in found] == [
        (".git", True),
        (".git/hooks", False),
        (".jupyter", False),
        ("sub/.git/hooks", False),
    ]
