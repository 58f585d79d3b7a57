"""Taking changes back, and leaving alone what is the user's."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cowork_jupyter.checkpoints import rollback
from cowork_jupyter.checkpoints.entries import Attributes, Change
from cowork_jupyter.checkpoints.no_follow_fs import NoFollowFs
from cowork_jupyter.checkpoints.objects import LARGE
from cowork_jupyter.checkpoints.rollback import BY_USER, ELSEWHERE, IN_BETWEEN, NOT_EMPTY, NOT_OURS
from cowork_jupyter.checkpoints.store import Checkpoint, CheckpointLimits

from .conftest import Site, run_as_nobody, why


def tree(root: Path) -> dict[str, object]:
    """All there is: content and rights of files, targets of links, rights of folders."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        mode = stat.S_IMODE(path.lstat().st_mode)
        if path.is_symlink():
            found[name] = str(path.readlink())
        else:
            found[name] = (path.read_bytes() if path.is_file() else None, mode)
    return found


def test_everything_a_command_did_is_undone(site: Site) -> None:
    site.write("changed.txt", "before", 0o640)
    site.write("mode.sh", "x", 0o644)
    site.write("deleted/deep/a.bin", os.urandom(LARGE + 3))
    site.write("renamed.txt", "name")
    site.write("Case.txt", "case")
    (site.root / "empty").mkdir(mode=0o750)
    (site.root / "link").symlink_to("changed.txt")
    site.write("file-to-folder", "file")
    site.write("folder-to-file/x", "x")
    before, was = site.scan(), tree(site.root)

    root = site.root
    site.write("changed.txt", "after", 0o600)
    (root / "mode.sh").chmod(0o755)
    (root / "deleted/deep/a.bin").unlink()
    (root / "deleted/deep").rmdir()
    (root / "deleted").rmdir()
    (root / "renamed.txt").rename(root / "other.txt")
    (root / "Case.txt").rename(root / "case.txt")
    (root / "empty").rmdir()
    (root / "link").unlink()
    (root / "link").symlink_to("elsewhere")
    (root / "file-to-folder").unlink()
    site.write("file-to-folder/inside", "x")
    (root / "folder-to-file/x").unlink()
    (root / "folder-to-file").rmdir()
    site.write("folder-to-file", "x")
    site.write("new/deep/file.txt", "new")
    site.record("cp", before)

    done = site.roll_back("cp")
    assert tree(root) == was
    assert done.skipped == []
    assert "changed.txt" in done.restored
    assert done.removed == [
        *("case.txt", "file-to-folder/inside", "new", "new/deep", "new/deep/file.txt"),
        "other.txt",
    ]


def test_a_tool_that_names_its_file_is_undone_with_the_folders_it_made(site: Site) -> None:
    with site.named("cp", ["a/b/c.txt"]):
        site.write("a/b/c.txt", "made")
    assert site.roll_back("cp").removed == ["a", "a/b", "a/b/c.txt"]
    assert tree(site.root) == {}


def test_files_in_left_out_folders_are_kept_when_a_tool_names_them(site: Site) -> None:
    site.write(".venv/lib/patched.py", "original")
    with site.named("cp", [".venv/lib/patched.py"]):
        site.write(".venv/lib/patched.py", "patched")
    site.roll_back("cp")
    assert (site.root / ".venv/lib/patched.py").read_text() == "original"


def test_git_is_not_touched_even_if_named(site: Site) -> None:
    site.write(".git/config", "theirs")
    with site.named("cp", [".git/config"]):
        site.write(".git/config", "changed")
    assert site.store.checkpoint("cp").changes == []


def test_what_the_user_changed_after_us_stays(site: Site) -> None:
    for name in ("edited", "deleted", "chmodded", "mine", "recreated"):
        site.write(name, "before", 0o644)
    (site.root / "recreated").unlink()
    before = site.scan()
    for name in ("edited", "deleted", "chmodded", "mine", "recreated"):
        site.write(name, "ours")
    site.record("cp", before)
    site.write("edited", "theirs")
    (site.root / "deleted").unlink()
    (site.root / "chmodded").chmod(0o600)
    site.write("recreated", "theirs")
    was = tree(site.root)
    done = site.roll_back("cp")
    assert done.restored == ["mine"]
    assert why(done.skipped) == dict.fromkeys(
        ("edited", "deleted", "chmodded", "recreated"), BY_USER
    )
    assert tree(site.root) == was | {"mine": (b"before", 0o644)}


def test_the_user_can_choose_to_overwrite(site: Site) -> None:
    site.write("a", "before")
    site.write("b", "before")
    before = site.scan()
    site.write("a", "ours")
    site.write("b", "ours")
    site.record("cp", before)
    site.write("a", "theirs")
    site.write("b", "theirs")
    assert [one.can_overwrite for one in site.plan("cp").skipped] == [True, True]
    done = site.roll_back("cp", overwrite=["a"])
    assert (done.restored, why(done.skipped)) == (["a"], {"b": BY_USER})
    assert (site.root / "a").read_text() == "before"
    assert site.content(done.changes[0].before.digest) == b"theirs"  # type: ignore[union-attr]


def test_files_that_we_did_not_record_are_never_removed(site: Site) -> None:
    before = site.scan()
    site.write("made/by-us.txt", "us")
    site.record("cp", before)
    site.write("made/by-user.txt", "user")
    done = site.roll_back("cp")
    assert done.removed == ["made/by-us.txt"]
    assert why(done.skipped) == {"made": NOT_EMPTY}
    assert (site.root / "made/by-user.txt").read_text() == "user"


def test_what_the_user_did_between_two_of_our_changes_is_not_lost(site: Site) -> None:
    site.write("a", "v1")
    with site.named("one", ["a"]):
        site.write("a", "v2")
    site.write("a", "v2 and the user's words")
    with site.named("two", ["a"]):
        site.write("a", "v3")
    done = site.roll_back("one", "two")
    assert why(done.skipped) == {"a": IN_BETWEEN}
    assert (site.root / "a").read_text() == "v3"
    assert site.roll_back("two").restored == ["a"]
    assert (site.root / "a").read_text() == "v2 and the user's words"


def test_a_later_change_of_ours_goes_with_it_and_is_said(site: Site) -> None:
    site.write("a", "v1")
    with site.named("one", ["a"]):
        site.write("a", "v2")
    with site.named("two", ["a"]):
        site.write("a", "v3")
    done = site.roll_back("one")
    assert (done.restored, done.also_later) == (["a"], ["a"])
    assert (site.root / "a").read_text() == "v1"


def test_what_another_conversation_changed_later_stays(site: Site) -> None:
    site.write("a", "v1")
    with site.named("one", ["a"], context="this"):
        site.write("a", "v2")
    with site.named("two", ["a"], context="that"):
        site.write("a", "v3")
    assert why(site.roll_back("one").skipped) == {"a": ELSEWHERE}
    assert (site.root / "a").read_text() == "v3"


def test_two_commands_at_the_same_time_may_both_have_seen_a_change(site: Site) -> None:
    site.write("a", "v1")
    first, second = site.scan(), site.scan()
    site.write("a", "v2")
    site.record("one", first)
    site.record("two", second)
    assert site.roll_back("one", "two").restored == ["a"]
    assert (site.root / "a").read_text() == "v1"


def test_only_some_paths(site: Site) -> None:
    before = site.scan()
    for name in ("a.txt", "d/b.txt", "d/c.txt", "data.txt"):
        site.write(name, "ours")
    site.record("cp", before)
    done = site.roll_back("cp", paths=["d", "nothing.txt"])
    assert done.removed == ["d", "d/b.txt", "d/c.txt"]
    assert why(done.skipped) == {"nothing.txt": NOT_OURS}
    assert sorted(tree(site.root)) == ["a.txt", "data.txt"]


def test_a_rollback_can_be_taken_back(site: Site) -> None:
    site.write("a", "v1")
    before = site.scan()
    site.write("a", "v2")
    site.write("new/b", "b")
    site.record("cp", before)
    was = tree(site.root)
    done = site.roll_back("cp")
    site.store.record(Checkpoint("ctx", changes=done.changes, id="undo"), site.root)
    assert site.roll_back("undo").skipped == []
    assert tree(site.root) == was


def test_what_was_not_kept_is_said_and_left(site: Site) -> None:
    site.store.limits = CheckpointLimits(file=LARGE)
    site.write("large.bin", bytes(LARGE + 1))
    before = site.scan()
    site.write("large.bin", "now small")
    site.record("cp", before)
    site.write("large.bin", "by the user")
    (skipped,) = site.roll_back("cp", overwrite=["large.bin"]).skipped
    assert skipped.path == "large.bin"
    assert "not kept" in skipped.why
    assert not skipped.can_overwrite  # it is the user's, too, but choosing would not help
    assert (site.root / "large.bin").read_text() == "by the user"


def test_what_could_not_be_brought_back_is_not_taken_away(site: Site) -> None:
    before = site.scan()
    site.write("large.bin", os.urandom(LARGE + 1))
    site.record("cp", before)
    site.state.limits = CheckpointLimits(total=0)
    site.store.database._connection.execute("DELETE FROM needs")
    site.store.database._connection.execute("DELETE FROM objects")
    (skipped,) = site.roll_back("cp").skipped
    assert "cannot be kept" in skipped.why
    assert (site.root / "large.bin").exists()


def test_a_folder_swapped_for_a_symlink_leads_nowhere(site: Site, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("precious")
    site.write("d/a.txt", "before")
    site.write("d/gone.txt", "before")
    before = site.scan()
    site.write("d/a.txt", "ours")
    (site.root / "d/gone.txt").unlink()
    site.write("d/new.txt", "ours")
    site.record("cp", before)
    (site.root / "d").rename(tmp_path / "moved")
    (site.root / "d").symlink_to(outside)
    (outside / "new.txt").write_text("ours")  # even where the content matches
    done = site.roll_back("cp", overwrite=["d/a.txt", "d/gone.txt", "d/new.txt"])
    assert done.restored == done.removed == []
    assert tree(outside) == {"a.txt": (b"precious", 0o644), "new.txt": (b"ours", 0o644)}


@pytest.mark.parametrize("moment", ["write", "remove"])
def test_a_swap_at_the_last_moment_leads_nowhere(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("a.txt", "b.txt"):
        (outside / name).write_text("precious")
    site.write("d/a.txt", "before")
    before = site.scan()
    site.write("d/a.txt", "ours")
    site.write("d/b.txt", "ours")
    site.record("cp", before)
    original = getattr(NoFollowFs, moment)

    def swapped(self: NoFollowFs, *arguments: object) -> None:
        if not (site.root / "d").is_symlink():
            (site.root / "d").rename(tmp_path / "moved")
            (site.root / "d").symlink_to(outside)
        original(self, *arguments)

    monkeypatch.setattr(NoFollowFs, moment, swapped)
    done = site.roll_back("cp")
    assert done.skipped
    assert tree(outside) == dict.fromkeys(("a.txt", "b.txt"), (b"precious", 0o644))


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/x", "", ".", "a//b"])
def test_a_path_that_leads_out_is_nowhere(site: Site, path: str) -> None:
    assert site.state.fs.stat(path) is None
    with pytest.raises(FileNotFoundError):
        site.state.fs.write(path, 0o600, [b"x"])


def test_a_file_saved_at_the_last_moment_stays(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.write("a", "before")
    before = site.scan()
    site.write("a", "ours")
    site.record("cp", before)
    plan = site.plan("cp")
    site.write("a", "saved just now")
    rollback.carry_out(site.state, plan.changes, plan)
    assert (plan.restored, list(why(plan.skipped))) == ([], ["a"])
    assert (site.root / "a").read_text() == "saved just now"


def test_damaged_content_is_not_restored(site: Site) -> None:
    large = os.urandom(LARGE)
    site.write("a.bin", large)
    before = site.scan()
    site.write("a.bin", "ours")
    (change,) = site.record("cp", before)
    assert change.before
    assert change.before.digest
    place = site.store.objects.path_of(change.before.digest)
    place.chmod(0o600)
    place.write_bytes(bytes(LARGE))
    (skipped,) = site.roll_back("cp").skipped
    assert "damaged" in skipped.why
    assert tree(site.root) == {"a.bin": (b"ours", 0o644)}


def test_a_filesystem_that_does_not_tell_letters_apart(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS: the file is found under either spelling, but listed under one."""
    site.write("Name.txt", "v1")
    before = site.scan()
    (site.root / "Name.txt").rename(site.root / "name.TXT")
    site.record("cp", before)
    look = os.stat

    def either(path: object, **options: object) -> os.stat_result:
        try:
            return look(path, **options)  # type: ignore[arg-type]
        except FileNotFoundError:
            if isinstance(path, str) and path.lower() == "name.txt":
                return look("name.TXT", **options)  # type: ignore[arg-type]
            raise

    monkeypatch.setattr(os, "stat", either)
    plan = site.plan("cp")
    monkeypatch.undo()
    rollback.carry_out(site.state, plan.changes, plan)
    assert tree(site.root) == {"Name.txt": (b"v1", 0o644)}


NO_PERMISSION = """
site.write("closed/a.txt", "before")
site.write("open/b.txt", "before")
before = site.scan()
site.write("closed/a.txt", "ours")
site.write("open/b.txt", "ours")
site.record("cp", before)
(site.root / "closed").chmod(0o500)
done = site.roll_back("cp")
(site.root / "closed").chmod(0o700)
assert done.restored == ["open/b.txt"], done
assert "closed/a.txt" in why(done.skipped), done.skipped
assert (site.root / "closed/a.txt").read_text() == "ours"
assert (site.root / "open/b.txt").read_text() == "before"
assert sorted(one.name for one in (site.root / "closed").iterdir()) == ["a.txt"]
"""


@pytest.mark.process
def test_what_may_not_be_written_is_skipped_and_the_rest_restored(nobodys: Path) -> None:
    run_as_nobody(NO_PERMISSION, nobodys)


@pytest.mark.process
def test_a_read_only_folder_comes_back_with_what_was_in_it(nobodys: Path) -> None:
    code = """
site.write("d/a.txt", "x")
(site.root / "d").chmod(0o500)
before = site.scan()
(site.root / "d").chmod(0o700)
(site.root / "d/a.txt").unlink()
(site.root / "d").rmdir()
site.record("cp", before)
done = site.roll_back("cp")
assert not done.skipped, done
assert (site.root / "d/a.txt").read_text() == "x"
assert (site.root / "d").stat().st_mode & 0o777 == 0o500
"""
    run_as_nobody(code, nobodys)


def test_a_full_disk_leaves_each_file_old_or_new(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        site.write(name, "before")
    before = site.scan()
    for name in ("a", "b", "c"):
        site.write(name, "ours")
    site.record("cp", before)
    write = NoFollowFs.write

    def full(
        self: NoFollowFs, path: str, mode: int, chunks: object, attributes: Attributes
    ) -> None:
        def breaking() -> object:
            yield b"bef"
            raise OSError(28, "No space left on device")

        content = breaking() if path == "b" else chunks
        write(self, path, mode, content, attributes)  # type: ignore[arg-type]

    monkeypatch.setattr(NoFollowFs, "write", full)
    done = site.roll_back("cp")
    assert done.restored == ["a", "c"]
    assert "No space left" in why(done.skipped)["b"]
    contents = {path.name: path.read_text() for path in site.root.iterdir()}
    assert contents == {"a": "before", "b": "ours", "c": "before"}


def test_names_that_are_not_utf8_are_restored(site: Site) -> None:
    name = os.fsdecode(b"\xff\xfe.csv")
    site.write(name, "before")
    before = site.scan()
    (site.root / name).unlink()
    site.record("cp", before)
    site.reopen()
    assert isinstance(site.store.checkpoint("cp").changes[0], Change)
    site.roll_back("cp", paths=["��.csv"])
    assert (site.root / name).read_text() == "before"
