"""kill -9, a full disk and other processes: the store stays readable, the workspace untouched."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cowork_jupyter.checkpoints.objects import LARGE, Damaged, Objects
from cowork_jupyter.checkpoints.store import CheckpointLimits, CheckpointStore, sweep, tidy, verify

from .conftest import Site
from .test_rollback import tree

pytestmark = pytest.mark.process


def run_where_processes_die(scenario: str, folder: Path) -> None:
    """In a process of its own, because it forks once for each boundary."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-m", "tests.unit.checkpoints.dying", scenario, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20  # so many places to die at


@pytest.mark.slow
def test_killed_while_scanning(tmp_path: Path) -> None:
    run_where_processes_die("scan", tmp_path)


@pytest.mark.slow
def test_killed_while_rolling_back(tmp_path: Path) -> None:
    run_where_processes_die("rollback", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["file tool", "command"])
def test_killed_while_a_tool_runs_or_right_before_or_after(tmp_path: Path, tool: str) -> None:
    run_where_processes_die(tool, tmp_path)


def test_a_full_disk_while_scanning(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.write("small.txt", "x")
    site.write("large.bin", os.urandom(LARGE))
    was = tree(site.root)

    def full(*_: object) -> tuple[bytes, int]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cowork_jupyter.checkpoints.objects._copy", full)
    monkeypatch.setattr("cowork_jupyter.checkpoints.objects._clone", lambda *_: None)
    found = site.scan()
    assert [one.path for one in found.uncovered()] == ["large.bin"]
    assert "No space left" in found.uncovered()[0].why
    assert tree(site.root) == was
    assert list((site.folder / "store/incoming").iterdir()) == []
    monkeypatch.undo()
    assert site.scan().uncovered() == []


def test_a_full_disk_under_the_index(site: Site) -> None:
    site.write("a.txt", "kept")
    before = site.scan()
    connection = site.store.database._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}")
    for number in range(40):
        site.write(f"{number}.bin", os.urandom(LARGE - 1))
    with pytest.raises(sqlite3.OperationalError, match="full"):
        site.scan()
    connection.execute("PRAGMA max_page_count=1000000")
    assert verify(site.store).problems == []
    assert len(before.changes_until(site.scan())) == 40


def with_a_small_disk_at(place: Path) -> list[str]:
    """How to run something that has one to itself; empty where that is not allowed."""
    mount = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(place)]
    if shutil.which("unshare") is None:
        return []
    tried = subprocess.run([*command, "true"], check=False, capture_output=True)
    return [] if tried.returncode else command


@pytest.mark.parametrize("real", [True, False])
def test_a_disk_that_is_full(tmp_path: Path, real: bool) -> None:
    """A real one where one can be made, and in any case one that pretends to be."""
    places = [tmp_path / "small", tmp_path / "workspace"]
    for place in places:
        place.mkdir()
    mounted = with_a_small_disk_at(places[0]) if real else []
    command = [sys.executable, "-m", "tests.unit.checkpoints.full_disk", *map(str, places)]
    done = subprocess.run(
        [*mounted, *command] if mounted else [*command, "pretend"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "full" in done.stdout
    assert bool(list(places[0].iterdir())) != bool(mounted)  # who mounts leaves nothing behind


# Sweeping


def objects_in(site: Site) -> int:
    return int(verify(site.store).contents)


def test_contents_go_with_the_last_conversation_that_needs_them(site: Site) -> None:
    site.write("shared.txt", "shared")
    for context in ("one", "two"):
        with site.named(context, ["shared.txt", f"{context}.txt"], context):
            site.write(f"{context}.txt", context)
            site.write("shared.txt", f"shared {'changed' * 3}")
        site.write("shared.txt", "shared")
    site.store.forget_context("one")
    sweep(site.store, grace=-1)
    with pytest.raises(Exception, match="no longer kept"):
        site.store.checkpoint("one")
    assert objects_in(site) == 3  # two's own, and both of the shared file
    site.store.forget_context("two")
    sweep(site.store, grace=-1)
    assert objects_in(site) == 0


def test_what_the_workspace_holds_now_is_never_swept(site: Site) -> None:
    site.write("a.txt", "a")
    site.write("large.bin", os.urandom(LARGE))
    before = site.scan()
    sweep(site.store, grace=-1)
    entries = before.folders[""].entries()
    assert site.content(entries["a.txt"].digest) == b"a"
    assert len(site.content(entries["large.bin"].digest)) == LARGE


def test_what_a_running_command_began_with_is_not_swept_under_it(site: Site) -> None:
    site.write("a.txt", "before")
    before = site.scan()
    other = CheckpointStore(site.folder / "store")
    site.write("a.txt", "after")
    site.scan()  # the state has let go of the old content, the checkpoint is not stored yet
    sweep(other)
    site.record("cp", before)
    other.close()
    site.roll_back("cp")
    assert (site.root / "a.txt").read_text() == "before"


def test_past_the_limit_the_oldest_go(site: Site) -> None:
    for number in range(8):
        with site.named(f"cp{number}", ["data.bin"]):
            site.write("data.bin", os.urandom(LARGE))
    site.store.database._connection.execute("UPDATE objects SET seen=0")
    used = site.store.objects.used()
    site.store.limits = CheckpointLimits(total=used - 3 * LARGE)
    dropped = tidy(site.store)
    assert dropped == [f"cp{number}" for number in range(len(dropped))]
    assert 0 < len(dropped) < 8
    assert site.store.objects.used() <= site.store.limits.total
    assert verify(site.store).problems == []
    assert site.roll_back("cp7").restored == ["data.bin"]


def test_room_is_given_back_to_the_disk(site: Site) -> None:
    for number in range(20):
        with site.named(f"cp{number}", ["a.bin"]):
            site.write("a.bin", os.urandom(LARGE - 1))
    database = site.folder / "store/checkpoints.sqlite"
    site.store.database.truncate_log()
    was = database.stat().st_size
    site.store.forget_context("ctx")
    sweep(site.store, grace=-1)
    assert database.stat().st_size < was / 4


def test_a_pack_that_is_half_empty_is_written_anew(site: Site) -> None:
    with site.store.objects.batch() as batch:
        kept = batch.add(b"kept" * 1000)
        for number in range(50):
            batch.add(str(number).encode() * 5000)
    with site.store.database.transaction() as connection:
        connection.execute(
            "INSERT INTO checkpoints VALUES (1, 'cp', 'ctx', NULL, NULL, '', x'', 0, 0)"
        )
        connection.execute("INSERT INTO needs VALUES (1, ?)", (kept,))
    sweep(site.store, grace=-1)
    assert site.content(kept) == b"kept" * 1000
    with site.store.database.reading() as connection:
        ((length,),) = connection.execute("SELECT length(content) FROM packs").fetchall()
    assert length == 4000


def test_files_left_behind_are_swept_but_not_those_on_their_way_in(site: Site) -> None:
    stray = site.folder / "store/large/ab"
    stray.mkdir()
    (stray / ("0" * 62)).write_bytes(b"left by a kill -9")
    fresh, old = site.folder / "store/incoming/fresh", site.folder / "store/incoming/old"
    fresh.write_bytes(b"x")
    old.write_bytes(b"x")
    os.utime(old, (0, 0))
    sweep(site.store)
    assert list(stray.iterdir()) == []
    assert fresh.exists()
    assert not old.exists()


def test_a_checkpoint_of_contents_that_are_gone_is_refused(site: Site) -> None:
    site.write("a.txt", "a")
    before = site.scan()
    site.write("a.txt", "b")
    site.scan()
    sweep(site.store, grace=-1)
    with pytest.raises(Damaged):
        site.record("cp", before)
    assert site.history() == []


def test_verify_tells_what_is_damaged(site: Site) -> None:
    site.write("a.bin", os.urandom(LARGE))
    site.write("b.txt", "b")
    site.scan()
    assert verify(site.store).problems == []
    (large,) = (site.folder / "store/large").rglob("*/*")
    large.write_bytes(b"other")
    (problem,) = verify(site.store).problems
    assert problem.startswith("1 of 2 file contents are damaged")
    large.unlink()
    assert verify(site.store).problems == [problem]


def test_two_stores_at_once(site: Site) -> None:
    """Two processes have the same folder open; here two stores in two threads."""
    for number in range(200):
        site.write(f"{number % 7}/{number}.txt", f"file {number}")
    other = Site(site.folder)
    failures: list[BaseException] = []

    def work(one: Site) -> None:
        try:
            for turn in range(5):
                before = one.scan()
                one.write(f"turn{turn}.txt", os.urandom(100))
                one.record(f"{id(one)}-{turn}", before)
                sweep(one.store)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(one,)) for one in (site, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert verify(site.store).problems == []
    assert len(site.history()) == 10
    other.store.close()


def test_reflinks_are_used_where_the_filesystem_can(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cloning(target: int, request: int, source: int) -> int:
        assert request == 0x40049409
        with os.fdopen(os.dup(source), "rb") as one, os.fdopen(os.dup(target), "wb") as two:
            shutil.copyfileobj(one, two)
        return 0

    def no_copy(*_: object) -> tuple[bytes, int]:
        raise AssertionError("it was copied")

    monkeypatch.setattr("fcntl.ioctl", cloning)
    monkeypatch.setattr("cowork_jupyter.checkpoints.objects._copy", no_copy)
    content = os.urandom(LARGE)
    site.write("a.bin", content)
    assert site.content(site.scan().folders[""].entries()["a.bin"].digest) == content
    assert isinstance(site.store.objects, Objects)


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.store.database._connection.execute("PRAGMA user_version=99")
    site.store.close()
    with pytest.raises(Exception, match="newer cowork_jupyter"):
        site.open()


def test_the_store_is_for_its_owner_only(site: Site) -> None:
    site.write("large.bin", os.urandom(LARGE))
    site.scan()
    for path in (site.folder / "store").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
