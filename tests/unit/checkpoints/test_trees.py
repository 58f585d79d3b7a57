"""What is not kept file by file is taken back as a whole, if a tool made it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from cowork_jupyter.checkpoints.entries import Change, changes_from_bytes, changes_to_bytes
from cowork_jupyter.checkpoints.no_follow_fs import NOT_KEPT, OTHER_DISK, KeptTrees
from cowork_jupyter.checkpoints.rollback import BY_USER, NOT_EMPTY
from cowork_jupyter.checkpoints.store import Checkpoint
from cowork_jupyter.workspace.sandbox import set_aside

from .conftest import Site, why
from .test_rollback import tree

MADE = ("node_modules/x/index.js", ".venv/bin/python", "pkg/.tox/a", "pkg/__pycache__/m.pyc")


@pytest.fixture
def made(site: Site) -> Site:
    """A command has made folders that no checkpoint keeps, and one file."""
    site.write("pkg/m.py", "x = 1\n")
    before = site.scan()
    for path in MADE:
        site.write(path, "made")
    site.write("env/pyvenv.cfg", "home = x\n")
    site.write("new/node_modules/y", "made")
    site.write("plain.txt", "made")
    os.mkfifo(site.root / "pipe")
    site.record("cp", before)
    return site


def test_all_that_a_command_made_is_taken_back_and_comes_again(made: Site) -> None:
    after = tree(made.root)
    taken = made.roll_back("cp")
    assert tree(made.root).keys() == {"pkg", "pkg/m.py"}
    assert taken.skipped == []
    trees = [".venv", "env", "new/node_modules", "node_modules", "pipe"]
    assert [*trees, "pkg/.tox", "pkg/__pycache__"] == sorted(
        change.path for change in taken.changes if change.before and change.before.kind == "tree"
    )
    record_rollback(made, taken.changes)
    assert made.roll_back("back").skipped == []
    assert tree(made.root) == after
    assert made.roll_back("cp").skipped == []  # and once more


def record_rollback(site: Site, changes: list[Change]) -> None:
    site.store.record(Checkpoint("ctx", changes=changes, id="back"), site.root)


def test_what_was_there_before_stays(site: Site) -> None:
    for path in (*MADE, "env/pyvenv.cfg"):
        site.write(path, "mine")
    before = site.scan()
    for path in (".venv/new", "env/new", "pkg/__pycache__/new"):
        site.write(path, "made")
    site.write("pkg/pyvenv.cfg", "made")
    assert site.record("cp", before) == []


def test_what_a_command_has_moved_is_not_what_it_made(site: Site) -> None:
    site.write(".venv/bin/python", "mine")
    site.write("data/a.csv", "mine")
    time.sleep(1.1)  # when a scan was is known by the second
    site.scan()
    site.store.record(Checkpoint("ctx", id="cp"), site.root, "scan", site.state.id)
    (site.root / ".venv").rename(site.root / "node_modules")
    (site.root / "data").rename(site.root / ".tox")
    site.scan()
    site.store.mark_finished("cp")
    assert site.roll_back("cp").restored == ["data", "data/a.csv"]
    assert (site.root / "node_modules/bin/python").read_text() == "mine"


def test_what_the_user_has_changed_since_is_asked_about(made: Site) -> None:
    made.worked_until = time.time_ns()
    time.sleep(0.02)
    made.write("node_modules/x/mine.js", "mine")
    (made.root / ".venv/bin/python").unlink()
    kept = made.roll_back("cp")
    assert why(kept.skipped) == {".venv": BY_USER, "node_modules": BY_USER}
    assert all(each.can_overwrite for each in kept.skipped)
    assert (made.root / "node_modules/x/mine.js").read_text() == "mine"
    made.roll_back("cp", overwrite=["node_modules"])
    assert not (made.root / "node_modules").exists()


def test_another_of_the_same_name_stays(made: Site) -> None:
    shutil.rmtree(made.root / ".venv")
    made.write(".venv/bin/python", "mine")
    taken = made.roll_back("cp", overwrite=[".venv"])
    assert why(taken.skipped) == {".venv": NOT_EMPTY}
    assert (made.root / ".venv/bin/python").read_text() == "mine"


def test_what_cannot_be_moved_stays(made: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    other = next(
        folder
        for folder in (Path("/dev/shm"), Path("/var/tmp"))
        if folder.stat().st_dev != made.root.stat().st_dev
    )
    monkeypatch.setattr(made.state, "trees", KeptTrees(other / f"cowork-{os.getpid()}"))
    taken = made.roll_back("cp")
    assert why(taken.skipped)[".venv"] == f"the system refuses: {OTHER_DISK}"
    assert (made.root / ".venv/bin/python").exists()
    assert not (made.root / "plain.txt").exists()
    shutil.rmtree(other / f"cowork-{os.getpid()}")


def test_it_is_kept_for_a_month(made: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = made.roll_back("cp")
    record_rollback(made, taken.changes)
    monkeypatch.setattr(set_aside, "_LASTS", -1)
    set_aside.forget_old(made.state.trees._folder)
    again = made.roll_back("back")
    assert set(why(again.skipped).values()) == {NOT_KEPT}
    assert again.restored == ["new", "plain.txt"]


def test_it_survives_the_store(made: Site) -> None:
    changes = made.store.checkpoint("cp").changes
    assert changes_from_bytes(changes_to_bytes(changes)) == changes
    made.reopen()
    found = made.scan().trees()
    assert {".venv", "env", "node_modules"} <= found.keys()
    made.reopen()
    assert made.scan().trees() == found
    assert made.roll_back("cp").skipped == []
