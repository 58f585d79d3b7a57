"""A scan sees every file, keeps what is new, and reads nothing twice without need."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from cowork_jupyter.checkpoints import entries
from cowork_jupyter.checkpoints import workspace_state as scanning
from cowork_jupyter.checkpoints.objects import LARGE, Batch, Objects
from cowork_jupyter.checkpoints.store import CheckpointLimits
from cowork_jupyter.checkpoints.workspace_state import Exclusions

from .conftest import Site, run_as_nobody, why


@pytest.fixture
def believing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the files had been there for long: their times are believed at once."""
    monkeypatch.setattr(scanning, "RACY_NS", -(10**18))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The contents that were read."""
    found: list[bytes] = []
    add = Batch.add

    def counted(self: Batch, content: bytes) -> bytes:
        found.append(content)
        return add(self, content)

    monkeypatch.setattr(Batch, "add", counted)
    return found


def test_what_changed_is_seen(site: Site) -> None:
    site.write("stays.txt", "same")
    site.write("a/changes.txt", "one")
    site.write("a/goes.txt", "bye")
    before = site.scan()
    site.write("a/changes.txt", "two")
    site.write("b/new.txt", "hello")
    (site.root / "a/goes.txt").unlink()
    assert site.changes(before) == {
        "a/changes.txt": "changed",
        "a/goes.txt": "removed",
        "b": "added",
        "b/new.txt": "added",
    }


def test_contents_are_kept(site: Site) -> None:
    large = os.urandom(LARGE + 7)
    site.write("small.txt", "small")
    site.write("large.bin", large)
    site.write("empty")
    entries = site.scan().folders[""].entries()
    assert site.content(entries["small.txt"].digest) == b"small"
    assert site.content(entries["large.bin"].digest) == large
    assert site.content(entries["empty"].digest) == b""


@pytest.mark.usefixtures("believing")
def test_unchanged_files_are_not_read_again_also_by_another_process(
    site: Site, reads: list[bytes]
) -> None:
    site.write("a/b.txt", "once")
    before = site.scan()
    assert reads == [b"once"]
    again = site.scan()
    assert again.folders["a"] is before.folders["a"]
    site.reopen()
    assert site.changes(before) == {}
    assert reads == [b"once"]


def test_a_file_whose_times_are_too_young_is_read_again(site: Site, reads: list[bytes]) -> None:
    site.write("a.txt", "v1")
    before = site.scan()
    facts = (site.root / "a.txt").stat()
    # Same size, same times: only reading it can tell. (As when both happen in one tick.)
    (site.root / "a.txt").write_text("v2")
    os.utime(site.root / "a.txt", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert site.changes(before) == {"a.txt": "changed"}
    assert reads == [b"v1", b"v2"]


@pytest.mark.usefixtures("believing")
def test_one_changed_file_is_the_only_one_read(site: Site, reads: list[bytes]) -> None:
    for number in range(20):
        site.write(f"d/{number}.txt", f"file {number}")
    before = site.scan()
    reads.clear()
    site.write("d/7.txt", "other words")
    assert site.changes(before) == {"d/7.txt": "changed"}
    assert reads == [b"other words"]


def test_a_change_of_rights_is_a_change(site: Site) -> None:
    site.write("run.sh", "echo", 0o644)
    before = site.scan()
    (site.root / "run.sh").chmod(0o755)
    assert site.changes(before) == {"run.sh": "changed"}


def test_symlinks_are_kept_as_such_and_never_followed(site: Site, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_text("outside")
    (site.root / "out").symlink_to(tmp_path / "secret")
    (site.root / "loop").symlink_to("loop")
    (site.root / "self").symlink_to(".")
    found = site.scan()
    assert set(found.folders) == {""}
    targets = {name: one.target for name, one in found.folders[""].entries().items()}
    assert targets == {"out": str(tmp_path / "secret"), "loop": "loop", "self": "."}


def test_empty_folders_are_seen(site: Site) -> None:
    (site.root / "empty").mkdir()
    before = site.scan()
    (site.root / "empty").rmdir()
    (site.root / "other").mkdir()
    assert site.changes(before) == {"empty": "removed", "other": "added"}


def test_pipes_sockets_and_devices_are_named_and_not_waited_for(site: Site) -> None:
    os.mkfifo(site.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(site.root / "socket"))
        found = site.scan()
    assert why(found.uncovered()) == {
        "pipe": "a pipe, socket or device",
        "socket": "a pipe, socket or device",
    }


def test_names_that_are_not_utf8_are_kept(site: Site) -> None:
    name = os.fsdecode(b"caf\xe9\xff.txt")
    site.write(name, b"content")
    before = site.scan()
    site.reopen()
    assert site.changes(before) == {}
    (site.root / name).unlink()
    assert site.changes(before) == {name: "removed"}


def test_git_is_never_looked_into(site: Site) -> None:
    for folder in (".git", "nested/.git"):
        site.write(f"{folder}/config", "[core]")
    site.write("worktree/.git", "gitdir: /elsewhere")
    site.write("nested/code.py", "1")
    before = site.scan()
    assert set(before.folders) == {"", "nested", "worktree"}
    site.write(".git/config", "[core] changed")
    site.write("worktree/.git", "gitdir: /other")
    assert site.changes(before) == {}
    assert set(why(before.uncovered())) == {".git", "nested/.git", "worktree/.git"}


def test_the_list_of_what_is_left_out_can_be_edited(site: Site) -> None:
    site.write("node_modules/x.js", "x")
    site.write("data/raw/big.tmp", "x")
    site.write("data/keep.csv", "x")
    assert "node_modules" not in site.scan().folders
    site.reopen(Exclusions(["data/raw/", "*.csv"]))
    found = site.scan()
    assert set(found.folders) == {"", "node_modules", "data"}
    assert set(why(found.uncovered())) == {"data/raw", "data/keep.csv"}


def test_environments_are_known_whatever_they_are_called(site: Site) -> None:
    site.write("my-env/pyvenv.cfg", "home = /usr")
    site.write("my-env/lib/x.py", "x")
    site.write("conda/conda-meta/history", "x")
    found = site.scan()
    assert set(found.folders) == {"", "my-env", "conda"}
    assert set(why(found.uncovered())) == {"my-env/", "conda/"}
    assert found.folders["my-env"].files == {}


def test_where_we_keep_our_own_records_is_left_out(site: Site) -> None:
    site.write("home/.local/cowork/db", "x")
    site.write("home/file", "x")
    site.reopen(Exclusions([], [site.root / "home/.local/cowork"]))
    assert set(site.scan().folders) == {"", "home", "home/.local"}


def test_files_beyond_the_limit_are_named_before_anything_runs(site: Site) -> None:
    site.store.limits = CheckpointLimits(file=LARGE + 10)
    site.write("fits.bin", bytes(LARGE + 10))
    site.write("too-large.bin", bytes(LARGE + 11))
    found = site.scan()
    assert list(why(found.uncovered())) == ["too-large.bin"]
    assert "checkpoint_file_limit" in why(found.uncovered())["too-large.bin"]
    assert found.folders[""].entries()["too-large.bin"].digest is None
    before = found
    (site.root / "too-large.bin").write_bytes(bytes(LARGE + 12))
    assert site.changes(before) == {"too-large.bin": "changed"}


def test_when_room_is_short_the_small_files_come_first(site: Site) -> None:
    used = site.store.objects.used()
    site.store.limits = CheckpointLimits(total=used + 3 * LARGE + 500_000, reserve=0)
    site.write("z-small.bin", os.urandom(LARGE))
    site.write("a-huge.bin", os.urandom(3 * LARGE))
    found = site.scan()
    assert list(why(found.uncovered())) == ["a-huge.bin"]
    site.store.limits = CheckpointLimits(reserve=0)
    assert site.scan().uncovered() == []


def test_files_that_vanish_during_the_scan_do_no_harm(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        site.write(f"d/{name}", name)
        site.write(f"e/{name}", name)
    listed = scanning.Scan._list

    def vanishing(
        self: scanning.Scan, descriptor: int, path: str, found: object
    ) -> dict[str, bool]:
        names = listed(self, descriptor, path, found)  # type: ignore[arg-type]
        if path == "d":
            (site.root / "d/b").unlink()
        if path == "":
            for one in (site.root / "e").iterdir():
                one.unlink()
            (site.root / "e").rmdir()
        return names

    monkeypatch.setattr(scanning.Scan, "_list", vanishing)
    found = site.scan()
    assert sorted(found.folders["d"].files) == ["a", "c"]
    assert "e" not in found.folders


def test_a_folder_swapped_for_a_symlink_is_not_entered(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.write("d/inside", "inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    listed = scanning.Scan._list

    def swapping(self: scanning.Scan, descriptor: int, path: str, found: object) -> dict[str, bool]:
        names = listed(self, descriptor, path, found)  # type: ignore[arg-type]
        if path == "":
            (site.root / "d").rename(tmp_path / "moved")
            (site.root / "d").symlink_to(tmp_path / "outside")
        return names

    monkeypatch.setattr(scanning.Scan, "_list", swapping)
    assert set(site.scan().folders) == {""}


UNREADABLE = """
before = site.scan()
assert why(before.uncovered()) == {"closed/": "cannot be read", "secret.txt": "cannot be read"}, (
    before.uncovered())
assert "open" in before.folders
(site.root / "open").chmod(0)
assert site.changes(before) == {}, site.changes(before)
(site.root / "open").chmod(0o700)
"""


@pytest.mark.process
def test_what_may_not_be_read_is_named_and_does_not_count_as_gone(nobodys: Path) -> None:
    root = nobodys / "workspace"
    for path in ("open/a.txt", "closed/b.txt", "secret.txt"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    for path in ("closed", "secret.txt"):
        (root / path).chmod(0)
    run_as_nobody(UNREADABLE, nobodys)


@pytest.mark.usefixtures("believing")
def test_inodes_beyond_what_is_signed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = entries.stat_key

    def huge(facts: os.stat_result) -> tuple[int, ...]:
        return 2**64 - 1, 2**63 + 5, *numbers(facts)[2:]

    monkeypatch.setattr(entries, "stat_key", huge)
    site.write("a.txt", "a")
    before = site.scan()
    assert site.changes(before) == {}
    assert site.scan().folders[""] is before.folders[""]  # it is known again


def test_a_file_that_grows_while_it_is_read_is_looked_at_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = site.write("large.log", bytes(LARGE))
    add = Objects.add_file

    def growing(self: Objects, source: int) -> tuple[bytes, int]:
        result = add(self, source)
        with path.open("ab") as file:
            file.write(b"more")
        return result

    monkeypatch.setattr(scanning, "RACY_NS", -(10**18))
    monkeypatch.setattr(Objects, "add_file", growing)
    before = site.scan()
    monkeypatch.setattr(Objects, "add_file", add)
    assert site.changes(before) == {"large.log": "changed"}
